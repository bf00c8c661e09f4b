//! Keeps the cut of one call site at its best while the simulation runs.
//!
//! Results do not depend on the cut, so every call of the kernel is a measurement: the tuner
//! says where to cut the next call and is told what the call cost. It never reads a clock.

use std::collections::BTreeMap;

use super::drift::Drift;
use super::tabu;
use super::trial::Trial;
use super::tuning::Tuning;

/// Calls' worth of time by which a re-tuning may run ahead of its share of the run.
const BURST_CALLS: f64 = 20.0;

/// What one call cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Wall time of the concurrent run of both sides.
    pub seconds_s: f64,
}

/// What the cut minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// Time of the concurrent run.
    #[default]
    Time,
}

impl Objective {
    fn value(self, call: Call) -> f64 {
        match self {
            Self::Time => call.seconds_s,
        }
    }
}

/// Limits of the tuning of one site.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// What is minimised.
    pub objective: Objective,
    /// Rows that the CPU must keep (rows that wait for a halo).
    pub least_host_rows: usize,
    /// First step as a share of the rows.
    pub first_step: f64,
    /// Cuts visited by the first tuning at most.
    pub max_points: usize,
    /// Descents from other points.
    pub restarts: usize,
    /// Time that the first tuning may spend above the best cut known; both ends are measured
    /// in any case.
    pub budget_s: f64,
    /// The same for all re-tunings together, as a share of the time since the first tuning.
    pub retune_share: f64,
    /// Change of the median time that starts a re-tuning.
    pub drift: f64,
    /// Seed of the restarts.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            objective: Objective::Time,
            least_host_rows: 0,
            first_step: 1.0 / 16.0,
            max_points: 90,
            restarts: 3,
            budget_s: 2.0,
            retune_share: 0.01,
            drift: 0.25,
            seed: 1,
        }
    }
}

impl Params {
    /// For a start that an earlier run found: a small step, few points, no restart.
    pub fn near(self) -> Self {
        Self {
            first_step: 1.0 / 64.0,
            max_points: 12,
            restarts: 0,
            ..self
        }
    }
}

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
            _ => self.best_cut,
        }
    }

    /// Tells what the call at [`cut`](Self::cut) cost.
    pub fn record(&mut self, call: Call) {
        let value = self.params.objective.value(call);
        self.calls += 1;
        let mut state = std::mem::replace(&mut self.state, State::Settled);
        if let State::Tuning(t) = &mut state {
            if !t.first {
                self.tuned_s += call.seconds_s;
            }
            if !self.advance(t, call.seconds_s, value) {
                self.best_cut = t.best().map_or(self.best_cut, |b| b.cut);
                self.drift = Drift::default();
                state = State::Settled;
            }
            self.state = state;
            return;
        }
        let drifted = self.drift.add(value, self.params.drift);
        let retune = drifted && matches!(state, State::Settled) && self.credit_s() > 0.0;
        if matches!(state, State::Settled) {
            self.tuned_s += call.seconds_s;
        }
        self.state = state;
        if retune {
            self.retunes.push(self.calls);
            let search = tabu::Params {
                ends: false,
                restarts: 0,
                max_points: 24,
                ..tabu::Params::new(self.most(), self.grain, self.best_cut)
            };
            self.tune(search, false);
        }
    }

    /// Is a tuning going on?
    pub fn tuning(&self) -> bool {
        matches!(self.state, State::Tuning(_))
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
    pub fn host_alone_s(&self) -> Option<f64> {
        self.visited.get(&0).copied()
    }

    /// Cost of a call that the device does alone, if that was measured.
    pub fn device_alone_s(&self) -> Option<f64> {
        self.visited.get(&self.rows).copied()
    }

    /// Median of the latest calls at the settled cut; while tuning, the best cost so far.
    pub fn settled_s(&self) -> Option<f64> {
        match &self.state {
            State::Tuning(_) => self.visited.get(&self.best_cut).copied(),
            _ => self.drift.median(),
        }
    }

    /// Time of the better single side over the settled time.
    pub fn speed_up(&self) -> Option<f64> {
        let better = self.host_alone_s()?.min(self.device_alone_s()?);
        Some(better / self.settled_s()?)
    }

    /// Numbers of the calls, from 1, after which re-tunings began.
    pub fn retunes(&self) -> &[u64] {
        &self.retunes
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
