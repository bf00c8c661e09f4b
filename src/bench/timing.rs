//! Timing: places take turns, so that a change of the machine's speed meets all of them.

use std::time::Instant;

use super::roofs::Sides;
use super::{Done, Side, Work};
use crate::Result;
use crate::energy::{Goal, Source, repeat};
use crate::split::Engine;

/// Bytes swept between calls where caches are flushed.
pub const SWEEP_BYTES: usize = 320 << 20;

/// Time of a place's calls in all, at least, s, or so many of them, for short ones tell no more by being
/// more; with as many calls at least; and at most, s, what is done between calls included, once there are
/// a few.
const ENOUGH_S: f64 = 0.4;
const MANY_CALLS: usize = 4096;
const ENOUGH_CALLS: usize = 15;
const MOST_S: f64 = 3.0;
const FEW_CALLS: usize = 3;
/// Time of one turn, s.
const TURN_S: f64 = 0.03;
/// Time, s, and number, at most, of calls that follow each other on the device before it is waited
/// for: what a launch and a wait cost, 17 us on an H200, is then half a percent of it; a step waits
/// for the one that it begins ahead, too, 30 us.
const ROW_S: f64 = 4e-3;
const ROW_CALLS: f64 = 64.0;
/// Time for which joules are counted, s: ten intervals of a usual sensor; and at most, where they
/// are asked for with an uncertainty below 2 %.
const ENERGY_S: f64 = 1.0;
const ENERGY_MOST_S: f64 = 60.0;
/// Longest search for a cut, s; and calls in a row that went without what is still searched for.
const SEARCH_S: f64 = 10.0;
const IDLE_CALLS: usize = 3;

/// What timing needs to know.
pub(super) struct Clock<'a> {
    /// Meters.
    pub source: &'a Source,
    /// Work is repeated until its joules are known to 2 %.
    pub energy: bool,
    /// What is swept between calls; empty without.
    pub sweep: Vec<f64>,
}

/// Times of one place.
#[derive(Default)]
pub(super) struct Timing {
    /// Seconds per unit of each call.
    pub samples: Vec<f64>,
    /// What each call did per second: calls need not do the same, such as steps of a flow.
    pub rates: Vec<Done>,
    /// Joules per unit.
    pub joules: Option<f64>,
    /// Their uncertainty, as a part of them.
    pub uncertainty_fraction: Option<f64>,
    calls_s: f64,
    /// With what is done between them: sweeps.
    spent_s: f64,
}

impl Timing {
    pub fn least(&self) -> f64 {
        self.samples.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn median(&self) -> f64 {
        median(self.samples.clone())
    }

    /// Median rate.
    pub fn rate(&self, of: impl Fn(&Done) -> f64) -> f64 {
        median(self.rates.iter().map(of).collect())
    }

    /// Highest share of the roofline over the median one.
    pub fn spread(&self) -> f64 {
        let share = |r: &Done| r.least_s;
        self.rates.iter().map(share).fold(0.0, f64::max) / self.rate(share)
    }

    fn enough(&self) -> bool {
        let calls = self.samples.len();
        let long = self.calls_s >= ENOUGH_S || calls >= MANY_CALLS;
        calls >= FEW_CALLS && (self.spent_s >= MOST_S || calls >= ENOUGH_CALLS && long)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl<'a> Clock<'a> {
    /// A clock; `flush` sweeps the caches between calls, the roofs' too, `energy` repeats for joules.
    pub fn new(source: &'a Source, flush: bool, energy: bool) -> Self {
        let sweep = if flush { SWEEP_BYTES / 8 } else { 0 };
        Self {
            source,
            energy,
            sweep: vec![1.0; sweep],
        }
    }

    /// Reads more than the caches hold, with all threads; nothing where calls are not swept.
    pub fn flush(&self, engine: &Engine<f64>) {
        let (pool, sweep) = (&*engine.node.pool, &self.sweep[..]);
        if sweep.is_empty() {
            return;
        }
        pool.run(&|t| {
            let part = sweep.get(pool.part(t, 0..sweep.len()));
            let lines = part.unwrap_or(&[]).iter().step_by(8);
            std::hint::black_box(lines.sum::<f64>());
        });
    }

    /// So many calls, which are waited for once; returns seconds and units.
    fn calls(&self, engine: &Engine<f64>, work: &mut dyn Work, calls: usize) -> Result<(f64, f64)> {
        work.reset()?;
        self.flush(engine);
        let start = Instant::now();
        let mut units = 0.0;
        for _ in 0..calls {
            units += work.call(engine)?;
        }
        engine.settle()?;
        let seconds = start.elapsed().as_secs_f64();
        engine.step_done(seconds);
        Ok((seconds, units))
    }

    /// Seconds of one call.
    pub fn seconds(&self, engine: &Engine<f64>, work: &mut dyn Work) -> Result<f64> {
        self.calls(engine, work, 1).map(|(seconds, _)| seconds)
    }

    /// Calls in a row of a work that takes `call_s`: several where the device has them alone.
    fn row(&self, work: &dyn Work, side: Side, call_s: f64) -> usize {
        if self.sweep.is_empty() && side == Side::Device && work.queues() {
            (ROW_S / call_s).clamp(1.0, ROW_CALLS) as usize
        } else {
            1
        }
    }

    /// Lets the engine find the cuts of `work`; false if the search has not ended in time. What some
    /// calls in a row have not needed is not waited for, such as a sum that is taken at the end.
    pub fn settle(&self, engine: &mut Engine<f64>, work: &mut dyn Work) -> Result<bool> {
        engine.set_policy(Side::Split.policy());
        let start = Instant::now();
        let (mut seen, mut idle_calls) = (Vec::new(), 0);
        while engine.is_tuning(&work.sites()) && idle_calls < IDLE_CALLS {
            self.seconds(engine, work)?;
            let sites = work.sites();
            let calls: Vec<u64> = sites.iter().map(|s| s.stats.calls).collect();
            let searching = |i: usize| sites[i].is_tuning() && seen.get(i) != Some(&calls[i]);
            let goes_on = engine.is_tuning(&[]) || (0..sites.len()).any(searching);
            idle_calls = if goes_on { 0 } else { idle_calls + 1 };
            seen = calls;
            if start.elapsed().as_secs_f64() > SEARCH_S {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Times all of `works` in turns, and the roofs of their sides with them.
    pub fn time(
        &self,
        engine: &mut Engine<f64>,
        sides: &mut Sides,
        works: &mut [(Side, Box<dyn Work>)],
    ) -> Result<Vec<Timing>> {
        let mut timings: Vec<Timing> = works.iter().map(|_| Timing::default()).collect();
        while timings.iter().any(|t| !t.enough()) {
            for (i, (place, work)) in works.iter_mut().enumerate() {
                let roofs = sides.now(engine, *place, self)?;
                engine.set_policy(place.policy());
                let turn = Instant::now();
                // The first call of a turn finds the caches as another place has left them.
                let warm_s = self.seconds(engine, work.as_mut())?;
                let row = self.row(work.as_ref(), *place, warm_s);
                let turns = (TURN_S / (warm_s * row as f64)) as usize;
                for _ in 0..turns.clamp(1, 2 * ENOUGH_CALLS) {
                    let at = work.done(&roofs);
                    let (seconds, units) = self.calls(engine, work.as_mut(), row)?;
                    let done = work.done(&roofs).minus(at);
                    timings[i].samples.push(seconds / units);
                    timings[i].rates.push(done.times(1.0 / seconds));
                    timings[i].calls_s += seconds;
                }
                timings[i].spent_s += turn.elapsed().as_secs_f64();
            }
        }
        for (i, (place, work)) in works.iter_mut().enumerate() {
            engine.set_policy(place.policy());
            let row = self.row(work.as_ref(), *place, timings[i].least());
            (timings[i].joules, timings[i].uncertainty_fraction) =
                self.joules(engine, work.as_mut(), row)?;
        }
        Ok(timings)
    }

    /// Joules of a unit and their uncertainty as a part of them, if a meter measures them: of
    /// calls one after the other. A sweep between calls would be counted, too.
    fn joules(
        &self,
        engine: &Engine<f64>,
        work: &mut dyn Work,
        row: usize,
    ) -> Result<(Option<f64>, Option<f64>)> {
        if !self.source.measured() || !self.sweep.is_empty() {
            return Ok((None, None));
        }
        let goal = Goal {
            seconds_max: if self.energy { ENERGY_MOST_S } else { ENERGY_S },
            ..Goal::default()
        };
        let mut units_per_call = 1.0;
        let got = repeat(self.source, &goal, || {
            units_per_call = self.calls(engine, work, row)?.1;
            Ok(())
        })?;
        let joules = got.joules.map(|j| j / units_per_call);
        Ok((joules, got.uncertainty_fraction))
    }
}

impl Done {
    fn plus(self, b: Self) -> Self {
        Self {
            flops: self.flops + b.flops,
            bytes: self.bytes + b.bytes,
            least_s: self.least_s + b.least_s,
        }
    }

    fn minus(self, b: Self) -> Self {
        self.plus(b.times(-1.0))
    }

    fn times(self, x: f64) -> Self {
        Self {
            flops: self.flops * x,
            bytes: self.bytes * x,
            least_s: self.least_s * x,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After so many calls of so many seconds each, with so many between two.
    fn enough(calls: usize, call_s: f64, between_s: f64) -> bool {
        let n = calls as f64;
        let timing = Timing {
            samples: vec![call_s; calls],
            calls_s: n * call_s,
            spent_s: n * (call_s + between_s),
            ..Timing::default()
        };
        timing.enough()
    }

    #[test]
    fn calls_are_repeated_until_they_are_many_or_long_or_have_taken_long_with_what_is_between() {
        assert!(!enough(14, 0.1, 0.0) && enough(15, 0.1, 0.0));
        assert!(!enough(399, 1e-3, 0.0) && enough(401, 1e-3, 0.0));
        assert!(!enough(4095, 1e-6, 0.0) && enough(4096, 1e-6, 0.0));
        // Sweeps of 40 ms between calls of a microsecond.
        assert!(!enough(74, 1e-6, 0.04) && enough(75, 1e-6, 0.04));
        // Few of long ones.
        assert!(!enough(2, 5.0, 0.0) && enough(3, 1.0, 0.0));
    }
}
