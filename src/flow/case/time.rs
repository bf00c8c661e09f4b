//! `[time]` of a case.

use serde::Deserialize;

/// `[time]`: `end` or `steps` (whichever comes first, if both), and exactly one of `dt` and
/// `max_courant`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "TimeKeys")]
pub struct Time {
    /// `end`: simulated time at which the run ends, in seconds; infinite if not given.
    pub end_s: f64,
    /// `steps`: number of steps after which the run ends.
    pub steps: Option<usize>,
    /// `dt` or `max_courant`.
    pub step: StepSize,
}

/// How the time step is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSize {
    /// `dt`: the same step throughout, in seconds.
    Fixed {
        /// The step, in seconds.
        dt_s: f64,
    },
    /// `max_courant`: the largest step with max over cells of dt sum|phi| / (2 V) at most
    /// this, within the explicit viscous limit.
    Courant {
        /// The bound, such as 0.5.
        max: f64,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeKeys {
    end: Option<f64>,
    steps: Option<usize>,
    dt: Option<f64>,
    max_courant: Option<f64>,
}

impl TryFrom<TimeKeys> for Time {
    type Error = &'static str;

    fn try_from(keys: TimeKeys) -> Result<Self, Self::Error> {
        let step = match (keys.dt, keys.max_courant) {
            (Some(dt_s), None) => StepSize::Fixed { dt_s },
            (None, Some(max)) => StepSize::Courant { max },
            (Some(_), Some(_)) => return Err("dt and max_courant are both given; keep one"),
            (None, None) => return Err("no step size is given; add dt or max_courant"),
        };
        if keys.end.is_none() && keys.steps.is_none() {
            return Err("the run has no end; add end (seconds) or steps");
        }
        Ok(Self {
            end_s: keys.end.unwrap_or(f64::INFINITY),
            steps: keys.steps,
            step,
        })
    }
}
