//! Measures of a mesh, and the discretisation that they recommend.

use crate::mesh::geometry::{dot, norm, scale, sub};
use crate::mesh::lambda::lambda_max;
use crate::mesh::{CellKind, Geometry, Mesh};

/// Largest non-orthogonality, in degrees, for which the compact Laplacian needs no
/// correction: it leaves out tan(angle) of the gradient along the face, 5 % at 3 degrees.
pub const NON_ORTHOGONALITY_MAX_DEG: f64 = 3.0;

/// Largest eigenvalue of `Gamma Gamma_{s->c}` for which going to faces and back does not
/// amplify: 1 on uniform hexahedra, a little more with stretching, above 2 on tetrahedra.
pub const LAMBDA_MAX: f64 = 1.1;

/// How fields and operators are discretised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discretisation {
    /// Preserves the operators' symmetries exactly; consistent on near-orthogonal meshes.
    SymmetryPreserving,
    /// Consistent on any mesh.
    Consistent,
}

impl Discretisation {
    /// Name as cases and logs write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SymmetryPreserving => "symmetry-preserving",
            Self::Consistent => "consistent",
        }
    }
}

/// Measures of a mesh. Angles are in degrees, volumes in cubic metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Number of cells of each kind, in the order of [`CellKind::ALL`].
    pub cells: [usize; 4],
    /// Number of points.
    pub points: usize,
    /// Number of faces, boundary included.
    pub faces: usize,
    /// Number of boundary faces.
    pub boundary_faces: usize,
    /// Smallest volume of a cell.
    pub volume_min: f64,
    /// Largest volume of a cell.
    pub volume_max: f64,
    /// Sum of all volumes.
    pub volume_total: f64,
    /// Mean over interior faces of the angle between d and the normal.
    pub non_orthogonality_mean_deg: f64,
    /// Largest such angle.
    pub non_orthogonality_max_deg: f64,
    /// Mean over interior faces of |face centre - crossing of d and the face| / |d|.
    pub skewness_mean: f64,
    /// Largest such ratio.
    pub skewness_max: f64,
    /// Largest eigenvalue of `Gamma Gamma_{s->c}`, see [`lambda_max`].
    pub lambda_max: f64,
}

impl Quality {
    /// Measures `mesh`, which has passed [`check`](crate::mesh::check()).
    pub fn of(mesh: &Mesh, geometry: &Geometry) -> Self {
        let volumes = || geometry.volume.iter().copied();
        let interior = mesh.interior_faces();
        let mut quality = Self {
            cells: CellKind::ALL.map(|kind| mesh.kinds.iter().filter(|&&k| k == kind).count()),
            points: mesh.points.len(),
            faces: mesh.faces(),
            boundary_faces: mesh.faces() - interior,
            volume_min: volumes().fold(f64::INFINITY, f64::min),
            volume_max: volumes().fold(0.0, f64::max),
            volume_total: volumes().sum(),
            non_orthogonality_mean_deg: 0.0,
            non_orthogonality_max_deg: 0.0,
            skewness_mean: 0.0,
            skewness_max: 0.0,
            lambda_max: lambda_max(mesh, geometry),
        };
        let weight = 1.0 / interior.max(1) as f64;
        for f in 0..interior {
            let (d, n) = (geometry.d[f], geometry.face_normal[f]);
            let d_n = dot(d, n);
            // The sine keeps small angles exact where the cosine rounds to 1.
            let across = norm(sub(d, scale(n, d_n)));
            let angle = across.atan2(d_n).to_degrees();
            quality.non_orthogonality_mean_deg += weight * angle;
            quality.non_orthogonality_max_deg = quality.non_orthogonality_max_deg.max(angle);
            let to_face = sub(
                geometry.face_centre[f],
                geometry.centre[mesh.owner[f] as usize],
            );
            let crossing = scale(d, dot(to_face, n) / d_n);
            let skewness = norm(sub(to_face, crossing)) / norm(d);
            quality.skewness_mean += weight * skewness;
            quality.skewness_max = quality.skewness_max.max(skewness);
        }
        quality
    }

    /// The discretisation that suits the mesh, and why.
    pub fn recommend(&self) -> (Discretisation, String) {
        let angle = self.non_orthogonality_max_deg;
        let lambda = self.lambda_max;
        let fits = angle <= NON_ORTHOGONALITY_MAX_DEG && lambda <= LAMBDA_MAX;
        if fits {
            let why = format!(
                "non-orthogonality is at most {angle:.1} degrees \
                 and the largest eigenvalue of Gamma Gamma_sc {lambda:.3}"
            );
            (Discretisation::SymmetryPreserving, why)
        } else if angle > NON_ORTHOGONALITY_MAX_DEG {
            let why = format!(
                "non-orthogonality reaches {angle:.1} degrees (limit {NON_ORTHOGONALITY_MAX_DEG})"
            );
            (Discretisation::Consistent, why)
        } else {
            let why = format!(
                "the largest eigenvalue of Gamma Gamma_sc is {lambda:.3} (limit {LAMBDA_MAX})"
            );
            (Discretisation::Consistent, why)
        }
    }
}
