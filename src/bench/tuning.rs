//! The search for a cut beside a scan of all cuts.

use super::result::TuningResult;
use super::timing::Clock;
use super::{Bench, Work};
use crate::Result;
use crate::node::BLOCK;
use crate::split::Engine;

/// Cuts scanned at most; of more, evenly spaced ones, and then all around the best.
const SCANNED: usize = 128;
/// Calls at each cut of the scan: the median counts.
const CALLS: usize = 3;
/// Calls at each of the two cuts that are compared at the end, in turns.
const COMPARED: usize = 21;

/// Scans the cuts of `work`, which has settled; none if its cut cannot be set. The cut found by
/// the search is set again at the end.
pub(super) fn exhaustive(
    clock: &Clock,
    engine: &mut Engine<f64>,
    bench: &Bench,
    work: &mut dyn Work,
) -> Result<Option<TuningResult>> {
    let Some(site) = work.site_mut() else {
        return Ok(None);
    };
    let (rows, found) = (site.rows, site.ratio());
    let evaluations = site.tuner().visited().len();
    let search_s = site.tuner().excess_s().0;
    let blocks = rows / BLOCK;
    let mut measure = |block: usize, calls: usize| -> Result<f64> {
        if let Some(site) = work.site_mut() {
            engine.set_ratio(site, block as f64 / blocks as f64);
        }
        let mut samples = Vec::with_capacity(calls);
        for call in 0..=calls {
            let seconds = clock.seconds(engine, work)?;
            // The first call after a change of the cut finds cold caches.
            if call > 0 {
                samples.push(seconds);
            }
        }
        samples.sort_unstable_by(f64::total_cmp);
        Ok(samples[samples.len() / 2])
    };
    let mut scan: Vec<usize> = (0..=SCANNED).map(|i| i * blocks / SCANNED).collect();
    scan.dedup();
    let mut scanned = 0;
    let mut best = (f64::INFINITY, 0);
    for _ in 0..2 {
        for &block in &scan {
            let seconds = measure(block, CALLS)?;
            scanned += 1;
            if seconds < best.0 {
                best = (seconds, block);
            }
        }
        // Then the blocks between the best point and its neighbours.
        let (apart, at) = (blocks / SCANNED, best.1);
        let near = at.saturating_sub(apart)..=(at + apart).min(blocks);
        scan = near.step_by(apart.div_ceil(16).max(1)).collect();
        if apart < 2 {
            break;
        }
    }
    let found_block = (found * blocks as f64).round() as usize;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..COMPARED {
        ours.push(measure(found_block, 1)?);
        theirs.push(measure(best.1, 1)?);
    }
    measure(found_block, 1)?;
    let median = |samples: &mut Vec<f64>| {
        samples.sort_unstable_by(f64::total_cmp);
        samples[samples.len() / 2]
    };
    Ok(Some(TuningResult {
        kernel: bench.name,
        cuts: blocks + 1,
        evaluations,
        scanned,
        split_ratio: found,
        best_ratio: best.1 as f64 / blocks as f64,
        excess: median(&mut ours) / median(&mut theirs) - 1.0,
        search_s,
    }))
}
