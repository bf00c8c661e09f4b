//! The matrices of both discretisations, built once per mesh.
//!
//! Spaces: cells; faces (interior first, then boundary, as in the mesh); boundary faces
//! (counted from 0 at the first boundary face); nodes (classes of points; periodic points that
//! are identified are one node). A vector field is three arrays, one per component.
//!
//! A face's flux is positive from its owner to its neighbour (or out of the domain), and
//! contains the area: m3/s for velocity.

use crate::flow::boundary::FaceKind;
use crate::sparse::Csr;

/// Which of the two discretisations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Midpoint interpolation and compact gradients: keeps the symmetries of the differential
    /// operators exactly, and is accurate where lines between centres cross faces in their
    /// middle at right angles.
    SymmetryPreserving,
    /// The same adjoint pair with volume weights, corrected through smooth nodal values:
    /// second order on any mesh.
    Consistent,
}

/// Three matrices of one pattern: `val[k]` belongs to `row_ptr` and `col` as in [`Csr`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planes {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Row `i` holds the entries `row_ptr[i]..row_ptr[i + 1]`.
    pub row_ptr: Vec<usize>,
    /// Column of each entry, ascending within a row.
    pub col: Vec<u32>,
    /// Values of the three matrices.
    pub val: [Vec<f64>; 3],
}

/// All matrices and coefficients that a time step needs.
///
/// With the symmetry-preserving scheme `nodes == 0` and every matrix with a node side is empty.
#[derive(Clone, Debug)]
pub struct Operators {
    /// Which discretisation this is.
    pub scheme: Scheme,
    /// Number of cells.
    pub cells: usize,
    /// Number of faces between two cells.
    pub interior_faces: usize,
    /// Number of faces.
    pub faces: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Volume of each cell, m3.
    pub volume: Vec<f64>,

    /// `(M phi)_c` = net flux out of cell c; cells x faces, +1 at the owner, -1 at the
    /// neighbour.
    pub divergence: Csr,
    /// `F_0`: compact pressure gradient along the normal times area, `S/d_n (p_n - p_o)`, and
    /// `-S/d_n p_o` at outlets; faces x cells, m.
    pub pressure_flux: Csr,
    /// `T`: its non-orthogonal correction from nodal pressures; faces x nodes, m.
    pub pressure_flux_nodes: Csr,
    /// Its part from the pressures given at outlets, `S/d_n p_b`; one per face. The whole
    /// pressure flux is `F_0 p + T H_0 p + base`.
    pub pressure_flux_base: Vec<f64>,
    /// `L = -M F_0`: cells x cells, symmetric, positive semi-definite (definite with an
    /// outlet), m.
    pub laplacian: Csr,

    /// Plane k is `S n_k Gamma`: flux of a cell velocity through interior faces and outlets;
    /// faces x cells, m2.
    pub flux_cells: Planes,
    /// Plane k is `S n_k Delta_Gamma`: its correction from nodal velocities; faces x nodes, m2.
    pub flux_nodes: Planes,
    /// Plane k is the pressure gradient's component k from cell pressures,
    /// `-Omega^-1 (M Gamma)^T`; cells x cells, 1/m.
    pub gradient_cells: Planes,
    /// Plane k: its correction from nodal pressures; cells x nodes, 1/m.
    pub gradient_nodes: Planes,
    /// Its part from the pressures given at outlets, per component and cell, m/s2.
    pub gradient_base: [Vec<f64>; 3],

    /// `H_v`: nodal velocities from cell velocities; nodes x cells.
    pub nodal_velocity: Csr,
    /// `H_b`: their part from velocities given at Dirichlet faces; nodes x boundary faces.
    pub nodal_velocity_boundary: Csr,
    /// `H_0`: nodal pressures from cell pressures; nodes x cells.
    pub nodal_pressure: Csr,
    /// Their part from the pressures given at outlets, m2/s2.
    pub nodal_pressure_base: Vec<f64>,

    /// Convection and diffusion.
    pub momentum: Momentum,
    /// What happens at the boundary.
    pub boundary: BoundaryFaces,
    /// Per face, the least of the cube roots of the volumes of its cells, m.
    pub face_length: Vec<f64>,
    /// Per cell, a bound of the compact diffusion operator's largest eigenvalue divided by nu
    /// (Gershgorin, correction through nodes included): explicit diffusion is stable while
    /// `nu * dt * viscous_rate` is below the limit of the time scheme; 1/m2.
    pub viscous_rate: Vec<f64>,
}

/// Convection and diffusion, in the form that the scheme multiplies.
///
/// In both, boundary faces add `(-phi_b + nu diffusion_b) u_b / V` to their owner, see
/// [`BoundaryFaces`].
#[derive(Clone, Debug)]
pub enum Momentum {
    /// Symmetry-preserving: `R = K u + boundary`, `values(K) = nu * diffusion.val + E_C phi`.
    Cells {
        /// `-Omega^-1 D`: cells x cells, columns ascending (the diagonal is among them), 1/m2.
        diffusion: Csr,
        /// `E_C`: one row per entry of `diffusion`, one column per face, 1/m3; boundary
        /// faces have no entries.
        convection: Csr,
    },
    /// Consistent: `R = Omega^-1 M F`, `F = -phi (a_0 + b_0) + theta/2 |phi| (a_1 + b_1) +
    /// nu (a_2 + b_2) + base`, with `a_k` = plane k of `cells` times u and `b_k` = plane k of
    /// `nodes` times the nodal velocities; base only at boundary faces.
    Faces {
        /// Planes `Gamma_m`, `E`, `F_0`; faces x cells. Boundary rows have only plane 2,
        /// `-diffusion_b` at the owner.
        cells: Planes,
        /// Planes `Delta_m`, `-E A_c`, `T`; faces x nodes. Rows of Dirichlet faces have only
        /// plane 2, other boundary rows are empty.
        nodes: Planes,
    },
}

/// Boundary faces, in the order of the mesh.
///
/// Every step gives each a velocity `u_b`: given at Dirichlet faces; the owner's without its
/// normal part at slip faces; the owner's at outlets (see [`BoundaryFaces::update`]).
#[derive(Clone, Debug, Default)]
pub struct BoundaryFaces {
    /// Kind of each.
    pub kind: Vec<FaceKind>,
    /// Cell inside.
    pub owner: Vec<u32>,
    /// Unit normal out of the domain.
    pub normal: Vec<[f64; 3]>,
    /// Area, m2.
    pub area: Vec<f64>,
    /// `S/d_n` where viscous flux `nu S/d_n (u_b - u_c)` acts, else 0 (outlets; slip faces of a
    /// layer one cell thick), m.
    pub diffusion: Vec<f64>,
    /// Adds a boundary flux to its owner as `1/V`: cells x boundary faces, 1/m3.
    pub scatter: Csr,
    /// Pressure at the face is `p_owner + (this H_0 p)`, but at outlets; boundary faces x
    /// nodes. Needed for the power of the pressure at in- and outflow alone.
    pub pressure_nodes: Csr,
}
