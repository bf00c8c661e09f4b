//! What a time step costs on more nodes than there are (thesis figure 3.9): the kernels are measured
//! on the part of the mesh that one of so many nodes gets, beside neighbours that are not there; a
//! model of the network adds what their messages take.
//!
//! `T(P) = A + k B + x l + s / w + k (max(0, t(h) - W) + t_sum(P)) + r t_sum(P)`
//!
//! with the step's own work A and that of each of its k iterations, B; exchanges x of s bytes in all
//! that nothing hides, and r sums beside those of the iterations; the h bytes that an iteration
//! sends while inner rows take W. The iterations are those of the whole mesh: Jacobi's preconditioner
//! needs as many on any number of ranks.

use std::rc::Rc;
use std::time::Instant;

use super::case::{Case, InitialField, StepSize};
use super::simulation::Simulation;
use crate::Result;
use crate::cluster::network::Network;
use crate::cluster::place::Place;
use crate::cluster::{Comm, Reach};

/// Steps that a search for cuts may take before the measurement.
const TUNING_STEPS: usize = 200;
/// A Courant number at which a part's own flow, which is not the case's, stays bounded.
const COURANT: f64 = 0.3;

/// What one node does in a step; times are of the slowest rank that measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// Nodes.
    pub nodes: usize,
    /// Cells of all, and of this node.
    pub cells: usize,
    /// See `cells`.
    pub owned: usize,
    /// Work of a step without its iterations, s.
    pub rest_s: f64,
    /// Work of an iteration of the pressure solve, s.
    pub iteration_s: f64,
    /// Iterations of a step.
    pub iterations: f64,
    /// Time of inner rows, behind which an iteration's exchange is hidden, s.
    pub window_s: f64,
    /// Bytes that an iteration sends.
    pub iteration_bytes: f64,
    /// Further exchanges of a step, and their bytes.
    pub rest_exchanges: f64,
    /// See `rest_exchanges`.
    pub rest_bytes: f64,
    /// Sums over all ranks of a step beside one per iteration.
    pub rest_sums: f64,
}

/// A predicted step.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Prediction {
    /// Nodes.
    pub nodes: usize,
    /// Cells of a node.
    pub cells: usize,
    /// A step.
    pub step_s: f64,
    /// Of it in kernels, in exchanges that are not hidden, and in sums over all nodes.
    pub kernels_s: f64,
    /// See `kernels_s`.
    pub exchange_s: f64,
    /// See `kernels_s`.
    pub sums_s: f64,
    /// Share of the iterations' exchanges that is hidden; `null` on one node.
    pub hidden_share: Option<f64>,
    /// Time of one node over that of these.
    pub speedup: f64,
    /// Speed-up per node.
    pub efficiency: f64,
}

impl Part {
    /// A step of `iterations` iterations over `network`, beside one of `alone_s` on one node.
    fn predict(&self, network: &Network, iterations: f64, alone_s: Option<f64>) -> Prediction {
        let kernels_s = self.rest_s + iterations * self.iteration_s;
        let one_s = network.exchange_s(self.iteration_bytes);
        let seen_s = (one_s - self.window_s).max(0.0);
        let (mut exchange_s, mut sums_s) = (0.0, 0.0);
        if self.nodes > 1 {
            exchange_s = self.rest_exchanges * network.latency_s
                + self.rest_bytes / network.bandwidth_bytes_s
                + iterations * seen_s;
            sums_s = (iterations + self.rest_sums) * network.reduce_s(self.nodes);
        }
        let step_s = kernels_s + exchange_s + sums_s;
        let speedup = alone_s.unwrap_or(step_s) / step_s;
        Prediction {
            nodes: self.nodes,
            cells: self.owned,
            step_s,
            kernels_s,
            exchange_s,
            sums_s,
            hidden_share: (self.nodes > 1).then(|| 1.0 - seen_s / one_s),
            speedup,
            efficiency: speedup / self.nodes as f64,
        }
    }
}

/// Predictions for all `parts`, the first of which is one node, by its iterations.
pub fn predict(parts: &[Part], network: &Network) -> Vec<Prediction> {
    let Some(alone) = parts.first() else {
        return Vec::new();
    };
    let alone_s = alone.predict(network, alone.iterations, None).step_s;
    let each = parts.iter();
    each.map(|p| p.predict(network, alone.iterations, Some(alone_s)))
        .collect()
}

/// Measures `steps` steps of the part of `case` that one of `nodes` nodes gets, after as many that
/// nobody counts; the ranks of `beside` do the same at the same time.
///
/// # Errors
/// As [`Simulation::open`].
pub fn measure(
    case: &Case,
    nodes: usize,
    steps: usize,
    beside: &Comm,
    place: &Place,
) -> Result<Part> {
    let mut case = case.clone();
    let comm: Rc<Comm> = match nodes {
        1 => Comm::solo(),
        _ => {
            // What drives the flow may lie in another part.
            case.initial.field = InitialField::Abc;
            case.time.step = StepSize::Courant { max: COURANT };
            Comm::absent(0, nodes)
        }
    };
    let mut sim = Simulation::open_on(case, &comm, Some(place), None)?;
    for i in 0..steps.max(TUNING_STEPS) {
        let open = i < steps || sim.engine.is_tuning(&sim.stepper.sites());
        if beside.largest(f64::from(u8::from(open)))? == 0.0 {
            break;
        }
        sim.advance()?;
    }
    let (mut rest, mut each) = (Vec::new(), Vec::new());
    let (mut iterations, mut window_s) = (0.0, f64::INFINITY);
    let before = comm.spent();
    for _ in 0..steps {
        beside.barrier()?;
        let start: Vec<(u64, f64)> = sim
            .stepper
            .sites()
            .iter()
            .map(|s| (s.stats.calls, s.seconds_s()))
            .collect();
        let then = Instant::now();
        let k = sim.advance()?.result.poisson.iterations as f64;
        let wall_s = then.elapsed().as_secs_f64();
        let mut iterative_s = 0.0;
        for (site, (calls, seconds)) in sim.stepper.sites().iter().zip(start) {
            let (calls, seconds) = (site.stats.calls - calls, site.seconds_s() - seconds);
            if k > 0.0 && calls as f64 >= k {
                iterative_s += seconds;
                if site.inner_share() < 1.0 {
                    window_s = window_s.min(site.inner_share() * seconds / calls as f64);
                }
            }
        }
        rest.push(wall_s - iterative_s);
        each.push(iterative_s / k.max(1.0));
        iterations += k;
    }
    let (after, n) = (comm.spent(), steps.max(1) as f64);
    let per_step = |now: u64, then: u64| (now - then) as f64 / n;
    let k = iterations / n;
    let sent = 8.0 * sim.halo.sent(Reach::Face) as f64;
    let received = sim.halo.received(Reach::Face).max(1) as f64;
    // Of the rank with the longest border.
    let worse = (sim.whole.near_most as f64 / received).max(1.0);
    let bytes = per_step(after.sent_bytes, before.sent_bytes);
    let hidden = if window_s.is_finite() { window_s } else { 0.0 };
    Ok(Part {
        nodes,
        cells: sim.whole.cells,
        owned: sim.owned,
        rest_s: beside.largest(median(rest))?,
        iteration_s: beside.largest(median(each))?,
        iterations: k,
        window_s: -beside.largest(-hidden)?,
        iteration_bytes: worse * sent,
        rest_exchanges: (per_step(after.exchanges, before.exchanges) - k).max(0.0),
        rest_bytes: worse * (bytes - k * sent).max(0.0),
        rest_sums: (per_step(after.reductions, before.reductions) - k).max(0.0),
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_its_kernels_and_what_is_not_hidden() {
        let alone = Part {
            nodes: 1,
            owned: 1000,
            rest_s: 1e-3,
            iteration_s: 1e-4,
            iterations: 100.0,
            ..Part::default()
        };
        let four = Part {
            nodes: 4,
            owned: 250,
            rest_s: 0.25e-3,
            iteration_s: 0.25e-4,
            iterations: 7.0,
            window_s: 1e-5,
            iteration_bytes: 1e3,
            rest_exchanges: 4.0,
            rest_bytes: 8e3,
            rest_sums: 5.0,
            ..Part::default()
        };
        // t(h) = 2 us + 1 us, all hidden; sums take 2 doublings.
        let quick = Network::plain(2e-6, 1e9);
        let all = predict(&[alone, four], &quick);
        assert!((all[0].step_s - 11e-3).abs() < 1e-15 && all[0].efficiency == 1.0);
        assert_eq!(
            (all[1].hidden_share, all[0].hidden_share),
            (Some(1.0), None)
        );
        let want = 0.25e-3 + 100.0 * 0.25e-4 + 4.0 * 2e-6 + 8e-6 + 105.0 * 4e-6;
        assert!((all[1].step_s - want).abs() < 1e-15, "{:?}", all[1]);
        assert!((all[1].efficiency - 11e-3 / want / 4.0).abs() < 1e-12);
        // t(h) = 50 us, of which 10 are hidden.
        let slow = Network::plain(40e-6, 1e8);
        let seen = predict(&[alone, four], &slow)[1];
        assert!((seen.hidden_share.expect("four nodes") - 0.2).abs() < 1e-12);
        let want = 4.0 * 40e-6 + 80e-6 + 100.0 * 40e-6;
        assert!((seen.exchange_s - want).abs() < 1e-12, "{seen:?}");
    }
}
