//! Looking beside a settled cut now and then.
//!
//! A concurrent call lasts as long as its slower side, so a side that only becomes faster does
//! not show. A few calls at a cut beside the settled one do: they are dearer while nothing has
//! changed, and cheaper once the other side has time to spare.

use super::trial::Trial;

/// Calls between two looks at least.
const EVERY: u64 = 200;

/// Samples of a look; of one that seems to pay, to be sure.
const FIRST: usize = 3;
const SURE: usize = 12;

/// A look pays if it is cheaper by this share.
const GAIN: f64 = 0.04;

/// Distance of a look: a part of the rows, and less where one side has few.
const DISTANCE: f64 = 1.0 / 16.0;
const DISTANCE_MIN: f64 = 1.0 / 64.0;

/// When and where to look.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    since: u64,
    up: bool,
    trial: Option<Trial>,
    /// Time above that of the settled cut.
    excess_s: f64,
    /// The call after a look has cold caches.
    cold: bool,
}

/// What a call was.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// An ordinary one.
    Ordinary,
    /// Part of a look, or the one after it: no measure of the settled cut.
    Aside,
    /// The last of a look that has found a cheaper cut.
    Found(usize),
}

impl Probe {
    /// The cut of the look under way.
    pub fn cut(&self) -> Option<usize> {
        self.trial.as_ref().map(|t| t.cut)
    }

    /// Takes a call of `seconds` that cost `value`; `settled` is the cost at the settled cut.
    pub fn add(&mut self, seconds: f64, value: f64, settled: Option<f64>) -> Step {
        let Some(settled) = settled else {
            return Step::Ordinary;
        };
        let Some(trial) = &mut self.trial else {
            self.since += 1;
            if std::mem::take(&mut self.cold) {
                self.excess(seconds, value, settled);
                return Step::Aside;
            }
            return Step::Ordinary;
        };
        trial.add(value);
        let (n, cost, cut) = (trial.len(), trial.cost(), trial.cut);
        let seems = n >= FIRST && cost < (1.0 - 0.5 * GAIN) * settled;
        let pays = n >= SURE && cost < (1.0 - GAIN) * settled;
        let over = n >= SURE || (n >= FIRST && !seems);
        self.excess(seconds, value, settled);
        if over {
            self.trial = None;
            self.cold = true;
        }
        match pays {
            true => Step::Found(cut),
            false => Step::Aside,
        }
    }

    /// Starts a look beside `cut` if it is time and less than `allowed_s` has been spent.
    pub fn start(&mut self, cut: usize, most: usize, grain: usize, allowed_s: f64) {
        if self.since < EVERY || self.excess_s > allowed_s || most == 0 {
            return;
        }
        self.since = 0;
        let fewer = cut.min(most.saturating_sub(cut)) as f64 / 2.0;
        let far = (DISTANCE * most as f64).min(fewer.max(DISTANCE_MIN * most as f64));
        let far = ((far / grain as f64).round() as usize).max(1) * grain;
        self.up = match cut {
            0 => true,
            _ if cut >= most => false,
            _ => !self.up,
        };
        let beside = match self.up {
            true => (cut + far).min(most),
            false => cut.saturating_sub(far) / grain * grain,
        };
        self.trial = Some(Trial::new(beside));
    }

    /// Forgets the look under way: a search begins.
    pub fn stop(&mut self) {
        (self.trial, self.since, self.cold) = (None, 0, false);
    }

    /// Time spent above the settled cut.
    pub fn excess_s(&self) -> f64 {
        self.excess_s
    }

    fn excess(&mut self, seconds: f64, value: f64, settled: f64) {
        let above_s = seconds * (1.0 - settled / value);
        if above_s.is_finite() {
            self.excess_s += above_s;
        }
    }
}
