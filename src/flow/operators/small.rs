//! Three by three matrices: what least squares around a point needs.

use crate::mesh::geometry::{dot, scale, sub};

/// Directions whose eigenvalue is below this fraction of the largest carry no information:
/// the points lie in a plane (a mesh one cell thick) or on a line.
const RANK_TOLERANCE: f64 = 1e-11;

/// A symmetric matrix: xx, xy, xz, yy, yz, zz.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Symmetric([f64; 6]);

impl Symmetric {
    /// Adds `w r r^T`.
    pub(super) fn add_outer(&mut self, w: f64, r: [f64; 3]) {
        let [x, y, z] = r;
        let outer = [x * x, x * y, x * z, y * y, y * z, z * z];
        for (sum, v) in self.0.iter_mut().zip(outer) {
            *sum += w * v;
        }
    }

    /// `A r`.
    pub(super) fn times(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let a = &self.0;
        [
            a[0] * x + a[1] * y + a[2] * z,
            a[1] * x + a[3] * y + a[4] * z,
            a[2] * x + a[4] * y + a[5] * z,
        ]
    }

    /// The pseudo-inverse `A^+` of a positive semi-definite matrix, by Jacobi rotations.
    pub(super) fn pseudo_inverse(&self) -> Self {
        let (value, vector) = self.eigen();
        let largest = value.iter().fold(0.0, |m: f64, v| m.max(*v));
        let mut out = Self::default();
        for (value, vector) in value.into_iter().zip(vector) {
            if value > RANK_TOLERANCE * largest {
                out.add_outer(1.0 / value, vector);
            }
        }
        out
    }

    /// Eigenvalues and unit eigenvectors.
    fn eigen(&self) -> ([f64; 3], [[f64; 3]; 3]) {
        let [xx, xy, xz, yy, yz, zz] = self.0;
        let mut a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
        let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        // Each sweep squares the size of what is off the diagonal: six are ample.
        for _ in 0..8 {
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                if a[p][q].abs() <= f64::EPSILON * 1e-3 * (a[p][p].abs() + a[q][q].abs()) {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                // Not hypot, whose last bit differs between machines.
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for k in 0..3 {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                    (v[p][k], v[q][k]) = (c * v[p][k] - s * v[q][k], s * v[p][k] + c * v[q][k]);
                }
            }
        }
        ([a[0][0], a[1][1], a[2][2]], v)
    }
}

/// Points around which a linear function is fitted by weighted least squares.
#[derive(Clone, Debug, Default)]
pub(super) struct Cloud {
    /// Positions, and their weights.
    points: Vec<([f64; 3], f64)>,
}

/// A [`Cloud`]'s fit, ready to be evaluated.
pub(super) struct Fit<'a> {
    cloud: &'a Cloud,
    weight: f64,
    mean: [f64; 3],
    inverse: Symmetric,
}

impl Cloud {
    /// Adds a point with weight `w > 0`.
    pub(super) fn push(&mut self, x: [f64; 3], w: f64) {
        self.points.push((x, w));
    }

    /// Prepares the fit.
    pub(super) fn fit(&self) -> Fit<'_> {
        let weight: f64 = self.points.iter().map(|&(_, w)| w).sum();
        let mut mean = [0.0; 3];
        for &(x, w) in &self.points {
            for k in 0..3 {
                mean[k] += w / weight * x[k];
            }
        }
        let mut moment = Symmetric::default();
        for &(x, w) in &self.points {
            moment.add_outer(w, sub(x, mean));
        }
        Fit {
            cloud: self,
            weight,
            mean,
            inverse: moment.pseudo_inverse(),
        }
    }
}

impl Fit<'_> {
    /// Coefficients `c_j` with `f(x) = sum c_j f_j`:
    /// `w_j/sum w + w_j (x - mean)^T T^+ (x_j - mean)`.
    pub(super) fn value_at(&self, x: [f64; 3]) -> impl Iterator<Item = f64> + '_ {
        let slope = self.inverse.times(sub(x, self.mean));
        self.cloud
            .points
            .iter()
            .map(move |&(p, w)| w / self.weight + w * dot(slope, sub(p, self.mean)))
    }

    /// Coefficients `c_j` with `grad f = sum c_j f_j`: `w_j T^+ (x_j - mean)`.
    pub(super) fn gradient(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        let points = self.cloud.points.iter();
        points.map(|&(p, w)| scale(self.inverse.times(sub(p, self.mean)), w))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_reproduce_linear_functions_and_ignore_missing_directions() {
        let mut rng = fastrand::Rng::with_seed(5);
        for flat in [false, true] {
            let mut cloud = Cloud::default();
            for _ in 0..9 {
                let z = if flat { 0.25 } else { rng.f64() };
                cloud.push([rng.f64(), 1e-3 * rng.f64(), z], 0.5 + rng.f64());
            }
            let fit = cloud.fit();
            let slope = if flat {
                [3.0, -2.0, 0.0]
            } else {
                [3.0, -2.0, 5.0]
            };
            let values: Vec<f64> = cloud
                .points
                .iter()
                .map(|&(x, _)| 1.0 + dot(slope, x))
                .collect();
            let at = [0.3, 0.7e-3, 0.9];
            let got: f64 = fit.value_at(at).zip(&values).map(|(c, v)| c * v).sum();
            assert!((got - 1.0 - dot(slope, at)).abs() < 1e-10, "{got}");
            let mut gradient = [0.0; 3];
            for (c, v) in fit.gradient().zip(&values) {
                for k in 0..3 {
                    gradient[k] += c[k] * v;
                }
            }
            for k in 0..3 {
                assert!((gradient[k] - slope[k]).abs() < 1e-9, "{gradient:?}");
            }
        }
    }

    #[test]
    fn pseudo_inverse_of_a_regular_matrix_is_its_inverse() {
        let mut a = Symmetric::default();
        a.add_outer(1.0, [1.0, 2.0, -1.0]);
        a.add_outer(2.0, [0.0, 1.0, 3.0]);
        a.add_outer(0.5, [-2.0, 1.0, 1.0]);
        let inverse = a.pseudo_inverse();
        for unit in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
            let back = sub(a.times(inverse.times(unit)), unit);
            assert!(dot(back, back).sqrt() < 1e-13, "{back:?}");
        }
    }
}
