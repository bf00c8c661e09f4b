//! What a time step costs on more nodes than there are (thesis figure 3.9): the kernels are measured
//! on the part of the mesh that one of so many nodes gets, beside neighbours that are not there; a
//! model of the network adds what their messages take.
//!
//! `T(P) = A + k B(P) + x l + s / w + k (o(h) + max(0, t(h) - o(h) - W)) + (k + r) t_sum(P)`
//!
//! with the step's own work A and that of each of its k iterations, B; exchanges x of s bytes in all
//! that nothing hides, and r sums beside those of the iterations; the h bytes that an iteration
//! sends while inner rows take W, of which the processor itself is busy for o(h). All ranks wait for
//! the slowest at each sum, so B(P) is the mean of the longest of P iterations, each drawn from those
//! that were measured: `B(P) = sum_i b_i ((i / n)^P - ((i - 1) / n)^P)` over n times in ascending
//! order. The iterations are those of the whole mesh: Jacobi's preconditioner needs as many on any
//! number of ranks.

use std::rc::Rc;
use std::time::Instant;

use super::case::{Case, InitialField, StepSize};
use super::simulation::Simulation;
use crate::Result;
use crate::cluster::comm::Laps;
use crate::cluster::network::Network;
use crate::cluster::place::Place;
use crate::cluster::{Comm, Reach};

/// Steps that a search for cuts may take before the measurement.
const TUNING_STEPS: usize = 200;
/// Room for the sums of a step.
const LAPS: usize = 1 << 16;
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
    /// Work of an iteration of the pressure solve, s: of the slowest node in each.
    pub iteration_s: f64,
    /// Of it the wait for the slowest.
    pub wait_s: f64,
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
    /// Of it in kernels and between them, in waits for the slowest node, in exchanges that are not
    /// hidden, and in sums over all nodes.
    pub kernels_s: f64,
    /// See `kernels_s`.
    pub waits_s: f64,
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
        let waits_s = iterations * self.wait_s;
        let kernels_s = self.rest_s + iterations * self.iteration_s - waits_s;
        let one_s = network.exchange_s(self.iteration_bytes);
        let busy_s = network.busy_s(self.iteration_bytes).min(one_s);
        let seen_s = busy_s + (one_s - busy_s - self.window_s).max(0.0);
        let (mut exchange_s, mut sums_s) = (0.0, 0.0);
        if self.nodes > 1 {
            exchange_s = self.rest_exchanges * network.latency_s
                + self.rest_bytes / network.bandwidth_bytes_s
                + iterations * seen_s;
            sums_s = (iterations + self.rest_sums) * network.reduce_s(self.nodes);
        }
        let step_s = kernels_s + waits_s + exchange_s + sums_s;
        let speedup = alone_s.unwrap_or(step_s) / step_s;
        Prediction {
            nodes: self.nodes,
            cells: self.owned,
            step_s,
            kernels_s,
            waits_s,
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
/// nobody counts; the ranks of `beside` do the same at the same time, each on a part of its own.
/// The whole mesh is measured by the first rank alone.
///
/// # Errors
/// As [`Simulation::open`].
pub fn measure(
    case: &Case,
    nodes: usize,
    steps: usize,
    beside: &Rc<Comm>,
    place: &Place,
) -> Result<Part> {
    let mut case = case.clone();
    let laps = Rc::new(Laps::default());
    if nodes > 1 {
        // What drives the flow may lie in another part.
        case.initial.field = InitialField::Abc;
        case.time.step = StepSize::Courant { max: COURANT };
        let comm = Comm::absent_timed(beside.rank() % nodes, nodes, &laps);
        let sim = Simulation::open_on(case, &comm, Some(place), None)?;
        return watched(sim, nodes, steps, beside, &laps);
    }
    let mut part = Part::default();
    if beside.leads() {
        let alone = Comm::solo();
        let sim = Simulation::open_on(case, &alone, Some(place), None)?;
        part = watched(sim, nodes, steps, &alone, &laps)?;
    }
    beside.barrier()?;
    Ok(part)
}

/// See [`measure`].
fn watched(
    mut sim: Simulation,
    nodes: usize,
    steps: usize,
    beside: &Comm,
    laps: &Laps,
) -> Result<Part> {
    for i in 0..steps.max(TUNING_STEPS) {
        let open = i < steps || sim.engine.is_tuning(&sim.stepper.sites());
        if beside.largest(f64::from(u8::from(open)))? == 0.0 {
            break;
        }
        sim.advance()?;
    }
    let (mut rest, mut each, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    let (mut iterations, mut window_s) = (0.0, f64::INFINITY);
    let before = sim.engine.comm().spent();
    for _ in 0..steps {
        let start: Vec<(u64, f64)> = sim
            .stepper
            .sites()
            .iter()
            .map(|s| (s.stats.calls, s.seconds_s()))
            .collect();
        beside.barrier()?;
        laps.restart(LAPS);
        let then = Instant::now();
        let k = sim.advance()?.result.poisson.iterations;
        let wall_s = then.elapsed().as_secs_f64();
        let mut iterative_s = 0.0;
        for (site, (calls, seconds)) in sim.stepper.sites().iter().zip(start) {
            let (calls, seconds) = (site.stats.calls - calls, site.seconds_s() - seconds);
            if k > 0 && calls >= k as u64 {
                iterative_s += seconds;
                if site.inner_share() < 1.0 {
                    window_s = window_s.min(site.inner_share() * seconds / calls as f64);
                }
            }
        }
        let mut laps = laps.take();
        let of_solve = iterations_of(&mut laps, k);
        if !of_solve.is_empty() {
            // With what comes between kernels.
            iterative_s = of_solve.iter().sum();
        }
        let mean_s = iterative_s / k.max(1) as f64;
        waits.push((longest_of(of_solve, nodes) - mean_s).max(0.0));
        rest.push(wall_s - iterative_s);
        each.push(mean_s);
        iterations += k as f64;
    }
    let (after, n) = (sim.engine.comm().spent(), steps.max(1) as f64);
    let per_step = |now: u64, then: u64| (now - then) as f64 / n;
    let k = iterations / n;
    let sent = 8.0 * sim.halo.sent(Reach::Face) as f64;
    let received = sim.halo.received(Reach::Face).max(1) as f64;
    // Of the rank with the longest border.
    let worse = (sim.whole.near_most as f64 / received).max(1.0);
    let bytes = per_step(after.sent_bytes, before.sent_bytes);
    let hidden = if window_s.is_finite() { window_s } else { 0.0 };
    let (each_s, wait_s) = (median(each), median(waits));
    let iteration_s = beside.largest(each_s + wait_s)?;
    Ok(Part {
        nodes,
        cells: sim.whole.cells,
        owned: sim.owned,
        rest_s: beside.largest(median(rest))?,
        iteration_s,
        wait_s: iteration_s - each_s,
        iterations: k,
        window_s: -beside.largest(-hidden)?,
        iteration_bytes: worse * sent,
        rest_exchanges: (per_step(after.exchanges, before.exchanges) - k).max(0.0),
        rest_bytes: worse * (bytes - k * sent).max(0.0),
        rest_sums: (per_step(after.reductions, before.reductions) - k).max(0.0),
    })
}

/// Of a step's laps those of its `k` iterations, in ascending order: so many in a row are shortest.
fn iterations_of(laps: &mut [f64], k: usize) -> &[f64] {
    if k == 0 || laps.len() < k {
        return &[];
    }
    let sum = |from: usize| laps[from..from + k].iter().sum::<f64>();
    let starts = 0..=laps.len() - k;
    let from = starts
        .min_by(|&a, &b| sum(a).total_cmp(&sum(b)))
        .unwrap_or(0);
    let chosen = &mut laps[from..from + k];
    chosen.sort_by(f64::total_cmp);
    chosen
}

/// Mean of the longest of `many` times, each one of `times`, which ascend; 0 where there are none.
fn longest_of(times: &[f64], many: usize) -> f64 {
    let n = times.len() as f64;
    let below = |i: usize| (i as f64 / n).powf(many as f64);
    let each = times.iter().enumerate();
    each.map(|(i, t)| t * (below(i + 1) - below(i))).sum()
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
        // Of the quick one's 3 us the processor does 1 us itself, and waits 2 us for a slower node.
        let busy = Network {
            busy_s: 0.5e-6,
            busy_per_byte_s: 0.5e-9,
            ..quick
        };
        let waits = Part {
            iteration_s: four.iteration_s + 2e-6,
            wait_s: 2e-6,
            ..four
        };
        let third = predict(&[alone, waits], &busy)[1];
        assert!((third.step_s - all[1].step_s - 300e-6).abs() < 1e-12);
        assert!((third.waits_s - 200e-6).abs() < 1e-12);
        assert!((third.kernels_s - all[1].kernels_s).abs() < 1e-12);
    }

    #[test]
    fn iterations_are_found_among_laps_and_wait_for_the_longest() {
        let mut laps = [9.0, 7.0, 1.0, 2.0, 1.5, 1.0, 8.0, 5.0];
        let four = iterations_of(&mut laps, 4).to_vec();
        assert_eq!(four, [1.0, 1.0, 1.5, 2.0]);
        assert!(iterations_of(&mut laps, 9).is_empty() && iterations_of(&mut laps, 0).is_empty());
        assert!((longest_of(&four, 1) - 5.5 / 4.0).abs() < 1e-12);
        // The longest of two: each pair of the four is as likely.
        let pairs = four.iter().flat_map(|a| four.iter().map(|b| a.max(*b)));
        assert!((longest_of(&four, 2) - pairs.sum::<f64>() / 16.0).abs() < 1e-12);
        assert_eq!(longest_of(&[], 4), 0.0);
    }
}
