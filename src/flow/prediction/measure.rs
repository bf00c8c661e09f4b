//! What a part of the mesh costs: measured by ranks in step, each of which has one.

use std::ops::Range;
use std::rc::Rc;
use std::time::Instant;

use super::Part;
use crate::Result;
use crate::cluster::comm::Laps;
use crate::cluster::place::Place;
use crate::cluster::{Comm, Reach};
use crate::flow::case::{Case, InitialField, StepSize};
use crate::flow::simulation::Simulation;

/// Steps that a search for cuts may take before the measurement.
const TUNING_STEPS: usize = 200;
/// Room for the sums of a step.
const LAPS: usize = 1 << 16;
/// A Courant number at which a part's own flow, which is not the case's, stays bounded.
const COURANT: f64 = 0.3;

/// Measures `steps` steps of the part of `case` that one of `nodes` nodes gets, after as many that
/// nobody counts; the ranks of `beside` do the same in step, each on a part of its own. Where they
/// are as many, each step has one of the case itself beside it, for comparison. The whole mesh is
/// measured by the first rank alone.
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
    if nodes > 1 {
        let mut run = None;
        if nodes == beside.size() {
            run = Some(Simulation::open_on(
                case.clone(),
                beside,
                Some(place),
                None,
            )?);
        }
        let mut case = case.clone();
        // What drives the flow may lie in another part.
        case.initial.field = InitialField::Abc;
        case.time.step = StepSize::Courant { max: COURANT };
        let laps = Rc::new(Laps::default());
        let comm = beside.sample(nodes, &laps);
        let sim = Simulation::open_on(case, &comm, Some(place), None)?;
        return watched(sim, run, nodes, steps, beside, &laps);
    }
    let mut part = Part::default();
    if beside.leads() {
        let alone = Comm::solo();
        let sim = Simulation::open_on(case.clone(), &alone, Some(place), None)?;
        part = watched(sim, None, nodes, steps, &alone, &Laps::default())?;
    }
    beside.barrier()?;
    Ok(part)
}

/// See [`measure`].
fn watched(
    mut sim: Simulation,
    mut run: Option<Simulation>,
    nodes: usize,
    steps: usize,
    beside: &Comm,
    laps: &Laps,
) -> Result<Part> {
    for i in 0..steps.max(TUNING_STEPS) {
        let all = || std::iter::once(&sim).chain(&run);
        let open = i < steps || all().any(|s| s.engine.is_tuning(&s.stepper.sites()));
        if beside.largest(f64::from(u8::from(open)))? == 0.0 {
            break;
        }
        sim.advance()?;
        run.as_mut().map(Simulation::advance).transpose()?;
    }
    let groups = (nodes as f64 / beside.size() as f64).max(1.0);
    let (mut rest, mut own, mut longest) = (Vec::new(), Vec::new(), Vec::new());
    let mut run_s = Vec::new();
    let (mut iterations, mut window_s, mut waiting) = (0.0, f64::INFINITY, 0);
    let before = sim.engine.comm().spent();
    for _ in 0..steps {
        if let Some(run) = &mut run {
            beside.barrier()?;
            let then = Instant::now();
            run.advance()?;
            run_s.push(beside.largest(then.elapsed().as_secs_f64())?);
        }
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
        let laps = laps.take();
        let mut iterative_s = 0.0;
        waiting = 0;
        for (site, (calls, seconds)) in sim.stepper.sites().iter().zip(start) {
            let (calls, seconds) = (site.stats.calls - calls, site.seconds_s() - seconds);
            if k > 0 && calls >= k as u64 {
                iterative_s += seconds;
                if site.inner_share() < 1.0 {
                    waiting += 1;
                    window_s = window_s.min(site.inner_share() * seconds / calls as f64);
                }
            }
        }
        iterations += k as f64;
        let per_iteration = 1.0 / k.max(1) as f64;
        if nodes == 1 {
            own.push(iterative_s * per_iteration);
            longest.push(iterative_s * per_iteration);
            rest.push(wall_s - iterative_s);
            continue;
        }
        let [mean, mut most] = over_ranks(&laps, beside)?;
        let solve = iterations_of(&most, k);
        own.push(mean[solve.clone()].iter().sum::<f64>() * per_iteration);
        rest.push(most.iter().sum::<f64>() - most[solve.clone()].iter().sum::<f64>());
        let solve = &mut most[solve];
        solve.sort_unstable_by(f64::total_cmp);
        longest.push(longest_of(solve, groups));
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
    let iteration_s = median(longest);
    Ok(Part {
        nodes,
        cells: sim.whole.cells,
        owned: sim.owned,
        rest_s: median(rest),
        iteration_s,
        wait_s: (iteration_s - median(own)).max(0.0),
        iterations: k,
        window_s: -beside.largest(-hidden)?,
        iteration_bytes: worse * sent,
        iteration_exchanges: waiting,
        rest_exchanges: (per_step(after.exchanges, before.exchanges) - waiting.max(1) as f64 * k)
            .max(0.0),
        rest_bytes: worse * (bytes - k * sent).max(0.0),
        rest_sums: (per_step(after.reductions, before.reductions) - k).max(0.0),
        run_s: run.map(|_| median(run_s)),
    })
}

/// Of each lap the mean and the most over ranks.
fn over_ranks(laps: &[f64], beside: &Comm) -> Result<[Vec<f64>; 2]> {
    let (mut mean, mut most) = (vec![0.0; laps.len()], vec![0.0f64; laps.len()]);
    let all = beside.gather(bytemuck::cast_slice(laps))?;
    for one in &all {
        let one = one
            .chunks_exact(8)
            .map(|b| b.try_into().unwrap_or_default());
        let one = one.map(f64::from_ne_bytes);
        for ((mean, most), lap) in mean.iter_mut().zip(&mut most).zip(one) {
            *mean += lap / all.len() as f64;
            *most = most.max(lap);
        }
    }
    Ok([mean, most])
}

/// Of a step's laps those of its `k` iterations: so many in a row are shortest.
fn iterations_of(laps: &[f64], k: usize) -> Range<usize> {
    if k == 0 || laps.len() < k {
        return 0..0;
    }
    let sum = |from: &usize| laps[*from..from + k].iter().sum::<f64>();
    let starts = 0..=laps.len() - k;
    let from = starts.min_by(|a, b| sum(a).total_cmp(&sum(b)));
    let from = from.unwrap_or(0);
    from..from + k
}

/// Mean of the longest of `many` times, each one of `times`, which ascend; 0 where there are none.
fn longest_of(times: &[f64], many: f64) -> f64 {
    let n = times.len() as f64;
    let below = |i: usize| (i as f64 / n).powf(many);
    let each = times.iter().enumerate();
    each.map(|(i, t)| t * (below(i + 1) - below(i))).sum()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_found_among_laps_and_wait_for_the_longest() {
        let laps = [9.0, 7.0, 1.0, 2.0, 1.5, 1.0, 8.0, 5.0];
        assert_eq!(iterations_of(&laps, 4), 2..6);
        assert!(iterations_of(&laps, 9).is_empty() && iterations_of(&laps, 0).is_empty());
        let four = [1.0, 1.0, 1.5, 2.0];
        assert!((longest_of(&four, 1.0) - 5.5 / 4.0).abs() < 1e-12);
        // The longest of two: each pair of the four is as likely.
        let pairs = four.iter().flat_map(|a| four.iter().map(|b| a.max(*b)));
        assert!((longest_of(&four, 2.0) - pairs.sum::<f64>() / 16.0).abs() < 1e-12);
        assert_eq!(longest_of(&[], 4.0), 0.0);
    }
}
