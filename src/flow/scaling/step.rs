//! Time steps, and an iteration of their pressure solves.

use std::rc::Rc;
use std::time::Instant;

use super::{Cost, Steps};
use crate::Result;
use crate::cluster::Comm;
use crate::flow::simulation::Simulation;

/// What steps cost.
pub(super) struct Spent {
    /// One.
    pub step: Cost,
    /// Its pressure iterations, mean.
    pub iterations: f64,
    /// One of them: what is left of the step without the kernels that are called less often, over
    /// their number.
    pub iteration: Cost,
}

/// A flow whose steps are measured; times are of the slowest rank.
pub(super) struct Walk {
    sim: Simulation,
    /// Who is measured together.
    team: Rc<Comm>,
    steps: Steps,
    step: Vec<f64>,
    iteration: Vec<f64>,
    iterations: usize,
}

impl Walk {
    /// After as many steps as are asked for, which nobody counts.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn begin(mut sim: Simulation, team: &Rc<Comm>, steps: Steps) -> Result<Self> {
        if let Some(n) = steps.iterations {
            sim.stepper.fix_iterations(n);
        }
        for _ in 0..steps.count {
            sim.advance()?;
        }
        Ok(Self {
            sim,
            team: Rc::clone(team),
            steps,
            step: Vec::new(),
            iteration: Vec::new(),
            iterations: 0,
        })
    }

    /// Pressure iterations of each step that were asked for.
    pub fn fixed_iterations(&self) -> Option<usize> {
        self.steps.iterations
    }

    /// One of `turns`: its share of the steps, at least one.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn turn(&mut self, turns: usize) -> Result<()> {
        (0..self.steps.count.div_ceil(turns)).try_for_each(|_| self.one())
    }

    fn one(&mut self) -> Result<()> {
        let before = counts(&self.sim);
        self.team.barrier()?;
        let start = Instant::now();
        let k = self.sim.advance()?.result.poisson.iterations.max(1);
        let step_s = start.elapsed().as_secs_f64();
        let now = counts(&self.sim);
        let spent = now.iter().zip(before).map(|(b, a)| (b.0 - a.0, b.1 - a.1));
        let rest = spent.filter(|(calls, _)| *calls < k as u64);
        let mut slowest = [step_s, rest.map(|(_, seconds)| seconds).sum()];
        self.team.combine(&mut [], &mut slowest)?;
        let [step_s, rest_s] = slowest;
        self.step.push(step_s);
        self.iteration.push((step_s - rest_s) / k as f64);
        self.iterations += k;
        Ok(())
    }

    /// What they cost.
    pub fn end(self) -> Spent {
        Spent {
            iterations: self.iterations as f64 / self.step.len() as f64,
            step: Cost::of(self.step),
            iteration: Cost::of(self.iteration),
        }
    }
}

/// Calls of each kernel so far, and their seconds.
fn counts(sim: &Simulation) -> Vec<(u64, f64)> {
    let sites = sim.stepper.sites();
    let each = sites.iter();
    each.map(|s| (s.stats.calls, s.seconds_s())).collect()
}
