//! Unstructured meshes of tetrahedra, pyramids, prisms and hexahedra, by faces.
//!
//! Faces come first interior, then boundary, patch by patch. A face's points run so that
//! its normal (right-hand rule) leaves the owner; an interior face's owner has the smaller
//! cell number. A periodic pair is one interior face (see [`Mesh::shift`]).

use std::ops::Range;

pub mod build;
pub mod check;
mod faces;
mod front;
pub mod generate;
pub mod geometry;
pub mod gmsh;
pub mod lambda;
pub mod part;
pub mod periodic;
pub mod probe;
pub mod quality;
pub mod renumber;
mod send;
mod walk;

pub use check::check;
pub(crate) use faces::WINDOW as FACE_WINDOW;
pub use generate::{BoxShape, BoxSpec, box_mesh};
pub use geometry::Geometry;
pub use periodic::join_periodic;
pub use quality::{Discretisation, Quality};
pub use renumber::{cell_graph, locality_order};

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

impl CellKind {
    /// All kinds, in the order of their numbers of points.
    pub const ALL: [Self; 4] = [
        Self::Tetrahedron,
        Self::Pyramid,
        Self::Prism,
        Self::Hexahedron,
    ];

    /// Number of points of a cell of this kind.
    pub fn points(self) -> usize {
        match self {
            Self::Tetrahedron => 4,
            Self::Pyramid => 5,
            Self::Prism => 6,
            Self::Hexahedron => 8,
        }
    }

    /// Faces of a cell of this kind, as positions in its list of points; the normals
    /// (right-hand rule) leave the cell.
    pub fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Self::Tetrahedron => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
            Self::Pyramid => &[
                &[0, 3, 2, 1],
                &[0, 1, 4],
                &[1, 2, 4],
                &[2, 3, 4],
                &[3, 0, 4],
            ],
            Self::Prism => &[
                &[0, 2, 1],
                &[3, 4, 5],
                &[0, 1, 4, 3],
                &[1, 2, 5, 4],
                &[2, 0, 3, 5],
            ],
            Self::Hexahedron => &[
                &[0, 3, 2, 1],
                &[4, 5, 6, 7],
                &[0, 1, 5, 4],
                &[1, 2, 6, 5],
                &[2, 3, 7, 6],
                &[3, 0, 4, 7],
            ],
        }
    }

    /// Name for messages, singular.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tetrahedron => "tetrahedron",
            Self::Pyramid => "pyramid",
            Self::Prism => "prism",
            Self::Hexahedron => "hexahedron",
        }
    }
}

/// A named set of boundary faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// Name of the physical group.
    pub name: String,
    /// Its faces, a contiguous range of face numbers.
    pub faces: Range<usize>,
}

/// A mesh with its connectivity; its geometry is a [`Geometry`].
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
    /// Classes count from 0 without gaps, in the order of their first points. Empty when the mesh has no periodic pair (each point is its own class).
    pub point_class: Vec<u32>,
    /// Number of each cell in the file it was read from, for messages. Empty when the mesh
    /// was generated.
    pub cell_ids: Vec<u64>,
    /// File it was read from, or what made it, for messages.
    pub source: String,
}

impl Mesh {
    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.kinds.len()
    }

    /// Number of faces, boundary included.
    pub fn faces(&self) -> usize {
        self.owner.len()
    }

    /// Number of interior faces, periodic pairs included.
    pub fn interior_faces(&self) -> usize {
        self.neighbour.len()
    }

    /// Points of cell `c`.
    pub fn cell(&self, c: usize) -> &[u32] {
        &self.cell_points[self.cell_ptr[c]..self.cell_ptr[c + 1]]
    }

    /// Points of face `f`, its normal leaving the owner.
    pub fn face(&self, f: usize) -> &[u32] {
        &self.face_points[self.face_ptr[f]..self.face_ptr[f + 1]]
    }

    /// The patch called `name`.
    pub fn patch(&self, name: &str) -> Option<&Patch> {
        self.patches.iter().find(|patch| patch.name == name)
    }

    /// Periodic shift of interior face `f` (see [`Mesh::shift`]); zero for other faces.
    pub fn face_shift(&self, f: usize) -> [f64; 3] {
        self.shift.get(f).copied().unwrap_or([0.0; 3])
    }

    /// How messages call cell `c`: its number in the file, or ours.
    pub fn cell_name(&self, c: usize) -> String {
        match self.cell_ids.get(c) {
            Some(id) => format!("element {id}"),
            None => format!("cell {c}"),
        }
    }
}
