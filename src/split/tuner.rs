//! Keeps the cut of one call site at its best while the simulation runs.
//!
//! Results do not depend on the cut, so every call of the kernel is a measurement: the tuner
//! says where to cut the next call and is told what the call cost. It never reads a clock.

use std::collections::BTreeMap;

use super::drift::Drift;
use super::probe::{Probe, Step};
use super::sides::{Busy, Sides};
use super::tabu;
use super::trial::Trial;
use super::tuning::Tuning;

pub use super::params::{Call, Objective, Params};

/// Calls' worth of time by which a re-tuning may run ahead of its share of the run.
const BURST_CALLS: f64 = 20.0;

/// The state of one call site.
#[derive(Clone, Debug)]
pub struct Tuner {
    rows: usize,
    grain: usize,
    params: Params,
    /// The cut settled on, or the best so far.
    best_cut: usize,
    state: State,
    drift: Drift,
    probe: Probe,
    sides: Sides,
    calls: u64,
    /// Latest cost of every cut visited.
    visited: BTreeMap<usize, f64>,
    tuning_excess_s: f64,
    retuning_excess_s: f64,
    /// Time since the first tuning, re-tunings included.
    tuned_s: f64,
    retunes: Vec<u64>,
}

#[derive(Clone, Debug)]
enum State {
    Fixed,
    Settled,
    Tuning(Box<Tuning>),
}

impl Tuner {
    /// Tunes the cut of `rows` rows in multiples of `grain` (0 counts as 1) from the ratio
    /// `start`, by equation 3.4 of the thesis `BW_device / (BW_device + BW_host)`.
    pub fn new(rows: usize, grain: usize, start: f64, params: Params) -> Self {
        let mut tuner = Self::fixed(rows, grain, start);
        tuner.params = params;
        tuner.best_cut = tuner.best_cut.min(tuner.most());
        let points = tuner.most() / tuner.grain;
        let search = tabu::Params {
            step: (points as f64 * tuner.params.first_step).round().max(1.0) as usize,
            restarts: tuner.params.restarts,
            max_points: tuner.params.max_points,
            seed: tuner.params.seed,
            ..tabu::Params::new(tuner.most(), tuner.grain, tuner.best_cut)
        };
        tuner.tune(search, true);
        tuner
    }

    /// Always cuts at the multiple of `grain` nearest to `ratio` (clamped to 0..=1).
    pub fn fixed(rows: usize, grain: usize, ratio: f64) -> Self {
        let grain = grain.max(1);
        let cut = (ratio.clamp(0.0, 1.0) * rows as f64 / grain as f64).round() as usize * grain;
        Self {
            rows,
            grain,
            params: Params::default(),
            best_cut: if ratio >= 1.0 { rows } else { cut.min(rows) },
            state: State::Fixed,
            drift: Drift::default(),
            probe: Probe::default(),
            sides: Sides::default(),
            calls: 0,
            visited: BTreeMap::new(),
            tuning_excess_s: 0.0,
            retuning_excess_s: 0.0,
            tuned_s: 0.0,
            retunes: Vec::new(),
        }
    }

    /// Rows of the next call that the device takes: a multiple of the grain, or all.
    pub fn cut(&self) -> usize {
        match &self.state {
            State::Tuning(t) if !t.paused => t.trial.cut,
            _ => self.probe.cut().unwrap_or(self.best_cut),
        }
    }

    /// Tells what the call at [`cut`](Self::cut) cost, both sides taken as busy throughout.
    pub fn record(&mut self, call: Call) {
        let seconds = call.seconds_s;
        let (cut, host) = (self.cut(), seconds);
        let busy = Busy {
            host_s: if cut < self.rows { host } else { 0.0 },
            device_s: if cut > 0 { seconds } else { 0.0 },
        };
        self.note(seconds, busy);
    }

    /// The same, with the time until the host's part was done.
    pub fn record_sides(&mut self, call: Call, host_s: f64) {
        let busy = (self.sides).observe(call.seconds_s, host_s, self.cut(), self.rows);
        self.note(call.seconds_s, busy);
    }

    fn note(&mut self, seconds_s: f64, busy: Busy) {
        let value = self.params.objective.value(seconds_s, busy);
        self.calls += 1;
        let mut state = std::mem::replace(&mut self.state, State::Settled);
        if let State::Tuning(t) = &mut state {
            if !t.first {
                self.tuned_s += seconds_s;
            }
            if !self.advance(t, seconds_s, value) {
                self.best_cut = t.best().map_or(self.best_cut, |b| b.cut);
                self.drift = Drift::default();
                state = State::Settled;
            }
            self.state = state;
            return;
        }
        let settled = matches!(state, State::Settled);
        self.state = state;
        if settled {
            self.tuned_s += seconds_s;
        }
        let full = self.drift.reference().and(self.drift.median());
        let step = self.probe.add(seconds_s, value, full.filter(|_| settled));
        let drifted = step == Step::Ordinary && self.drift.add(value, self.params.drift);
        if !settled {
            return;
        }
        let start = match step {
            Step::Found(cut) => Some(cut),
            Step::Ordinary if drifted => match self.params.objective {
                Objective::Time => Some(self.balanced().unwrap_or(self.best_cut)),
                _ => Some(self.best_cut),
            },
            _ => None,
        };
        match start.filter(|_| self.credit_s() > 0.0) {
            Some(start) => self.retune(start),
            None if step == Step::Ordinary => {
                let allowed_s = self.params.probe_share * self.tuned_s;
                let most = self.most();
                self.probe.start(self.best_cut, most, self.grain, allowed_s);
            }
            None => {}
        }
    }

    fn retune(&mut self, start: usize) {
        self.probe.stop();
        self.retunes.push(self.calls);
        let search = tabu::Params {
            ends: false,
            restarts: 0,
            max_points: 24,
            ..tabu::Params::new(self.most(), self.grain, start)
        };
        self.tune(search, false);
    }

    /// Where both sides would take equally long at their latest speeds, if those are known.
    fn balanced(&self) -> Option<usize> {
        let points = self.sides.balance()? * self.rows as f64 / self.grain as f64;
        Some((points.round() as usize * self.grain).min(self.most()))
    }

    /// Is a tuning going on?
    pub fn tuning(&self) -> bool {
        matches!(self.state, State::Tuning(_))
    }

    /// Are cuts being tried? Not while a tuning waits, at the best cut, for time that it may spend.
    pub fn searching(&self) -> bool {
        matches!(&self.state, State::Tuning(t) if !t.paused)
    }

    /// Is the first one going on? Later ones spend a small share of the time, and wait in between.
    pub fn untuned(&self) -> bool {
        matches!(&self.state, State::Tuning(t) if t.first)
    }

    /// Share of the rows on the device: settled, or the best so far.
    pub fn ratio(&self) -> f64 {
        self.ratio_of(self.best_cut)
    }

    /// `(ratio, cost)` of every cut visited, by ratio; the latest cost of each.
    pub fn visited(&self) -> Vec<(f64, f64)> {
        let point = |(&cut, &cost): (&usize, &f64)| (self.ratio_of(cut), cost);
        self.visited.iter().map(point).collect()
    }

    /// Cost of a call that the CPU does alone, if that was measured.
    pub fn host_alone(&self) -> Option<f64> {
        self.visited.get(&0).copied()
    }

    /// Cost of a call that the device does alone, if that was measured.
    pub fn device_alone(&self) -> Option<f64> {
        self.visited.get(&self.rows).copied()
    }

    /// Median of the latest calls at the settled cut; while tuning, the best cost so far.
    pub fn settled(&self) -> Option<f64> {
        match &self.state {
            State::Tuning(_) => self.visited.get(&self.best_cut).copied(),
            _ => self.drift.median(),
        }
    }

    /// Cost of the better single side over the settled cost.
    pub fn speed_up(&self) -> Option<f64> {
        let better = self.host_alone()?.min(self.device_alone()?);
        Some(better / self.settled()?)
    }

    /// Numbers of the calls, from 1, after which re-tunings began.
    pub fn retunes(&self) -> &[u64] {
        &self.retunes
    }

    /// What is minimised.
    pub fn objective(&self) -> Objective {
        self.params.objective
    }

    /// Time spent above the best cut known: by looks beside the settled one.
    pub fn probing_s(&self) -> f64 {
        self.probe.excess_s()
    }

    /// Time spent above the best cut known: by the first tuning, and by all re-tunings.
    pub fn excess_s(&self) -> (f64, f64) {
        (self.tuning_excess_s, self.retuning_excess_s)
    }

    fn ratio_of(&self, cut: usize) -> f64 {
        cut as f64 / self.rows.max(1) as f64
    }

    /// Greatest cut: all rows, or what the CPU's least share leaves, in whole grains.
    fn most(&self) -> usize {
        match self.params.least_host_rows {
            0 => self.rows,
            least => self.rows.saturating_sub(least) / self.grain * self.grain,
        }
    }

    /// What re-tunings may still spend.
    fn credit_s(&self) -> f64 {
        self.params.retune_share * self.tuned_s - self.retuning_excess_s
    }

    fn tune(&mut self, search: tabu::Params, first: bool) {
        if let Some(tuning) = Tuning::new(search, first) {
            self.state = State::Tuning(Box::new(tuning));
        }
    }

    /// One call of a tuning; false when it is over.
    fn advance(&mut self, t: &mut Tuning, seconds_s: f64, value: f64) -> bool {
        if t.paused {
            t.paused = self.credit_s() <= 0.0;
            t.trial.cool();
            return true;
        }
        t.add(seconds_s, value);
        if !t.trial_over() {
            return true;
        }
        self.visited.insert(t.trial.cut, t.trial.cost());
        let excess_s = t.take_excess_s();
        // Time has its corner there, and the search finds it; joules bend there, less sharply.
        if self.params.objective != Objective::Time
            && let Some(cut) = self.balanced()
        {
            t.suggest(cut);
        }
        let more = t.next_trial();
        self.best_cut = t.best().map_or(self.best_cut, |b| b.cut);
        if t.first {
            self.tuning_excess_s += excess_s;
            let spent = self.tuning_excess_s > self.params.budget_s && t.opened();
            return more && !spent;
        }
        self.retuning_excess_s += excess_s;
        let ahead_s = BURST_CALLS * t.best().map_or(0.0, Trial::mean);
        t.paused = self.credit_s() < -ahead_s;
        more
    }
}
