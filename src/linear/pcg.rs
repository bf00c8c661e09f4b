//! Conjugate gradients with Jacobi's preconditioner on the system scaled to unit diagonal, in two
//! sweeps and one reduction per iteration.
//!
//! With `d` the root of A's diagonal, `y = d x` and `f = b / d`, the scaled matrix is `I + L`, and
//! only L is stored. An iteration is `s = p + L p` with its sums, then `y`, `r` and `p` in one
//! sweep: the scalar that the direction needs is predicted from the sums (see
//! [`pcg_scalars`]; Chen and Carson 2020). On a grid with 7 entries per row in plain SELL it moves
//! 16 + 72 + 56 bytes per row.
//!
//! The criterion is the true residual of the system before, `|b - A x| = |d (f - y - L y)|`. The
//! recurrence only knows `r . r`, so the solve goes on until `w r . r` is small enough, `w` the
//! ratio of the two at the last check, and then checks. Where the residual has not come down as
//! the recurrence says, the true one replaces it.

use crate::Result;
use crate::kernel::pcg_scalars::{ALPHA, BOUND, ITERATIONS, LENGTH, NEXT, STOP, WEIGHT};
use crate::kernel::{self, Real, pcg_scalars};
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Finish, Operands, Site, Watch};

/// Iterations between two looks at a device that runs ahead.
const LOOK: usize = 8;
/// Growth of `|b - A x|^2` over `r . r` that shows that the recurrence has drifted.
const DRIFT: f64 = 4.0;
/// A true residual that falls by less from one replacement to the next is at its end.
const PROGRESS: f64 = 0.25;

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solution {
    /// Iterations done.
    pub iterations: usize,
    /// `|b - A x0| / max(|b|, floor / tolerance)`.
    pub initial: f64,
    /// The same at the end, of the solution itself.
    pub residual: f64,
    /// Whether the tolerance was reached, or all that the precision can give.
    pub converged: bool,
}

/// A solver for one symmetric, positive (semi-)definite matrix; everything is allocated here.
pub struct Pcg<T: Real> {
    /// The entries beside the unit diagonal.
    matrix: Sell<T>,
    singular: bool,
    /// Root of the diagonal, and one over it (zero where there is none).
    root: Buffer<T>,
    inverse: Buffer<T>,
    /// One on rows, zero on padding.
    ones: Buffer<T>,
    f: Buffer<T>,
    y: Buffer<T>,
    r: Buffer<T>,
    p: Buffer<T>,
    s: Buffer<T>,
    state: Buffer<T>,
    mean: Site<T>,
    enter: Site<T>,
    residual: Site<T>,
    begin: Site<T>,
    product: Site<T>,
    step: Site<T>,
    leave: Site<T>,
    scalars: Finish<T>,
    watch: Watch<T>,
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
        let root: Vec<f64> = a.diag().iter().map(|d| d.max(0.0).sqrt()).collect();
        let over = |d: f64| if d > 0.0 { 1.0 / d } else { 0.0 };
        let beside = Csr::from_rows(n, a.cols, |i, row| {
            let beside = a.row(i).filter(|&(j, _)| j != i);
            row.extend(beside.map(|(j, v)| (j as u32, v * (over(root[i]) * over(root[j])))));
        });
        let each =
            |f: &dyn Fn(f64) -> f64| -> Vec<T> { root.iter().map(|&d| T::of(f(d))).collect() };
        Ok(Self {
            matrix: Sell::from_csr(node, &beside)?,
            singular,
            root: node.buffer_from(&each(&|d| d))?,
            inverse: node.buffer_from(&each(&over))?,
            ones: node.buffer_from(&vec![T::of(1.0); n])?,
            f: node.buffer(n)?,
            y: node.buffer(n)?,
            r: node.buffer(n)?,
            p: node.buffer(n)?,
            s: node.buffer(n)?,
            state: node.buffer(LENGTH)?,
            mean: engine.site(kernel::dot::kernel(), "poisson mean", n)?,
            enter: engine.site(kernel::pcg_enter::kernel(), "poisson scaling", n)?,
            residual: engine.site(kernel::pcg_residual::kernel(), "poisson residual", n)?,
            begin: engine.site(kernel::pcg_begin::kernel(), "poisson start", n)?,
            product: engine.site(kernel::pcg_product::kernel(), "poisson product", n)?,
            step: engine.site(kernel::pcg_step::kernel(), "poisson step", n)?,
            leave: engine.site(kernel::pcg_leave::kernel(), "poisson solution", n)?,
            scalars: engine.finish(pcg_scalars::scalars())?,
            watch: Watch::new(LENGTH),
        })
    }

    /// Solves `A x = b` from the present `x` until `|b - A x| <= tolerance |b|`, or
    /// `|b - A x| <= floor`, the round-off in `b`; or until only the round-off in `b - A x` itself
    /// is left. The mean of `b` is left out where the system is singular.
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
        let bb = self.enter(engine, b, x)?;
        // One norm for both bounds: |r| <= tolerance |b| or |r| <= floor.
        let scale = bb.sqrt().max(floor / tolerance);
        let bound = (tolerance * scale).powi(2);
        let mut s = Solution::default();
        let mut rr = self.true_residual(engine, tolerance, scale, &mut s)?;
        s.initial = s.residual;
        self.state.write()?.fill(T::ZERO);
        let (mut weight, mut replaced) = (0.0, f64::INFINITY);
        let mut next = None;
        while !s.converged && s.iterations < max_iterations && s.residual.is_finite() {
            // The ratio of the norms has moved a little, or the recurrence has drifted.
            let moved = next.map(|next| rr / next).filter(|w| *w <= DRIFT * weight);
            let begun = moved.is_none();
            weight = match moved {
                Some(w) => w,
                None if rr > PROGRESS * replaced => break,
                None => {
                    replaced = rr;
                    rr / self.replace(engine)?
                }
            };
            let state = self.state.write()?;
            (state[WEIGHT], state[BOUND], state[STOP]) = (T::of(weight), T::of(bound), T::ZERO);
            self.iterate(engine, begun, max_iterations - s.iterations)?;
            let state = self.state.read()?;
            s.iterations = state[ITERATIONS].f64() as usize;
            // Without a step there was no curvature: round-off, or a matrix that is not positive.
            next = (state[ALPHA] > T::ZERO).then(|| state[NEXT].f64());
            rr = self.true_residual(engine, tolerance, scale, &mut s)?;
        }
        engine.post(
            &mut self.leave,
            Operands {
                out: &mut [x],
                own: &[&self.y, &self.inverse],
                ..Operands::default()
            },
        )?;
        Ok(s)
    }

    /// `f = (b - mean) / d`, `y = d x`; returns `|b - mean|^2`.
    fn enter(&mut self, engine: &Engine<T>, b: &Buffer<T>, x: &Buffer<T>) -> Result<f64> {
        let mut mean = 0.0;
        if self.singular {
            let own = &[b, &self.ones];
            let o = Operands {
                own,
                ..Operands::default()
            };
            mean = engine.run(&mut self.mean, o)?[0].f64() / b.len().max(1) as f64;
        }
        let o = Operands {
            out: &mut [&mut self.f, &mut self.y],
            own: &[b, x, &self.inverse, &self.root],
            scalars: &[T::of(mean)],
            ..Operands::default()
        };
        Ok(engine.run(&mut self.enter, o)?[0].f64())
    }

    /// Leaves the residual of the scaled system in `s`; returns `|b - A x|^2` and says whether
    /// that is enough.
    fn true_residual(
        &mut self,
        engine: &Engine<T>,
        tolerance: f64,
        scale: f64,
        solution: &mut Solution,
    ) -> Result<f64> {
        let o = Operands {
            out: &mut [&mut self.s],
            own: &[&self.f, &self.y, &self.root],
            gather: &[&self.y],
            mats: &[&self.matrix],
            ..Operands::default()
        };
        let sums = engine.run(&mut self.residual, o)?;
        let (rr, size) = (sums[0].f64(), sums[1].f64());
        let epsilon = match size_of::<T>() {
            4 => f64::from(f32::EPSILON),
            _ => f64::EPSILON,
        };
        let round_off = (2.0 * epsilon).powi(2) * size;
        solution.residual = if rr > 0.0 { rr.sqrt() / scale } else { rr };
        solution.converged = solution.residual <= tolerance || rr <= round_off;
        Ok(rr)
    }

    /// Begins anew from the residual in `s`; returns its `r . r`.
    fn replace(&mut self, engine: &Engine<T>) -> Result<f64> {
        std::mem::swap(&mut self.r, &mut self.s);
        let o = Operands {
            out: &mut [&mut self.p],
            own: &[&self.r],
            ..Operands::default()
        };
        Ok(engine.run(&mut self.begin, o)?[0].f64())
    }

    /// At most `most` iterations, until the recurrence falls below its bound. Where the device
    /// does all the work, nobody waits for it: iterations after the last do nothing.
    fn iterate(&mut self, engine: &Engine<T>, begun: bool, most: usize) -> Result<()> {
        self.watch.restart();
        for n in 0..most {
            engine.post(
                &mut self.product,
                Operands {
                    out: &mut [&mut self.s],
                    own: &[&self.p],
                    gather: &[&self.p],
                    mats: &[&self.matrix],
                    scalars: &[T::of(1.0)],
                    state: Some(&self.state),
                    ..Operands::default()
                },
            )?;
            let before = if begun && n == 0 {
                &self.begin
            } else {
                &self.step
            };
            let sums = [(before, 0), (&self.product, 0), (&self.product, 1)];
            let ahead = engine.reduce(&self.scalars, &sums, &mut self.state)?;
            engine.post(
                &mut self.step,
                Operands {
                    inout: &mut [&mut self.y, &mut self.r, &mut self.p],
                    own: &[&self.s],
                    state: Some(&self.state),
                    ..Operands::default()
                },
            )?;
            let stopped = |state: &[T]| state[STOP] > T::ZERO;
            let over = match &engine.node.device {
                Some(d) if ahead => {
                    let seen = match n % LOOK {
                        0 => self.watch.look(d, &self.state)?,
                        _ => None,
                    };
                    seen.is_some_and(stopped)
                }
                _ => stopped(self.state.read()?),
            };
            if over {
                break;
            }
        }
        Ok(())
    }

    /// Its call sites, for reports.
    pub fn sites(&self) -> Vec<&Site<T>> {
        vec![
            &self.mean,
            &self.enter,
            &self.residual,
            &self.begin,
            &self.product,
            &self.step,
            &self.leave,
        ]
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        let own = [
            &self.root,
            &self.inverse,
            &self.ones,
            &self.f,
            &self.y,
            &self.r,
            &self.p,
            &self.s,
            &self.state,
        ];
        own.iter().map(|b| b.copied_bytes()).sum()
    }
}
