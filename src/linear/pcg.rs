//! Conjugate gradients on the system scaled to unit diagonal (Jacobi's preconditioner),
//! or on that behind another [factor](super::precond), in two sweeps and one reduction per
//! iteration.
//!
//! An iteration is `s = A p` with its sums, then `y`, the residual and the next direction in one sweep: the
//! scalar that the direction needs is predicted from the sums (see [`pcg_scalars`]; Chen and Carson 2020),
//! and the residual is in no vector, for two directions have it. The one
//! reduction per iteration is what Chronopoulos and Gear's form is made for, with a sweep more; a
//! single lagged sweep would save a write and a read of `s`, and needs a bounded bandwidth.
//! On several ranks its sums travel in one message: one reduction per iteration, and, per solve, one
//! for what is known at its start and one for the residual at its end. It has fewer
//! sweeps than the textbook's two-reduction form, too, so it is the quicker one at any latency, and
//! no other is kept.

mod ahead;
mod beyond;
mod correct;
mod iterate;
mod leg;
mod pace;
mod solve;
mod start;
mod watch;

use std::rc::Rc;

use pace::Pace;
use start::Began;
use watch::Watch;

use super::guess::Guess;
use super::precond::{Factor, Pattern};
use super::share::share;
use super::system::{System, roots, scaled};
use crate::Result;
use crate::cluster::Halo;
use crate::kernel::pcg_scalars::LENGTH;
use crate::kernel::{self, Real, pcg_first, pcg_scalars};
use crate::node::Buffer;
use crate::sparse::Csr;
use crate::split::{Engine, Finish, Legs, Place, Rule, Site};

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solution {
    /// Iterations done.
    pub iterations: usize,
    /// `|b - A x0| / |b|`, `x0` the first guess; over `floor / tolerance` where b is no more than its round-off, `floor`.
    pub initial: f64,
    /// The same at the end, of the solution itself.
    pub residual: f64,
    /// Whether the tolerance was reached, or all that the precision can give: then the residual is
    /// above the tolerance.
    pub converged: bool,
    /// Whether it ended at the round-off in `b - A x`, above the tolerance and `floor`.
    pub rounded: bool,
}

/// A solver for one symmetric, positive (semi-)definite matrix; everything is allocated here.
pub struct Pcg<T: Real> {
    system: System<T>,
    halo: Rc<Halo>,
    factor: Option<Factor<T>>,
    guess: Option<Guess<T>>,
    p: Buffer<T>,
    /// The direction before.
    old: Buffer<T>,
    s: Buffer<T>,
    /// At the state on the device: dropped before that.
    watch: Option<Watch<T>>,
    /// Iterations by one launch, where the device does that.
    legs: Option<Legs<T>>,
    /// The first one's state, where the device finds that itself.
    first: Option<Rule>,
    state: Buffer<T>,
    /// The state of a solve that has not begun.
    unstopped: Buffer<T>,
    begin: Site<T>,
    product: Site<T>,
    step: Site<T>,
    scalars: Finish<T>,
    pace: Pace,
    /// What has left the first direction.
    began: Began,
    /// The weight of the direction before in the next one.
    beta: T,
    /// Steps after the last one may have left another sum than that of its residual.
    lacks_sum: bool,
    /// The last solve had its solution at its first look at the residual.
    ends_at_once: bool,
    /// Iterations of the last solve that had any.
    took: usize,
    /// What the last leg left was the end of its iterations: nothing was owed, or to be done one by one.
    ends_by_leg: bool,
    /// How many first legs were started ahead, and how often what comes beyond one was.
    #[cfg(test)]
    started_ahead: [usize; 2],
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
        let name = |what: &str| name(what, fsai.is_some());
        let system = System::new(engine, &unit, (&root, share), singular, halo, &name)?;
        let factor = fsai.map(|p| Factor::new(engine, &unit, p, halo, &system.beside));
        let factor = factor.transpose()?;
        // Rows of the system that is iterated on.
        let m = factor.as_ref().map_or(n, Factor::rows);
        let watch = node.device.as_deref().map(|d| Watch::new(engine, d, m));
        let mut product = engine.site(kernel::pcg_product::kernel(), &name("product"), m)?;
        match &factor {
            Some(factor) => factor.keep_border(engine, &mut product),
            None => engine.keep_border(&mut product, halo, &system.beside),
        }
        let legs = match &factor {
            None if halo.is_empty() => engine.legs(&system.beside)?,
            _ => None,
        };
        let mut step = engine.site(kernel::pcg_step::kernel(), &name("step"), m)?;
        // Every second one leaves `y` to the next.
        step.takes_turns(2);
        Ok(Self {
            system,
            halo: Rc::clone(halo),
            factor,
            guess: None,
            p: node.buffer_with_halo(m, halo.len())?,
            old: node.buffer_with_halo(m, halo.len())?,
            s: node.buffer(m)?,
            state: node.buffer(LENGTH)?,
            unstopped: node.buffer(LENGTH)?,
            begin: engine.site(kernel::pcg_begin::kernel(), &name("start"), n)?,
            product,
            step,
            scalars: engine.finish(pcg_scalars::scalars(), &name("scalars"))?,
            watch: watch.transpose()?,
            first: match legs {
                Some(_) => engine.rule(pcg_first::NAME)?,
                None => None,
            },
            legs,
            pace: Pace::default(),
            began: Began::Direction,
            beta: T::ZERO,
            lacks_sum: false,
            ends_at_once: false,
            took: 0,
            ends_by_leg: true,
            #[cfg(test)]
            started_ahead: [0; 2],
        })
    }

    /// From now on a solve begins along the steps of those before: see [`guess`](super::guess).
    ///
    /// # Errors
    /// Out of memory.
    pub fn remember(&mut self, engine: &Engine<T>) -> Result<()> {
        let behind_factor = self.factor.is_some();
        let name = |what: &str| name(what, behind_factor);
        let guess = Guess::new(engine, self.system.f.len(), &name)?;
        self.guess = Some(guess);
        Ok(())
    }

    /// Its call sites, for reports.
    pub fn sites(&self) -> Vec<&Place> {
        let mut all = self.system.sites().to_vec();
        let scalars = self.scalars.place();
        let own: [&Place; 4] = [&self.begin, &self.product, &self.step, scalars];
        all.extend(own);
        all.extend(self.factor.iter().flat_map(Factor::sites));
        all.extend(self.guess.iter().flat_map(Guess::sites));
        all
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        let own = [&self.p, &self.old, &self.s, &self.state];
        own.iter().map(|b| b.copied_bytes()).sum::<u64>()
            + self.system.copied_bytes()
            + self.factor.as_ref().map_or(0, Factor::copied_bytes)
            + self.guess.as_ref().map_or(0, Guess::copied_bytes)
    }
}

/// The name of a call site, by which cuts are remembered.
fn name(what: &str, behind_factor: bool) -> String {
    let behind = if behind_factor { " (fsai)" } else { "" };
    format!("poisson {what}{behind}")
}
