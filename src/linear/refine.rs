//! `r = b - A x` in double, `A d = r` in single, `x <- x + d` in double precision: refinement that
//! reaches what double precision reaches, with most of the traffic halved (Wilkinson 1963; with
//! conjugate gradients that keep their directions from one refinement to the next: reliable
//! updates, Clark et al. 2010, section 3.3).

use std::rc::Rc;

use super::guess::Guess;
use super::pcg::{Pcg, Solution};
use super::precond::Pattern;
use super::{Bounds, Follow};
use crate::Result;
use crate::cluster::Halo;
use crate::kernel;
use crate::node::Buffer;
use crate::sparse::{Csr, Repeated, Sell};
use crate::split::{Convert, Engine, Operands, Place, Site};

/// By how much the inner iterations reduce the residual before it is computed anew: 0.03 to 0.3
/// take the same number of them, 1e-3 up to 25 % more.
const REDUCTION: f64 = 0.03;
/// The last inner solve aims this much below the tolerance.
const MARGIN: f64 = 0.99;
/// A refinement that leaves more than this share of the residual has not helped; after so many in
/// turn, round-off in double precision is reached.
const STALLED: f64 = 0.7;
const STALLED_MOST: usize = 3;

/// A solver for one symmetric, positive (semi-)definite matrix; everything is allocated here.
pub struct Refine {
    matrix: Sell<f64>,
    halo: Rc<Halo>,
    /// Rows of all ranks.
    rows: f64,
    singular: bool,
    /// One on rows, zero on padding.
    ones: Buffer<f64>,
    /// The same for the guess, whose norms are plain ones here.
    root: Repeated<f64>,
    r: Buffer<f64>,
    /// The residual and the correction in single precision, times `2^k`.
    inner_r: Buffer<f32>,
    inner_d: Buffer<f32>,
    residual: Site<f64>,
    norm: Site<f64>,
    mean: Site<f64>,
    shift: Site<f64>,
    narrow: Convert,
    widen: Convert,
    inner: Pcg<f32>,
    guess: Option<Guess<f64>>,
    /// Power of two that brings the largest diagonal entry near 1 in single precision.
    unit: f64,
}

impl Refine {
    /// Prepares to solve with `a` on an engine of mixed precision; `singular`, `fsai` and `halo` as
    /// for [`Pcg::over`].
    ///
    /// # Errors
    /// Out of memory; an engine of one precision; a rank no longer answers.
    pub fn new(
        engine: &Engine<f64>,
        a: &Csr,
        singular: bool,
        fsai: Option<Pattern>,
        halo: &Rc<Halo>,
    ) -> Result<Self> {
        let (n, node, single) = (a.rows, &engine.node, inner_engine(engine)?);
        let mut residual = engine.site(kernel::spmv_add::kernel(), "poisson residual, fp64", n)?;
        let largest = a.diag().iter().fold(0.0f64, |m, d| m.max(d.abs()));
        // The same on all ranks: they share one inner system.
        let unit = power_of_two(1.0 / engine.comm().largest(largest)?);
        let mut scaled = a.clone();
        scaled.val.iter_mut().for_each(|v| *v *= unit);
        let matrix = Sell::fixed(node, a)?;
        engine.keep_border(&mut residual, halo, &matrix);
        Ok(Self {
            matrix,
            halo: Rc::clone(halo),
            rows: engine.comm().sum(n as f64)?.max(1.0),
            singular,
            ones: node.buffer_from(&vec![1.0; n])?,
            root: Repeated::new(node, &vec![1.0; n])?,
            r: node.buffer(n)?,
            inner_r: single.node.buffer(n)?,
            inner_d: single.node.buffer(n)?,
            norm: engine.site(kernel::dot::kernel(), "poisson norm, fp64", n)?,
            mean: engine.site(kernel::dot::kernel(), "poisson mean, fp64", n)?,
            shift: engine.site(kernel::axpy::kernel(), "poisson mean removal, fp64", n)?,
            narrow: engine.narrowing("poisson residual to fp32", &residual)?,
            widen: engine.widening("poisson correction", &residual)?,
            residual,
            inner: Pcg::over(single, &scaled, singular, fsai, halo)?,
            guess: None,
            unit,
        })
    }

    /// As [`Pcg::remember`].
    ///
    /// # Errors
    /// Out of memory.
    pub fn remember(&mut self, engine: &Engine<f64>) -> Result<()> {
        let name = |what: &str| format!("poisson {what}, fp64");
        self.guess = Some(Guess::new(engine, self.r.len(), &name)?);
        Ok(())
    }

    /// As [`Pcg::solve`]; the residual is the true one, in double precision, and relative to
    /// `max(|b|, floor / tolerance)`.
    ///
    /// # Errors
    /// The device failed.
    pub fn solve(
        &mut self,
        engine: &Engine<f64>,
        b: &mut Buffer<f64>,
        x: &mut Buffer<f64>,
        tolerance: f64,
        floor: f64,
        max_iterations: usize,
    ) -> Result<Solution> {
        let bounds = Bounds {
            tolerance,
            floor,
            max_iterations,
        };
        Ok(self.solve_then(engine, b, x, bounds, None)?.0)
    }

    /// As [`Solve::solve_then`](super::Solve::solve_then); it has no time to spare.
    ///
    /// # Errors
    /// The device failed.
    pub fn solve_then(
        &mut self,
        engine: &Engine<f64>,
        b: &mut Buffer<f64>,
        x: &mut Buffer<f64>,
        bounds: Bounds,
        _: Option<Follow<'_, f64>>,
    ) -> Result<(Solution, bool)> {
        let Bounds {
            tolerance,
            floor,
            max_iterations,
        } = bounds;
        let single = inner_engine(engine)?;
        if self.singular {
            self.remove_mean(engine, b)?;
        }
        let norm = dot(engine, &mut self.norm, b, b)?.sqrt();
        // One norm for both bounds: |r| <= tolerance |b| or |r| <= floor.
        let size = norm.max(floor / tolerance);
        let mut s = Solution::default();
        let (mut scale, mut before, mut stalled) = (1.0, f64::INFINITY, 0);
        let mut goes_on = false;
        loop {
            let mut rr = self.true_residual(engine, b, x)?;
            if before.is_infinite() && rr.sqrt() > tolerance * size {
                rr = self.go_along(engine, x, rr)?;
            }
            s.residual = if rr > 0.0 { rr.sqrt() / size } else { rr };
            if before.is_infinite() {
                s.initial = s.residual;
                scale = power_of_two((self.rows / rr).sqrt());
            }
            s.converged = s.residual <= tolerance;
            stalled = if s.residual > STALLED * before {
                stalled + 1
            } else {
                0
            };
            let over = s.converged || s.iterations >= max_iterations || stalled >= STALLED_MOST;
            if over || !s.residual.is_finite() {
                if let Some(guess) = &mut self.guess {
                    guess.end(engine, [x, &self.r], s.iterations)?;
                }
                return Ok((s, false));
            }
            before = s.residual;
            engine.narrow(
                &mut self.narrow,
                &self.residual,
                scale,
                &mut self.inner_r,
                &self.r,
            )?;
            let aim = REDUCTION.max(MARGIN * tolerance / s.residual);
            let left = max_iterations - s.iterations;
            let (r, d) = (&mut self.inner_r, &mut self.inner_d);
            let done = self.inner.correct(single, r, d, aim, left, goes_on)?;
            s.iterations += done.iterations;
            goes_on = done.goes_on;
            let back = self.unit / scale;
            engine.widen(&mut self.widen, &self.residual, back, x, d)?;
        }
    }

    /// Goes on from `x` along the steps of the solves before; `r.r` there.
    fn go_along(&mut self, engine: &Engine<f64>, x: &mut Buffer<f64>, rr: f64) -> Result<f64> {
        let Some(guess) = self.guess.as_mut().filter(|g| g.pays()) else {
            return Ok(rr);
        };
        guess.project(engine, &self.r)?;
        if !guess.projected(engine)? {
            return Ok(rr);
        }
        guess.add(engine, [x, &mut self.r], &self.root)?;
        let [added] = engine.reductions([guess.added_mut()])?;
        Ok(added[0])
    }

    /// `b <- b - mean(b)`.
    fn remove_mean(&mut self, engine: &Engine<f64>, b: &mut Buffer<f64>) -> Result<()> {
        let sum = dot(engine, &mut self.mean, b, &self.ones)?;
        let mean = sum / self.rows;
        engine.post(
            &mut self.shift,
            Operands {
                inout: &mut [b],
                own: &[&self.ones],
                scalars: &[-mean],
                ..Operands::default()
            },
        )?;
        Ok(())
    }

    /// `r = b - A x`; returns r.r.
    fn true_residual(
        &mut self,
        engine: &Engine<f64>,
        b: &Buffer<f64>,
        x: &mut Buffer<f64>,
    ) -> Result<f64> {
        let halo = engine.exchange(&self.halo, x)?;
        engine.post(
            &mut self.residual,
            Operands {
                out: &mut [&mut self.r],
                own: &[b],
                gather: &[&*x],
                mats: &[&self.matrix],
                scalars: &[-1.0],
                halo,
                ..Operands::default()
            },
        )?;
        dot(engine, &mut self.norm, &self.r, &self.r)
    }

    /// Its call sites, for reports.
    pub fn sites(&self) -> Vec<&Place> {
        let mut all: Vec<&Place> = vec![&self.residual, &self.norm, &self.mean, &self.shift];
        all.extend([self.narrow.place(), self.widen.place()]);
        all.extend(self.inner.sites());
        all.extend(self.guess.iter().flat_map(Guess::sites));
        all
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        self.ones.copied_bytes()
            + self.root.copied_bytes()
            + self.r.copied_bytes()
            + self.inner_r.copied_bytes()
            + self.inner_d.copied_bytes()
            + self.inner.copied_bytes()
            + self.guess.as_ref().map_or(0, Guess::copied_bytes)
    }
}

fn inner_engine(engine: &Engine<f64>) -> Result<&Engine<f32>> {
    engine.single.as_deref().ok_or_else(|| {
        crate::Error::failure(
            "refinement was asked of an engine of one precision",
            "report this as a defect",
        )
    })
}

fn dot(
    engine: &Engine<f64>,
    site: &mut Site<f64>,
    a: &Buffer<f64>,
    b: &Buffer<f64>,
) -> Result<f64> {
    let own = &[a, b];
    let s = engine.run(
        site,
        Operands {
            own,
            ..Operands::default()
        },
    )?;
    Ok(s[0])
}

/// The power of two nearest below `x`, within what divides and multiplies without loss; 1 for
/// zero and what is not finite.
fn power_of_two(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() {
        x.log2().floor().clamp(-500.0, 500.0).exp2()
    } else {
        1.0
    }
}
