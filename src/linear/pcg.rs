//! Conjugate gradients on the system scaled to unit diagonal (Jacobi's preconditioner),
//! or on that behind another [factor](super::precond), in two sweeps and one reduction per
//! iteration.
//!
//! An iteration is `s = A p` with its sums, then `y`, `r` and `p` in one sweep: the scalar that the
//! direction needs is predicted from the sums (see [`pcg_scalars`]; Chen and Carson 2020). The one
//! reduction per iteration is what Chronopoulos and Gear's form is made for, with a sweep more; a
//! single lagged sweep would save a write and a read of `s`, and needs a bounded bandwidth.
//! On several ranks its sums travel in one message: one reduction per iteration, and, per solve, one
//! for each norm that is checked (three, and one more for a singular system's mean). It has fewer
//! sweeps than the textbook's two-reduction form, too, so it is the quicker one at any latency, and
//! no other is kept.
//!
//! The criterion is the true residual of the system before, `|b - A x|`. The recurrence only knows
//! `r . r`, so the solve goes on until `w r . r` is small enough, `w` the ratio of the two at the
//! last check, and then checks. Where the residual has not come down as the recurrence says, the
//! true one replaces it.

mod correct;
mod iterate;
mod pace;

use std::rc::Rc;

use pace::Pace;

use super::precond::{Factor, Pattern};
use super::share::share;
use super::system::{System, roots, scaled};
use crate::Result;
use crate::cluster::Halo;
use crate::kernel::pcg_scalars::{ALPHA, BOUND, ITERATIONS, LENGTH, NEXT, STOP, WEIGHT};
use crate::kernel::{self, Real, pcg_scalars};
use crate::node::Buffer;
use crate::sparse::Csr;
use crate::split::{Engine, Finish, Glance, Operands, Place, Site};

/// Growth of `|b - A x|^2` over `r . r` that shows that the recurrence has drifted.
const DRIFT: f64 = 4.0;
/// A true residual that falls by less from one replacement to the next is at its end.
const PROGRESS: f64 = 0.25;

/// A squared residual within this of what round-off in it can leave does not come down any more,
/// whatever the recurrence says: its updates of x are rounded, too (Greenbaum 1997; van der Vorst
/// and Ye 2000). Those who go on lose what they have.
const NEAR: f64 = 4.0;
/// The same where the residual has not come down from one replacement to the next.
const FAR: f64 = 100.0;

/// By how many times the precision a residual falls before the true one is computed.
const LEG: f64 = 1e3;

/// By how much squares are to be larger than the least number.
const ROOM: f64 = 1e12;

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solution {
    /// Iterations done.
    pub iterations: usize,
    /// `|b - A x0| / |b|`; over `floor / tolerance` where b is no more than its round-off, `floor`.
    pub initial: f64,
    /// The same at the end, of the solution itself.
    pub residual: f64,
    /// Whether the tolerance was reached, or all that the precision can give: then the residual is
    /// above the tolerance.
    pub converged: bool,
    /// Whether it ended at the round-off in `b - A x`, above the tolerance and `floor`.
    pub rounded: bool,
}

/// How a solve begins, or begins anew.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// Along the residual.
    Anew,
    /// Along the present direction, with the true residual in the place of the recurrence's.
    Replaced,
    /// As it is.
    Same,
}

/// A solver for one symmetric, positive (semi-)definite matrix; everything is allocated here.
pub struct Pcg<T: Real> {
    system: System<T>,
    halo: Rc<Halo>,
    factor: Option<Factor<T>>,
    r: Buffer<T>,
    p: Buffer<T>,
    s: Buffer<T>,
    /// At the state on the device: dropped before that.
    glance: Option<Glance<T>>,
    state: Buffer<T>,
    begin: Site<T>,
    product: Site<T>,
    step: Site<T>,
    scalars: Finish<T>,
    pace: Pace,
}

impl<T: Real> Pcg<T> {
    /// Prepares to solve with `a`. A `singular` system is one whose rows sum to zero on every
    /// connected part (no pressure is given anywhere): the mean of `b` is removed.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(engine: &Engine<T>, a: &Csr, singular: bool) -> Result<Self> {
        Self::with(engine, a, singular, None)
    }

    /// As [`Pcg::new`], behind a factorised sparse approximate inverse of that pattern.
    ///
    /// # Errors
    /// Out of memory.
    pub fn with(
        engine: &Engine<T>,
        a: &Csr,
        singular: bool,
        fsai: Option<Pattern>,
    ) -> Result<Self> {
        Self::over(engine, a, singular, fsai, &Halo::none())
    }

    /// As [`Pcg::with`], on one of several ranks: `a` has the columns of `halo`, the rows of all
    /// ranks make up the system, and all must call this, and solve, together. The approximate
    /// inverse is that of each rank's own block, but for rows of two colours. A singular matrix
    /// stays singular when it is rounded to single precision.
    ///
    /// # Errors
    /// As [`Pcg::with`]; a rank no longer answers.
    pub fn over(
        engine: &Engine<T>,
        a: &Csr,
        singular: bool,
        fsai: Option<Pattern>,
        halo: &Rc<Halo>,
    ) -> Result<Self> {
        let mut root = roots(engine, a, halo)?;
        // A factor is made for a diagonal of 1.
        let share = if singular && fsai.is_none() && T::EPSILON > f64::EPSILON {
            share(engine.comm(), a, &root)?
        } else {
            1.0
        };
        // Of what is left of the diagonal.
        root.iter_mut().for_each(|d| *d /= share.sqrt());
        let (n, node) = (a.rows, &engine.node);
        let unit = scaled(a, &root, share);
        // Cuts are remembered by name.
        let behind = if fsai.is_some() { " (fsai)" } else { "" };
        let name = |what: &str| format!("poisson {what}{behind}");
        let system = System::new(engine, &unit, (&root, share), singular, halo, &name)?;
        let factor = fsai.map(|p| Factor::new(engine, &unit, p, halo, &system.beside));
        let factor = factor.transpose()?;
        // Rows of the system that is iterated on.
        let m = factor.as_ref().map_or(n, Factor::rows);
        let glance = node.device.as_deref().map(|d| Glance::new(d, LENGTH));
        let behind_factor = factor.is_some();
        let mut product = engine.site(kernel::pcg_product::kernel(), &name("product"), m)?;
        match &factor {
            Some(factor) => factor.keep_border(engine, &mut product),
            None => engine.keep_border(&mut product, halo, &system.beside),
        }
        Ok(Self {
            system,
            halo: Rc::clone(halo),
            factor,
            r: node.buffer(m)?,
            p: node.buffer_with_halo(m, halo.len())?,
            s: node.buffer(m)?,
            state: node.buffer(LENGTH)?,
            begin: engine.site(kernel::pcg_begin::kernel(), &name("start"), n)?,
            product,
            step: engine.site(kernel::pcg_step::kernel(), &name("step"), m)?,
            scalars: engine.finish(pcg_scalars::scalars(), &name("scalars"))?,
            glance: glance.transpose()?,
            pace: Pace::new(behind_factor),
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
        let bounds = [tolerance, floor];
        if T::EPSILON > f64::EPSILON {
            self.system.centre(engine, x)?;
        }
        self.run(engine, b, x, bounds, max_iterations, Start::Anew)
    }

    fn run(
        &mut self,
        engine: &Engine<T>,
        b: &Buffer<T>,
        x: &mut Buffer<T>,
        [tolerance, floor]: [f64; 2],
        max_iterations: usize,
        mut start: Start,
    ) -> Result<Solution> {
        let (bb, unit) = self.enter(engine, b, x, [tolerance, floor])?;
        // One norm for both bounds: |r| <= tolerance |b| or |r| <= floor.
        let norm = bb.sqrt();
        let floor = unit * floor;
        let least = (tolerance * norm).max(floor);
        let bound = least.powi(2);
        // What is no more than round-off is nothing to compare with.
        let scale = if norm > floor {
            norm
        } else {
            floor / tolerance
        };
        let relative = |rr: f64| if rr > 0.0 { rr.sqrt() / scale } else { rr };
        let enough = |rr: f64| rr.sqrt() <= least;
        let (mut rr, mut round_off) = self.residual(engine)?;
        let mut rounded = rr <= round_off;
        let mut s = Solution {
            initial: relative(rr),
            ..Solution::default()
        };
        let mut state = [T::ZERO; LENGTH];
        let (mut replaced, mut next) = (f64::INFINITY, 0.0);
        while !enough(rr) && !rounded && s.iterations < max_iterations && rr.is_finite() {
            let weight = match start {
                Start::Same => rr / next,
                _ if rr > PROGRESS * replaced => {
                    rounded = rr <= FAR * round_off;
                    break;
                }
                _ => {
                    replaced = rr;
                    rr / self.replace(engine, start)?
                }
            };
            // Below round-off the recurrence leads astray, and far below `rr` nobody knows.
            let leg = bound.max(round_off).max((LEG * T::EPSILON).powi(2) * rr);
            (state[WEIGHT], state[BOUND], state[STOP]) = (T::of(weight), T::of(leg), T::ZERO);
            let most = max_iterations - s.iterations;
            state = self.iterate(engine, &state, rr, start != Start::Same, most)?;
            if let Some(factor) = &mut self.factor {
                factor.end(engine, &mut self.system.y)?;
            }
            let before = rr;
            (rr, round_off) = self.residual(engine)?;
            // Out of reach, or so near to round-off that iterations no longer help.
            let end = bound < round_off || rr > PROGRESS * before;
            rounded = rr <= round_off || end && rr <= NEAR * round_off;
            s.iterations = state[ITERATIONS].f64() as usize;
            next = state[NEXT].f64();
            start = match () {
                // No curvature in this direction: round-off, or a matrix that is not positive.
                () if state[ALPHA] <= T::ZERO => Start::Anew,
                // The recurrence has drifted, or the ratio of the norms has moved a little.
                () if rr > DRIFT * weight * next => Start::Replaced,
                () => Start::Same,
            };
        }
        s.residual = relative(rr);
        s.rounded = rounded && !enough(rr);
        s.converged = rounded || enough(rr);
        self.system.leave(engine, x)?;
        Ok(s)
    }

    /// `|b|^2`, in a unit in which the squares of what is to be left of b are numbers, and the unit.
    fn enter(
        &mut self,
        engine: &Engine<T>,
        b: &Buffer<T>,
        x: &Buffer<T>,
        [tolerance, floor]: [f64; 2],
    ) -> Result<(f64, f64)> {
        let bb = self.system.enter(engine, b, x, 1.0)?;
        let bound = (tolerance * bb.sqrt()).max(floor).powi(2);
        let least = ROOM * T::LEAST * self.system.rows;
        if bound >= least || bb.is_nan() || bb == 0.0 {
            return Ok((bb, 1.0));
        }
        let unit = (least / bound).sqrt().log2().ceil().exp2();
        Ok((self.system.enter(engine, b, x, unit)?, unit))
    }

    /// See [`System::residual`]; the residual itself goes to where [`Pcg::replace`] finds it.
    fn residual(&mut self, engine: &Engine<T>) -> Result<(f64, f64)> {
        let t = match &mut self.factor {
            Some(factor) => factor.t(),
            None => &mut self.s,
        };
        self.system.residual(engine, t)
    }

    /// Puts the true residual in the place of the recurrence's; returns its `r . r`.
    fn replace(&mut self, engine: &Engine<T>, start: Start) -> Result<f64> {
        if let Some(factor) = &mut self.factor {
            let (rp, y) = ([&mut self.r, &mut self.p], &mut self.system.y);
            return factor.begin(engine, rp, y);
        }
        std::mem::swap(&mut self.r, &mut self.s);
        let keep = if start == Start::Anew { 0.0 } else { 1.0 };
        let o = Operands {
            inout: &mut [&mut self.p],
            own: &[&self.r, &self.s],
            scalars: &[T::of(keep)],
            ..Operands::default()
        };
        Ok(engine.run(&mut self.begin, o)?[0].f64())
    }

    /// Its call sites, for reports.
    pub fn sites(&self) -> Vec<&Place> {
        let mut all = self.system.sites().to_vec();
        let scalars = self.scalars.place();
        let own: [&Place; 4] = [&self.begin, &self.product, &self.step, scalars];
        all.extend(own);
        all.extend(self.factor.iter().flat_map(Factor::sites));
        all
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        let own = [&self.r, &self.p, &self.s, &self.state];
        own.iter().map(|b| b.copied_bytes()).sum::<u64>()
            + self.system.copied_bytes()
            + self.factor.as_ref().map_or(0, Factor::copied_bytes)
    }
}
