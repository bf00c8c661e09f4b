//! Unstructured meshes of tetrahedra, pyramids, prisms and hexahedra, by faces.
//!
//! Faces come first interior, then boundary, patch by patch. A face's points run so that
//! its normal (right-hand rule) leaves the owner; an interior face's owner has the smaller
//! cell number. A periodic pair is one interior face (see [`Mesh::shift`]).

use std::ops::Range;

/// Shape of a cell; the number of points is fixed by it (Gmsh and VTK share this order of
/// points for these four shapes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellKind {
    /// Four points.
    Tetrahedron,
    /// Five points: the quadrilateral base, then the apex.
    Pyramid,
    /// Six points: one triangle, then the opposite one.
    Prism,
    /// Eight points: one quadrilateral, then the opposite one.
    Hexahedron,
}

/// A named set of boundary faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// Name of the physical group.
    pub name: String,
    /// Its faces, a contiguous range of face numbers.
    pub faces: Range<usize>,
}

/// A mesh with its connectivity; geometry is in [`geometry`](crate::mesh::geometry).
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// Coordinates of the points, in metres.
    pub points: Vec<[f64; 3]>,
    /// Shape of each cell.
    pub kinds: Vec<CellKind>,
    /// Points of cell `c`: `cell_points[cell_ptr[c]..cell_ptr[c + 1]]`.
    pub cell_ptr: Vec<usize>,
    /// See `cell_ptr`.
    pub cell_points: Vec<u32>,
    /// Points of face `f`: `face_points[face_ptr[f]..face_ptr[f + 1]]`, three or four.
    pub face_ptr: Vec<usize>,
    /// See `face_ptr`.
    pub face_points: Vec<u32>,
    /// Cell on the side that the normal leaves; one per face.
    pub owner: Vec<u32>,
    /// Cell on the other side; one per interior face, so its length is their number.
    pub neighbour: Vec<u32>,
    /// Boundary patches; their ranges follow each other from `neighbour.len()` to the end.
    pub patches: Vec<Patch>,
    /// Per interior face, what to add to a position near the neighbour to see it from the
    /// owner: zero but for periodic pairs. Empty when the mesh has no periodic pair.
    pub shift: Vec<[f64; 3]>,
    /// Per point, the number of its class: points that periodic pairs identify share one.
    /// Empty when the mesh has no periodic pair (each point is its own class).
    pub point_class: Vec<u32>,
}
