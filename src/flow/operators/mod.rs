//! The matrices of both discretisations, built once per mesh.
//!
//! Spaces: cells; faces (interior first, then boundary, as in the mesh); boundary faces
//! (counted from 0 at the first boundary face); nodes (classes of points; periodic points that
//! are identified are one node). A vector field is three arrays, one per component.
//!
//! A face's flux is positive from its owner to its neighbour (or out of the domain), and
//! contains the area: m3/s for velocity.

mod correction;
mod faces;
mod momentum;
mod nodal;
mod part;
mod small;

use std::rc::Rc;

use crate::Result;
use crate::cluster::Halo;
pub use crate::mesh::Discretisation as Scheme;

use crate::flow::boundary::{BoundaryFaces, FaceKind};
use crate::flow::operators::correction::Corrections;
use crate::flow::operators::faces::Faces;
use crate::mesh::{Geometry, Mesh};
pub use crate::sparse::Planes;
pub use part::Local;

use crate::sparse::Csr;

/// All matrices and coefficients that a time step needs.
///
/// With the symmetry-preserving scheme `nodes == 0` and every matrix with a node side is empty.
///
/// On one of several ranks (see [`Operators::of_part`]) cell rows are owned cells, and cell columns
/// go on with the halo from the next whole block on. Face rows are the faces of owned cells, those
/// that another rank counts in its sums from the next whole block on.
#[derive(Clone, Debug)]
pub struct Operators {
    /// Which discretisation this is.
    pub scheme: Scheme,
    /// Number of cells.
    pub cells: usize,
    /// Number of faces between two cells.
    pub interior_faces: usize,
    /// Number of face rows.
    pub faces: usize,
    /// Face rows that count in sums.
    pub counted_faces: usize,
    /// Exchange of cell values with other ranks.
    pub halo: Rc<Halo>,
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
    /// Per cell, a bound of the largest eigenvalue of compact diffusion divided by nu
    /// (Gershgorin): explicit diffusion is stable while `nu * dt * viscous_rate` is below the
    /// limit of the time scheme; 1/m2.
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

impl Operators {
    /// Builds all matrices of `scheme`; `kind` has one entry per boundary face.
    ///
    /// # Errors
    /// A number of kinds that is not that of the boundary faces; cells that overlap at a face
    /// (`d . n <= 0`).
    pub fn build(
        mesh: &Mesh,
        geometry: &Geometry,
        kind: &[FaceKind],
        scheme: Scheme,
    ) -> Result<Self> {
        let faces = Faces::new(mesh, geometry, kind, scheme)?;
        let divergence = faces.divergence();
        let mut boundary = faces.boundary_faces();
        let corrections = match scheme {
            Scheme::SymmetryPreserving => Corrections::none(&faces),
            Scheme::Consistent => Corrections::new(&faces, &divergence),
        };
        let momentum = match scheme {
            Scheme::SymmetryPreserving => {
                momentum::by_cells(&faces, &divergence, &boundary.diffusion)
            }
            Scheme::Consistent => {
                momentum::by_faces(&faces, &corrections.vertices, &boundary.diffusion)
            }
        };
        boundary.pressure_nodes = corrections.boundary_pressure;
        let pressure_flux = faces.pressure_flux();
        let flux_cells = faces.flux_cells();
        let minus_per_volume: Vec<f64> = faces.volume.iter().map(|v| -1.0 / v).collect();
        Ok(Self {
            scheme,
            cells: mesh.cells(),
            interior_faces: mesh.interior_faces(),
            faces: mesh.faces(),
            counted_faces: mesh.faces(),
            halo: Halo::none(),
            nodes: corrections.vertices.nodes,
            pressure_flux_nodes: corrections.pressure_flux,
            pressure_flux_base: faces.pressure_flux_base(),
            laplacian: divergence.product(&pressure_flux).negated(),
            flux_nodes: corrections.flux,
            gradient_cells: flux_cells
                .left_product(&divergence)
                .transpose()
                .scale_rows(&minus_per_volume),
            gradient_nodes: corrections.gradient,
            gradient_base: faces.gradient_base(),
            nodal_velocity: corrections.velocity.cells,
            nodal_velocity_boundary: corrections.velocity.boundary,
            nodal_pressure_base: corrections.pressure.boundary.apply(&faces.given_pressure()),
            nodal_pressure: corrections.pressure.cells,
            momentum,
            face_length: faces.lengths(),
            viscous_rate: momentum::viscous_rate(&faces, &boundary.diffusion),
            boundary,
            volume: faces.volume,
            divergence,
            pressure_flux,
            flux_cells,
        })
    }
}
