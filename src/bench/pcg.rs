//! Conjugate gradients with Jacobi's preconditioner: time per iteration.

use std::rc::Rc;

use super::{Bench, Input, Needs, Work, vector};
use crate::Result;
use crate::linear::{Pcg, Solution};
use crate::node::Buffer;
use crate::sparse::Csr;
use crate::split::{Engine, Place};

pub(super) const BENCH: Bench = Bench {
    name: "pcg",
    unit: "iteration",
    needs: Needs::Definite,
    prepare,
    // The product, and 10 vectors that the two other sweeps read or write.
    effective_bytes: |input| Some(12.0 * input.nnz() + (16.0 + 80.0) * input.rows()),
};

/// Iterations of a timed solve; what comes before the first one is timed with them.
const ITERATIONS: usize = 50;
/// Iterations compared with the plain loop.
const COMPARED: usize = 8;

struct Solver {
    plain: Rc<Csr>,
    solver: Pcg<f64>,
    b: Buffer<f64>,
    x: Buffer<f64>,
}

fn prepare(engine: &Engine<f64>, input: &Input) -> Result<Box<dyn Work>> {
    let a = &input.matrix;
    Ok(Box::new(Solver {
        plain: Rc::clone(a),
        solver: Pcg::new(engine, a, false)?,
        b: vector(engine, a.rows, 1)?,
        x: engine.node.buffer(a.rows)?,
    }))
}

impl Solver {
    fn solve(&mut self, engine: &Engine<f64>, iterations: usize) -> Result<Solution> {
        let (b, x) = (&mut self.b, &mut self.x);
        self.solver.solve(engine, b, x, 1e-14, 0.0, iterations)
    }
}

impl Work for Solver {
    fn reset(&mut self) -> Result<()> {
        self.x.write()?.fill(0.0);
        Ok(())
    }

    fn call(&mut self, engine: &Engine<f64>) -> Result<f64> {
        // A tiny matrix is solved exactly at once.
        Ok(self.solve(engine, ITERATIONS)?.iterations.max(1) as f64)
    }

    /// A few iterations give the plain loop's `x`, and after many the residual of the
    /// recurrence is that of `x`.
    fn verify(&mut self, engine: &Engine<f64>) -> Result<bool> {
        let b = self.b.read()?.to_vec();
        self.reset()?;
        self.solve(engine, COMPARED)?;
        let expected = plain(&self.plain, &b, COMPARED);
        let distance = difference(self.x.read()?, &expected);
        let same = distance <= 1e-8 * norm(&expected);
        self.reset()?;
        let solution = self.solve(engine, ITERATIONS)?;
        let product = self.plain.apply(self.x.read()?);
        let residual = difference(&product, &b) / norm(&b);
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
