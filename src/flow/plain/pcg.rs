//! Conjugate gradients with the diagonal as preconditioner, in plain loops.

use crate::sparse::Csr;
use crate::{Error, Result};

/// What a solve took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solve {
    /// Iterations.
    pub iterations: usize,
    /// `|b - A x| / |b|` of the guess.
    pub initial_residual: f64,
    /// `|b - A x| / |b|` reached, by recurrence.
    pub residual: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn remove_mean(a: &mut [f64]) {
    let mean = a.iter().sum::<f64>() / a.len().max(1) as f64;
    a.iter_mut().for_each(|a| *a -= mean);
}

/// `A x = b` to `|b - A x| <= tolerance |b|`, from the guess in `x`; A symmetric, positive
/// definite, or semi-definite with the constants as kernel (`singular`): the mean of `b` is
/// then removed, and the solution's mean is zero.
///
/// # Errors
/// No convergence within `max_iterations`.
pub fn solve(
    a: &Csr,
    b: &[f64],
    x: &mut [f64],
    singular: bool,
    tolerance: f64,
    max_iterations: usize,
) -> Result<Solve> {
    let mut b = b.to_vec();
    if singular {
        remove_mean(&mut b);
    }
    let target = tolerance * dot(&b, &b).sqrt();
    let diag = a.diag();
    let precondition =
        |r: &[f64]| -> Vec<f64> { r.iter().zip(&diag).map(|(r, d)| r / d).collect() };
    let ax = a.apply(x);
    let mut r: Vec<f64> = b.iter().zip(&ax).map(|(b, ax)| b - ax).collect();
    let mut z = precondition(&r);
    let mut p = z.clone();
    let mut rz = dot(&r, &z);
    let size = dot(&b, &b).sqrt().max(f64::MIN_POSITIVE);
    let mut norm = dot(&r, &r).sqrt();
    let mut done = Solve {
        iterations: 0,
        initial_residual: norm / size,
        residual: norm / size,
    };
    while norm > target {
        if done.iterations == max_iterations || !norm.is_finite() {
            return Err(Error::failure(
                format!(
                    "pressure: residual {:.3e} after {} iterations, {tolerance:.1e} wanted",
                    norm / size,
                    done.iterations
                ),
                "allow more iterations or a larger tolerance",
            ));
        }
        let q = a.apply(&p);
        let alpha = rz / dot(&p, &q);
        for i in 0..x.len() {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        z = precondition(&r);
        let next = dot(&r, &z);
        let beta = next / rz;
        rz = next;
        for (p, z) in p.iter_mut().zip(&z) {
            *p = z + beta * *p;
        }
        norm = dot(&r, &r).sqrt();
        done.iterations += 1;
    }
    done.residual = norm / size;
    if singular {
        remove_mean(x);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(n: u32, ends: f64) -> Csr {
        let mut t = Vec::new();
        for i in 0..n {
            let neighbours = u32::from(i > 0) + u32::from(i + 1 < n);
            t.push((
                i,
                i,
                f64::from(neighbours) + ends * f64::from(2 - neighbours),
            ));
            if i + 1 < n {
                t.extend([(i, i + 1, -1.0), (i + 1, i, -1.0)]);
            }
        }
        Csr::from_triplets(n as usize, n as usize, &t)
    }

    #[test]
    fn definite_and_singular_systems_are_solved() {
        for (ends, singular) in [(1.0, false), (0.0, true)] {
            let a = chain(31, ends);
            let want: Vec<f64> = (0..31).map(|i| f64::from(i * i % 7) - 2.5).collect();
            let mut b = a.apply(&want);
            if singular {
                // An inconsistent part, which must not matter.
                b.iter_mut().for_each(|b| *b += 0.25);
            }
            let mut x = vec![0.0; 31];
            let done = solve(&a, &b, &mut x, singular, 1e-13, 200).unwrap();
            assert!(done.iterations > 5 && done.residual <= 1e-13, "{done:?}");
            let mean = if singular {
                want.iter().sum::<f64>() / 31.0
            } else {
                0.0
            };
            for (x, want) in x.iter().zip(&want) {
                assert!((x - (want - mean)).abs() < 1e-10);
            }
            let again = solve(&a, &b, &mut x, singular, 1e-10, 200).unwrap();
            assert_eq!(again.iterations, 0);
        }
    }

    #[test]
    fn too_few_iterations_are_an_error() {
        let error = solve(&chain(31, 1.0), &[1.0; 31], &mut [0.0; 31], false, 1e-9, 3);
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("after 3 iterations") && text.contains("tolerance"),
            "{text}"
        );
    }
}
