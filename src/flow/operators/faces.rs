//! What a face knows of its two cells: distances, weights, fluxes, compact gradients.

use crate::flow::boundary::{BoundaryFaces, FaceKind};
use crate::flow::operators::Scheme;
use crate::mesh::geometry::{dot, scale, sub};
use crate::mesh::{Geometry, Mesh};
use crate::sparse::{Csr, Planes};
use crate::{Error, Result};

/// A mesh with the distances and weights of its faces.
pub(super) struct Faces<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) geometry: &'a Geometry,
    pub(super) kind: &'a [FaceKind],
    /// `d . n` per face, > 0.
    pub(super) d_n: Vec<f64>,
    /// `Gamma`: weights of owner and neighbour per interior face.
    pub(super) gamma: Vec<[f64; 2]>,
    /// Volume of each cell, m3.
    pub(super) volume: Vec<f64>,
    scheme: Scheme,
}

/// `x` to so many bits of a number of this `size`. Faces of equal cells are then equal, whatever the
/// last bits of their coordinates (which lose as many bits as there are cells in a row), sums of
/// like values are exact, and the matrices of a uniform mesh store each value once. All operators
/// have the same values: those of a mesh whose points are off by that little.
fn rounded(x: f64, size: f64, bits: i32) -> f64 {
    const EXPONENT: u64 = f64::INFINITY.to_bits();
    let unit = f64::from_bits(size.to_bits() & EXPONENT) * 2f64.powi(1 - bits);
    // A size of nought has no unit.
    if unit > 0.0 {
        (x / unit).round() * unit
    } else {
        x
    }
}

/// Bits of a conductance, which the equation of the pressure depends on.
const CONDUCTANCE_BITS: i32 = 41;
/// Bits of areas and volumes: so few that of 100 boxes with 128 cells in a row one has a number
/// which is near enough to a half to be rounded both ways.
const SIZE_BITS: i32 = 38;

impl<'a> Faces<'a> {
    pub(super) fn new(
        mesh: &'a Mesh,
        geometry: &'a Geometry,
        kind: &'a [FaceKind],
        scheme: Scheme,
    ) -> Result<Self> {
        let interior = mesh.interior_faces();
        if kind.len() != mesh.faces() - interior {
            return Err(Error::failure(
                format!(
                    "{} boundary faces have {} kinds",
                    mesh.faces() - interior,
                    kind.len()
                ),
                "give one kind per boundary face",
            ));
        }
        let mut faces = Self {
            mesh,
            geometry,
            kind,
            d_n: Vec::with_capacity(mesh.faces()),
            gamma: Vec::with_capacity(interior),
            volume: geometry.volume.clone(),
            scheme,
        };
        if scheme == Scheme::SymmetryPreserving {
            faces
                .volume
                .iter_mut()
                .for_each(|v| *v = rounded(*v, *v, SIZE_BITS));
        }
        for f in 0..mesh.faces() {
            let (n, d) = (geometry.face_normal[f], geometry.d[f]);
            let d_n = dot(d, n);
            if d_n.is_nan() || d_n <= 0.0 {
                return Err(faces.folded(f));
            }
            faces.d_n.push(d_n);
            if f < interior {
                let owner = mesh.owner[f] as usize;
                let h_o = dot(sub(geometry.face_centre[f], geometry.centre[owner]), n);
                // The farther cell weighs more: it is the larger one, and with these weights
                // the gradient's adjoint interpolates linearly.
                let share = h_o / d_n;
                faces.gamma.push(match scheme {
                    Scheme::SymmetryPreserving => [0.5, 0.5],
                    Scheme::Consistent => [share, 1.0 - share],
                });
            }
        }
        Ok(faces)
    }

    fn folded(&self, f: usize) -> Error {
        let name = |c: u32| self.mesh.cell_name(c as usize);
        let owner = name(self.mesh.owner[f]);
        let what = match self.mesh.neighbour.get(f) {
            Some(&n) => format!("{owner} and {} overlap at the face they share", name(n)),
            None => format!("the centre of {owner} is outside of its boundary face"),
        };
        Error::failure(
            format!("mesh: {what} (d.n <= 0)"),
            "repair the mesh there; no discretisation is valid on it",
        )
    }

    pub(super) fn interior(&self) -> usize {
        self.mesh.interior_faces()
    }

    /// Owner and neighbour of interior face `f`.
    pub(super) fn pair(&self, f: usize) -> Option<[usize; 2]> {
        let neighbour = *self.mesh.neighbour.get(f)? as usize;
        Some([self.mesh.owner[f] as usize, neighbour])
    }

    /// Kind of face `f`, `None` for an interior one.
    pub(super) fn boundary(&self, f: usize) -> Option<FaceKind> {
        self.kind.get(f.checked_sub(self.interior())?).copied()
    }

    /// `S n` of face `f`; [`rounded`] in the symmetry-preserving scheme, for the others' faces are
    /// not alike anyway.
    pub(super) fn area_vector(&self, f: usize) -> [f64; 3] {
        let area = self.geometry.face_area[f];
        let exact = scale(self.geometry.face_normal[f], area);
        match self.scheme {
            Scheme::SymmetryPreserving => exact.map(|x| rounded(x, area, SIZE_BITS)),
            Scheme::Consistent => exact,
        }
    }

    /// `S / d_n` of face `f`, [`rounded`].
    pub(super) fn conductance(&self, f: usize) -> f64 {
        let conductance = self.geometry.face_area[f] / self.d_n[f];
        rounded(conductance, conductance, CONDUCTANCE_BITS)
    }

    /// A matrix faces x cells from the entries of owner and neighbour, and of boundary owners.
    pub(super) fn face_matrix(
        &self,
        inside: impl Fn(usize) -> [f64; 2] + Sync,
        at_boundary: impl Fn(usize) -> Option<f64> + Sync,
    ) -> Csr {
        Csr::from_rows(self.mesh.faces(), self.mesh.cells(), |f, row| {
            let owner = self.mesh.owner[f];
            if let Some(&neighbour) = self.mesh.neighbour.get(f) {
                let [o, n] = inside(f);
                row.extend([(owner, o), (neighbour, n)]);
            } else if let Some(value) = at_boundary(f) {
                row.push((owner, value));
            }
        })
    }

    /// `M`: cells x faces.
    pub(super) fn divergence(&self) -> Csr {
        self.face_matrix(|_| [1.0, -1.0], |_| Some(1.0)).transpose()
    }

    /// `F_0`: faces x cells.
    pub(super) fn pressure_flux(&self) -> Csr {
        self.face_matrix(
            |f| [-self.conductance(f), self.conductance(f)],
            |f| self.is_outlet(f).then(|| -self.conductance(f)),
        )
    }

    /// `S/d_n p_b` at outlets, one value per face.
    pub(super) fn pressure_flux_base(&self) -> Vec<f64> {
        (0..self.mesh.faces())
            .map(|f| match self.boundary(f) {
                Some(FaceKind::Outlet(p)) => self.conductance(f) * p,
                _ => 0.0,
            })
            .collect()
    }

    /// `S n_k Gamma`: faces x cells.
    pub(super) fn flux_cells(&self) -> Planes {
        let gamma = self.face_matrix(|f| self.gamma[f], |f| self.is_outlet(f).then_some(1.0));
        Planes::from_scaled(&gamma, &self.area_vectors())
    }

    /// `S n` of every face.
    pub(super) fn area_vectors(&self) -> Vec<[f64; 3]> {
        (0..self.mesh.faces())
            .map(|f| self.area_vector(f))
            .collect()
    }

    /// `V^-1 S n_k p_b` summed over the outlets of each cell.
    pub(super) fn gradient_base(&self) -> [Vec<f64>; 3] {
        let mut base: [Vec<f64>; 3] = std::array::from_fn(|_| vec![0.0; self.mesh.cells()]);
        for f in self.interior()..self.mesh.faces() {
            if let Some(FaceKind::Outlet(p)) = self.boundary(f) {
                let owner = self.mesh.owner[f] as usize;
                let pull = scale(self.area_vector(f), p / self.volume[owner]);
                for k in 0..3 {
                    base[k][owner] += pull[k];
                }
            }
        }
        base
    }

    /// The pressure given at each boundary face, 0 where none is.
    pub(super) fn given_pressure(&self) -> Vec<f64> {
        let given = |kind: &FaceKind| match kind {
            FaceKind::Outlet(p) => *p,
            _ => 0.0,
        };
        self.kind.iter().map(given).collect()
    }

    /// Whether the pressure is given at face `f`.
    pub(super) fn is_outlet(&self, f: usize) -> bool {
        matches!(self.boundary(f), Some(FaceKind::Outlet(_)))
    }

    /// The boundary faces, without `pressure_nodes`.
    pub(super) fn boundary_faces(&self) -> BoundaryFaces {
        let inside = self.interior();
        let owner = self.mesh.owner[inside..].to_vec();
        let scatter = Csr::from_rows(owner.len(), self.mesh.cells(), |b, row| {
            row.push((owner[b], 1.0 / self.volume[owner[b] as usize]));
        });
        BoundaryFaces {
            kind: self.kind.to_vec(),
            normal: self.geometry.face_normal[inside..].to_vec(),
            area: self.geometry.face_area[inside..].to_vec(),
            diffusion: self.boundary_diffusion(),
            scatter: scatter.transpose(),
            pressure_nodes: Csr::zero(owner.len(), 0),
            outlet_elsewhere: false,
            owner,
        }
    }

    /// `S/d_n` of boundary faces where viscous flux acts, else 0.
    ///
    /// Between two opposite slip faces of one cell (a mesh one cell thick) the normal velocity
    /// vanishes, and its diffusion would only restrict the time step: it is left out.
    fn boundary_diffusion(&self) -> Vec<f64> {
        let slip = |f: &usize| self.boundary(*f) == Some(FaceKind::Slip);
        let mut slip_faces: Vec<Vec<usize>> = vec![Vec::new(); self.mesh.cells()];
        for f in (self.interior()..self.mesh.faces()).filter(slip) {
            slip_faces[self.mesh.owner[f] as usize].push(f);
        }
        let opposite = |f: usize| {
            let normal = &self.geometry.face_normal;
            let others = &slip_faces[self.mesh.owner[f] as usize];
            others.iter().any(|&g| dot(normal[f], normal[g]) < -0.9)
        };
        (self.interior()..self.mesh.faces())
            .map(|f| match self.boundary(f) {
                Some(FaceKind::Dirichlet) => self.conductance(f),
                Some(FaceKind::Slip) if !opposite(f) => self.conductance(f),
                _ => 0.0,
            })
            .collect()
    }

    /// Least cube root of the volumes of each face's cells.
    pub(super) fn lengths(&self) -> Vec<f64> {
        let volume = &self.geometry.volume;
        (0..self.mesh.faces())
            .map(|f| {
                let owner = volume[self.mesh.owner[f] as usize];
                self.pair(f)
                    .map_or(owner, |[_, n]| owner.min(volume[n]))
                    .cbrt()
            })
            .collect()
    }
}
