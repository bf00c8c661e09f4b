//! What a tuner minimises, and within which limits.

use super::sides::Busy;
use crate::energy::Powers;

/// What one call cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Wall time of the concurrent run of both sides.
    pub seconds_s: f64,
}

/// What the cut minimises. Energy cannot be asked for without the powers to know it from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Objective {
    /// Seconds of the concurrent run.
    #[default]
    Time,
    /// Joules of the whole node during it.
    Energy(Powers),
    /// Their product, J s.
    Edp(Powers),
}

impl Objective {
    /// Its name in cases and caches.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Energy(_) => "energy",
            Self::Edp(_) => "edp",
        }
    }

    /// Cost of a call of `seconds` in which the sides were busy as given: s, J or J s.
    pub(super) fn value(self, seconds: f64, busy: Busy) -> f64 {
        let joules = |p: Powers| p.joules(seconds, busy.host_s, busy.device_s);
        match self {
            Self::Time => seconds,
            Self::Energy(powers) => joules(powers),
            Self::Edp(powers) => joules(powers) * seconds,
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
    /// Time that looks beside the settled cut may spend, as a share like `retune_share`.
    pub probe_share: f64,
    /// Change of the median cost that starts a re-tuning.
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
            probe_share: 0.005,
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
