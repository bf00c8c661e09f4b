//! Preconditioned conjugate gradients with Jacobi's preconditioner, in three sweeps per
//! iteration: `q = A p` with p.q; x, r with r.z and r.r; p (Hestenes and Stiefel 1952; counts of
//! the unfused form in the thesis, table 2.1).
//!
//! Other preconditioners will stand beside Jacobi here; its diagonal is folded into the second
//! and third sweep.

use crate::Result;
use crate::kernel::{self, Real};
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Operands, Place, Site};

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solution {
    /// Iterations done.
    pub iterations: usize,
    /// `|b - A x0| / max(|b|, floor / tolerance)`.
    pub initial: f64,
    /// The same at the end, of the recurrence.
    pub residual: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// A solver for one symmetric, positive (semi-)definite matrix; everything is allocated here.
pub struct Pcg<T: Real> {
    matrix: Sell<T>,
    singular: bool,
    inverse_diagonal: Buffer<T>,
    /// One on rows, zero on padding.
    ones: Buffer<T>,
    r: Buffer<T>,
    p: Buffer<T>,
    q: Buffer<T>,
    residual: Site<T>,
    norm: Site<T>,
    mean: Site<T>,
    shift: Site<T>,
    product: Site<T>,
    update: Site<T>,
    direction: Site<T>,
}

impl<T: Real> Pcg<T> {
    /// Prepares to solve with `a`. A `singular` system is one whose rows sum to zero on every
    /// connected part (no pressure is given anywhere): the mean of `b` is removed.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(engine: &Engine<T>, a: &Csr, singular: bool) -> Result<Self> {
        let n = a.rows;
        let node = &engine.node;
        let d: Vec<T> = a
            .diag()
            .iter()
            .map(|&d| T::of(if d > 0.0 { 1.0 / d } else { 0.0 }))
            .collect();
        Ok(Self {
            matrix: Sell::from_csr(node, a)?,
            singular,
            inverse_diagonal: node.buffer_from(&d)?,
            ones: node.buffer_from(&vec![T::of(1.0); n])?,
            r: node.buffer(n)?,
            p: node.buffer(n)?,
            q: node.buffer(n)?,
            residual: engine.site(kernel::spmv_add::kernel(), "poisson residual", n)?,
            norm: engine.site(kernel::dot::kernel(), "poisson norm", n)?,
            mean: engine.site(kernel::dot::kernel(), "poisson mean", n)?,
            shift: engine.site(kernel::axpy::kernel(), "poisson mean removal", n)?,
            product: engine.site(kernel::spmv_dot::kernel(), "poisson product", n)?,
            update: engine.site(kernel::pcg_update::kernel(), "poisson update", n)?,
            direction: engine.site(kernel::pcg_direction::kernel(), "poisson direction", n)?,
        })
    }

    /// Solves `A x = b` from the present `x` until `|r| <= tolerance |b|`, or `|r| <= floor`,
    /// the round-off in `b`. `b` loses its mean where the system is singular.
    ///
    /// # Errors
    /// The device failed.
    pub fn solve(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        tolerance: f64,
        floor: f64,
        max_iterations: usize,
    ) -> Result<Solution> {
        self.run(engine, b, x, [tolerance, floor], max_iterations, false)
    }

    /// Solves `A x = b` like [`Pcg::solve`], where `b` is the residual that the last solve left,
    /// computed anew, and `x` is zero: the directions of the last solve go on, `p <- p + D^-1 (r -
    /// r_old)`, so that convergence is not set back (reliable updates: Clark et al. 2010, section
    /// 3.3).
    ///
    /// # Errors
    /// The device failed.
    pub fn resume(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        tolerance: f64,
        max_iterations: usize,
    ) -> Result<Solution> {
        self.run(engine, b, x, [tolerance, 0.0], max_iterations, true)
    }

    fn run(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        [tolerance, floor]: [f64; 2],
        max_iterations: usize,
        resume: bool,
    ) -> Result<Solution> {
        if resume {
            // p <- z - p with the old residual here, and with the new one below.
            self.turn(engine, -1.0)?;
        }
        if self.singular {
            let own = &[&*b, &self.ones];
            let sum = engine.run(
                &mut self.mean,
                Operands {
                    own,
                    ..Operands::default()
                },
            )?[0];
            let mean = sum.f64() / b.len().max(1) as f64;
            engine.run(
                &mut self.shift,
                Operands {
                    inout: &mut [b],
                    own: &[&self.ones],
                    scalars: &[T::of(-mean)],
                    ..Operands::default()
                },
            )?;
        }
        let own = &[&*b, &*b];
        let bb = engine.run(
            &mut self.norm,
            Operands {
                own,
                ..Operands::default()
            },
        )?[0]
            .f64();
        engine.run(
            &mut self.residual,
            Operands {
                out: &mut [&mut self.r],
                own: &[&*b],
                gather: &[&*x],
                mats: &[&self.matrix],
                scalars: &[T::of(-1.0)],
                ..Operands::default()
            },
        )?;
        // A zero step leaves x and r as they are and gives the first r.z and r.r.
        let (mut rz, mut rr) = self.advance(engine, x, 0.0)?;
        // One norm for both bounds: |r| <= tolerance |b| or |r| <= floor.
        let scale = bb.sqrt().max(floor / tolerance);
        let relative = |rr: f64| if rr > 0.0 { rr.sqrt() / scale } else { rr };
        let mut s = Solution {
            initial: relative(rr),
            ..Solution::default()
        };
        self.turn(engine, if resume { -1.0 } else { 0.0 })?;
        loop {
            s.residual = relative(rr);
            s.converged = s.residual <= tolerance;
            if s.converged || s.iterations >= max_iterations || !s.residual.is_finite() {
                return Ok(s);
            }
            let pq = engine.run(
                &mut self.product,
                Operands {
                    out: &mut [&mut self.q],
                    own: &[&self.p],
                    gather: &[&self.p],
                    mats: &[&self.matrix],
                    ..Operands::default()
                },
            )?[0]
                .f64();
            if pq <= 0.0 || !pq.is_finite() {
                // No curvature left in this direction: round-off, or a matrix that is not
                // positive. The caller sees that the tolerance was not reached.
                return Ok(s);
            }
            let before = rz;
            (rz, rr) = self.advance(engine, x, rz / pq)?;
            self.turn(engine, rz / before)?;
            s.iterations += 1;
        }
    }

    /// `x += alpha p`, `r -= alpha q`; returns r.z and r.r.
    fn advance(&mut self, engine: &Engine<T>, x: &mut Buffer<T>, alpha: f64) -> Result<(f64, f64)> {
        let s = engine.run(
            &mut self.update,
            Operands {
                inout: &mut [x, &mut self.r],
                own: &[&self.p, &self.q, &self.inverse_diagonal],
                scalars: &[T::of(alpha)],
                ..Operands::default()
            },
        )?;
        Ok((s[0].f64(), s[1].f64()))
    }

    /// `p = z + beta p`.
    fn turn(&mut self, engine: &Engine<T>, beta: f64) -> Result<()> {
        let beta = if beta.is_finite() { beta } else { 0.0 };
        engine.run(
            &mut self.direction,
            Operands {
                inout: &mut [&mut self.p],
                own: &[&self.r, &self.inverse_diagonal],
                scalars: &[T::of(beta)],
                ..Operands::default()
            },
        )?;
        Ok(())
    }

    /// Its call sites, for reports.
    pub fn sites(&self) -> Vec<&Place> {
        vec![
            &self.residual,
            &self.norm,
            &self.mean,
            &self.shift,
            &self.product,
            &self.update,
            &self.direction,
        ]
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        let own = [
            &self.r,
            &self.p,
            &self.q,
            &self.inverse_diagonal,
            &self.ones,
        ];
        own.iter().map(|b| b.copied_bytes()).sum()
    }
}
