//! Time steps, and an iteration of their pressure solves.

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

/// Measures steps; times are of the slowest rank.
///
/// # Errors
/// As [`Simulation::advance`].
pub(super) fn measure(mut sim: Simulation, comm: &Comm, steps: Steps) -> Result<Spent> {
    if let Some(n) = steps.iterations {
        sim.stepper.fix_iterations(n);
    }
    let steps = steps.count;
    let (mut step, mut iteration, mut iterations) = (Vec::new(), Vec::new(), 0);
    for i in 0..2 * steps {
        let before = counts(&sim);
        comm.barrier()?;
        let start = Instant::now();
        let k = sim.advance()?.result.poisson.iterations.max(1);
        let step_s = start.elapsed().as_secs_f64();
        let now = counts(&sim);
        let spent = now.iter().zip(before).map(|(b, a)| (b.0 - a.0, b.1 - a.1));
        let rest = spent.filter(|(calls, _)| *calls < k as u64);
        let mut slowest = [step_s, rest.map(|(_, seconds)| seconds).sum()];
        comm.combine(&mut [], &mut slowest)?;
        if i >= steps {
            let [step_s, rest_s] = slowest;
            step.push(step_s);
            iteration.push((step_s - rest_s) / k as f64);
            iterations += k;
        }
    }
    Ok(Spent {
        step: Cost::of(step),
        iterations: iterations as f64 / steps as f64,
        iteration: Cost::of(iteration),
    })
}

/// Calls of each kernel so far, and their seconds.
fn counts(sim: &Simulation) -> Vec<(u64, f64)> {
    let sites = sim.stepper.sites();
    let each = sites.iter();
    each.map(|s| (s.stats.calls, s.seconds_s())).collect()
}
