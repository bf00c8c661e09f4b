//! The largest eigenvalue of going from faces to cells and back.

use crate::mesh::geometry::{add, dot, scale, sub};
use crate::mesh::{Geometry, Mesh};

/// Steps at least, so that a few bad cells among many are felt, and at most.
const STEPS: std::ops::Range<usize> = 20..60;

/// The iteration stops when the estimate grows by less than this part of itself.
const TOLERANCE: f64 = 1e-5;

/// Largest eigenvalue of `Gamma Gamma_{s->c}` on the interior faces, by Lanczos iteration
/// from a fixed seed; 0 without interior faces. The estimate grows towards it, and is
/// within about 0.2 % when the steps run out on a large mesh.
///
/// With midpoint weights, `(Gamma u)_f = 1/2 (u_o + u_n) . n`, `Gamma_{s->c} =
/// Omega_c^-1 Gamma^T Omega_s` and `Omega_s = A |d . n|` (operators: F. X. Trias et al.,
/// J. Comput. Phys. 258, 2014). `Gamma_{s->c} Gamma` on cells
/// has the same eigenvalues but for zeros, and is symmetric in the product of `Omega_c`.
pub fn lambda_max(mesh: &Mesh, geometry: &Geometry) -> f64 {
    if mesh.interior_faces() == 0 {
        return 0.0;
    }
    let product = |a: &[[f64; 3]], b: &[[f64; 3]]| -> f64 {
        let pairs = a.iter().zip(b).zip(&geometry.volume);
        pairs.map(|((&a, &b), v)| v * dot(a, b)).sum()
    };
    let mut rng = fastrand::Rng::with_seed(1);
    let mut v: Vec<[f64; 3]> = (0..mesh.cells())
        .map(|_| [(); 3].map(|()| rng.f64() - 0.5))
        .collect();
    let unit = 1.0 / product(&v, &v).sqrt();
    v.iter_mut().for_each(|x| *x = scale(*x, unit));
    let mut before = vec![[0.0; 3]; mesh.cells()];
    let mut image = before.clone();
    let (mut diagonal, mut off): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut lambda = 0.0;
    for step in 0..STEPS.end {
        to_faces_and_back(mesh, geometry, &v, &mut image);
        let alpha = product(&image, &v);
        diagonal.push(alpha);
        let beta = off.last().copied().unwrap_or(0.0);
        for ((w, &v), &u) in image.iter_mut().zip(&v).zip(&before) {
            *w = sub(sub(*w, scale(v, alpha)), scale(u, beta));
        }
        let beta = product(&image, &image).sqrt();
        let estimate = largest(&diagonal, &off);
        let settled = step >= STEPS.start && (estimate - lambda).abs() <= TOLERANCE * estimate;
        lambda = estimate;
        // A vanishing remainder means that all eigenvalues that the start holds are found.
        if settled || beta <= 1e-10 * lambda {
            break;
        }
        off.push(beta);
        std::mem::swap(&mut before, &mut v);
        for (v, &w) in v.iter_mut().zip(&image) {
            *v = scale(w, 1.0 / beta);
        }
    }
    lambda
}

/// `image = Gamma_{s->c} Gamma u`.
fn to_faces_and_back(mesh: &Mesh, geometry: &Geometry, u: &[[f64; 3]], image: &mut [[f64; 3]]) {
    image.fill([0.0; 3]);
    for (f, (&o, &n)) in mesh.owner.iter().zip(&mesh.neighbour).enumerate() {
        let (o, n) = (o as usize, n as usize);
        let normal = geometry.face_normal[f];
        let omega = geometry.face_area[f] * dot(geometry.d[f], normal).abs();
        let part = scale(normal, 0.25 * omega * dot(add(u[o], u[n]), normal));
        image[o] = add(image[o], part);
        image[n] = add(image[n], part);
    }
    for (w, v) in image.iter_mut().zip(&geometry.volume) {
        *w = scale(*w, 1.0 / v);
    }
}

/// Largest eigenvalue of a symmetric tridiagonal matrix, by bisection: `T - x` has as many
/// negative pivots as T has eigenvalues below x.
fn largest(diagonal: &[f64], off: &[f64]) -> f64 {
    let beside = |i: usize| off.get(i).map_or(0.0, |b| b.abs());
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (i, &a) in diagonal.iter().enumerate() {
        let left = if i > 0 { beside(i - 1) } else { 0.0 };
        low = a.max(low);
        high = high.max(a + left + beside(i));
    }
    let all_below = |x: f64| {
        let mut pivot = 1.0;
        diagonal.iter().enumerate().all(|(i, &a)| {
            let b = if i > 0 { beside(i - 1) } else { 0.0 };
            pivot = a - x - b * b / pivot;
            pivot < 0.0
        })
    };
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if all_below(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn second_differences_have_their_known_largest_eigenvalue() {
        for n in [1, 2, 3, 10, 57] {
            let exact = 2.0 + 2.0 * (std::f64::consts::PI / (n + 1) as f64).cos();
            let found = largest(&vec![2.0; n], &vec![-1.0; n - 1]);
            assert!((found - exact).abs() < 1e-12, "{n}: {found} {exact}");
        }
    }
}
