//! Conjugate gradients: time per iteration, and time of solves to a tolerance with either
//! preconditioner.

use std::rc::Rc;
use std::time::Instant;

use super::{Bench, Input, Needs, Work, vector};
use crate::Result;
use crate::linear::precond::Pattern;
use crate::linear::{Pcg, Solution};
use crate::node::Buffer;
use crate::sparse::Csr;
use crate::split::{Engine, Place};

/// Iterations with Jacobi's preconditioner.
pub(super) const BENCH: Bench = Bench {
    name: "pcg",
    unit: "iteration",
    needs: Needs::Definite,
    prepare: |engine, input| prepare(engine, input, None, None),
    effective_bytes: |_| None,
};

/// Solves with Jacobi's preconditioner: what [`FSAI`] is held against.
pub(super) const JACOBI: Bench = Bench {
    name: "jacobi",
    unit: "solve",
    prepare: |engine, input| prepare(engine, input, None, Some(TOLERANCE)),
    ..BENCH
};

/// Solves behind a factorised sparse approximate inverse.
pub(super) const FSAI: Bench = Bench {
    name: "fsai",
    unit: "solve",
    prepare: |engine, input| prepare(engine, input, Some(Pattern::default()), Some(TOLERANCE)),
    ..BENCH
};

/// Iterations of a timed solve: as many as take [`SOLVE_S`], from the first to the second number.
/// What comes before and after them is timed with them; whole solves of a million rows have 250.
const ITERATIONS: [usize; 2] = [50, 250];
const SOLVE_S: f64 = 0.1;
/// Iterations compared with the plain loop.
const COMPARED: usize = 8;
/// Relative residual of a whole solve, and most iterations.
const TOLERANCE: f64 = 1e-8;
const MOST: usize = 20_000;

struct Solver {
    plain: Rc<Csr>,
    solver: Pcg<f64>,
    b: Buffer<f64>,
    x: Buffer<f64>,
    /// Of a whole solve; none: so many iterations.
    tolerance: Option<f64>,
    iterations: usize,
}

fn prepare(
    engine: &Engine<f64>,
    input: &Input,
    fsai: Option<Pattern>,
    tolerance: Option<f64>,
) -> Result<Box<dyn Work>> {
    let a = &input.matrix;
    let mut b = vector(engine, a.rows, 1)?;
    if tolerance.is_some() {
        // Smooth, as right-hand sides of flows are: noise is half solved in the first iterations.
        b.write()?[..a.rows].fill(1.0);
    }
    Ok(Box::new(Solver {
        plain: Rc::clone(a),
        solver: Pcg::with(engine, a, false, fsai)?,
        b,
        x: engine.node.buffer(a.rows)?,
        tolerance,
        iterations: ITERATIONS[0],
    }))
}

impl Solver {
    fn solve(
        &mut self,
        engine: &Engine<f64>,
        tolerance: f64,
        iterations: usize,
    ) -> Result<Solution> {
        let (b, x) = (&mut self.b, &mut self.x);
        self.solver.solve(engine, b, x, tolerance, 0.0, iterations)
    }

    fn iterate(&mut self, engine: &Engine<f64>, iterations: usize) -> Result<Solution> {
        self.solve(engine, 1e-14, iterations)
    }

    /// `|b - A x| / |b|`, by the plain product.
    fn residual(&self) -> Result<f64> {
        let (product, b) = (self.plain.apply(self.x.read()?), self.b.read()?);
        Ok(difference(&product, b) / norm(b))
    }
}

impl Work for Solver {
    fn reset(&mut self) -> Result<()> {
        self.x.write()?.fill(0.0);
        // A device with memory of its own is given the zeros here, not in the time of a solve.
        self.x.share(usize::MAX, 0)?;
        Ok(())
    }

    fn call(&mut self, engine: &Engine<f64>) -> Result<f64> {
        let Some(tolerance) = self.tolerance else {
            // A tiny matrix is solved exactly at once.
            return Ok(self.iterate(engine, self.iterations)?.iterations.max(1) as f64);
        };
        self.solve(engine, tolerance, MOST).map(|_| 1.0)
    }

    /// A whole solve ends below its tolerance. Otherwise a few iterations give the plain loop's
    /// `x`, and after many the residual of the recurrence is that of `x`.
    fn verify(&mut self, engine: &Engine<f64>) -> Result<bool> {
        self.reset()?;
        if let Some(tolerance) = self.tolerance {
            self.solve(engine, tolerance, MOST)?;
            return Ok(self.residual()? <= tolerance * (1.0 + 1e-5));
        }
        let b = self.b.read()?.to_vec();
        self.iterate(engine, COMPARED)?;
        let expected = plain(&self.plain, &b, COMPARED);
        let distance = difference(self.x.read()?, &expected);
        let same = distance <= 1e-8 * norm(&expected);
        self.reset()?;
        let [least, most] = ITERATIONS;
        let start = Instant::now();
        let solution = self.iterate(engine, least)?;
        let iteration_s = start.elapsed().as_secs_f64() / least as f64;
        self.iterations = ((SOLVE_S / iteration_s) as usize).clamp(least, most);
        let residual = self.residual()?;
        Ok(same && (residual - solution.residual).abs() <= 1e-6 * residual + 1e-11)
    }

    fn sites(&self) -> Vec<&Place> {
        self.solver.sites()
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn difference(x: &[f64], y: &[f64]) -> f64 {
    let squares = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y));
    squares.sum::<f64>().sqrt()
}

/// The plain loop (Hestenes and Stiefel 1952, with Jacobi's preconditioner).
fn plain(a: &Csr, b: &[f64], iterations: usize) -> Vec<f64> {
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    let d = a.diag();
    let scaled = |r: &[f64]| -> Vec<f64> { r.iter().zip(&d).map(|(r, d)| r / d).collect() };
    let (mut x, mut r) = (vec![0.0; b.len()], b.to_vec());
    let mut p = scaled(&r);
    let mut rz = dot(&r, &p);
    let enough = 1e-28 * dot(b, b);
    for _ in 0..iterations {
        if dot(&r, &r) <= enough {
            break;
        }
        let q = a.apply(&p);
        let alpha = rz / dot(&p, &q);
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += alpha * p);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        let z = scaled(&r);
        let before = std::mem::replace(&mut rz, dot(&r, &z));
        let beta = rz / before;
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
    }
    x
}
