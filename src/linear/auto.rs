//! The faster preconditioner, by measurement: the first solves take turns, and what each needed per
//! decade of the residual decides.

use std::rc::Rc;
use std::time::Instant;

use super::pcg::{Pcg, Solution};
use super::{Bounds, Follow, Preconditioner};
use crate::Result;
use crate::cluster::{Comm, Halo};
use crate::kernel::Real;
use crate::node::Buffer;
use crate::sparse::Csr;
use crate::split::{Engine, Place};

/// Solves of each that count; the first of each does not.
const COUNTED: usize = 4;

/// A solver with each preconditioner, and the one chosen.
pub struct Auto<T: Real> {
    solvers: Vec<(Preconditioner, Pcg<T>)>,
    /// Seconds per decade of each.
    costs_s: Vec<Vec<f64>>,
    turn: usize,
    chosen: Option<usize>,
}

impl<T: Real> Auto<T> {
    /// Prepares all; parameters as for [`Pcg::new`].
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(engine: &Engine<T>, a: &Csr, singular: bool) -> Result<Self> {
        Self::over(engine, a, singular, &Halo::none())
    }

    /// As [`Auto::new`], on one of several ranks: see [`Pcg::over`].
    ///
    /// # Errors
    /// Out of memory; a rank no longer answers.
    pub fn over(engine: &Engine<T>, a: &Csr, singular: bool, halo: &Rc<Halo>) -> Result<Self> {
        let all = [Preconditioner::Jacobi, Preconditioner::Fsai];
        let solver = |&p: &Preconditioner| {
            let pcg = Pcg::over(engine, a, singular, p.pattern(), halo)?;
            Ok((p, pcg))
        };
        Ok(Self {
            solvers: all.iter().map(solver).collect::<Result<_>>()?,
            costs_s: vec![Vec::new(); all.len()],
            turn: 0,
            chosen: None,
        })
    }

    /// The preconditioner that was chosen; `None` while they take turns.
    pub fn chosen(&self) -> Option<Preconditioner> {
        self.chosen.map(|i| self.solvers[i].0)
    }

    /// As [`Pcg::solve`].
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
        let bounds = Bounds {
            tolerance,
            floor,
            max_iterations,
        };
        Ok(self.solve_then(engine, b, x, bounds, None)?.0)
    }

    /// As [`Solve::solve_then`](super::Solve::solve_then).
    ///
    /// # Errors
    /// The device failed.
    pub fn solve_then(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        bounds: Bounds,
        follow: Option<Follow<'_, T>>,
    ) -> Result<(Solution, bool)> {
        let turn = self.chosen.unwrap_or(self.turn % self.solvers.len());
        let solver = &mut self.solvers[turn].1;
        if self.chosen.is_some() {
            return solver.solve_then(engine, b, x, bounds, follow);
        }
        // A search for cuts would be measured, too.
        let counts = !engine.is_untuned(&solver.sites());
        engine.settle()?;
        let start = Instant::now();
        let (s, _) = solver.solve_then(engine, b, x, bounds, None)?;
        engine.settle()?;
        let decades = (s.initial / s.residual).log10();
        if counts && s.converged && decades.is_finite() && decades > 0.5 {
            self.costs_s[turn].push(start.elapsed().as_secs_f64() / decades);
        }
        self.turn += 1;
        self.choose(engine.comm())?;
        Ok((s, false))
    }

    /// The first rank decides for all: two ranks in two solvers would wait for each other.
    fn choose(&mut self, comm: &Comm) -> Result<()> {
        let own = if comm.leads() { self.faster() } else { None };
        let told = comm.largest(own.map_or(-1.0, |i| i as f64))?;
        self.chosen = (told >= 0.0).then_some(told as usize);
        Ok(())
    }

    /// The one of least cost, once each has been measured often enough.
    fn faster(&self) -> Option<usize> {
        if self.costs_s.iter().any(|c| c.len() <= COUNTED) {
            return None;
        }
        let median = |all: &Vec<f64>| {
            let mut c = all[1..].to_vec();
            c.sort_unstable_by(f64::total_cmp);
            c[c.len() / 2]
        };
        let costs_s: Vec<f64> = self.costs_s.iter().map(median).collect();
        let best = (0..costs_s.len())
            .min_by(|&i, &j| costs_s[i].total_cmp(&costs_s[j]))
            .unwrap_or(0);
        let each: Vec<String> = self
            .solvers
            .iter()
            .zip(&costs_s)
            .map(|((p, _), c)| format!("{p:?} {:.3} ms", c * 1e3))
            .collect();
        log::info!(
            "preconditioner {:?}: median time per decade of the residual {}",
            self.solvers[best].0,
            each.join(", ")
        );
        Some(best)
    }

    /// As [`Pcg::remember`].
    ///
    /// # Errors
    /// Out of memory.
    pub fn remember(&mut self, engine: &Engine<T>) -> Result<()> {
        self.solvers
            .iter_mut()
            .try_for_each(|(_, s)| s.remember(engine))
    }

    /// The call sites of all, for reports.
    pub fn sites(&self) -> Vec<&Place> {
        self.solvers.iter().flat_map(|(_, s)| s.sites()).collect()
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        self.solvers.iter().map(|(_, s)| s.copied_bytes()).sum()
    }
}
