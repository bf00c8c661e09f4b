//! Energy of work that is shorter than the sensor's interval: repeat it.

use super::{Energy, Source};
use crate::Result;

/// A clock and a meter; tests give synthetic ones.
pub trait Gauge {
    /// Why it does not measure; `None` if it does.
    fn why_not(&self) -> Option<String> {
        None
    }

    /// Seconds since some start.
    fn now_s(&self) -> f64;

    /// Energy from `t0_s` to `t1_s` on that clock.
    fn interval(&self, t0_s: f64, t1_s: f64) -> Energy;
}

impl Gauge for Source {
    fn why_not(&self) -> Option<String> {
        let text = self.text();
        (!self.measured()).then(|| match text {
            "none" => "this node has no energy sensor that can be read".to_string(),
            _ => format!(
                "this node has no energy sensor that can be read, and with the constant power of \
                 {text} the least energy is the least time"
            ),
        })
    }

    fn now_s(&self) -> f64 {
        self.now_s()
    }

    fn interval(&self, t0_s: f64, t1_s: f64) -> Energy {
        self.interval(t0_s, t1_s)
    }
}

/// When to stop repeating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Uncertainty over energy.
    pub fraction: f64,
    /// Seconds after which what has been reached must do.
    pub seconds_max: f64,
}

impl Default for Goal {
    /// 2 %, within a minute.
    fn default() -> Self {
        Self {
            fraction: 0.02,
            seconds_max: 60.0,
        }
    }
}

/// Energy of repeated work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// Calls measured; one more came first, to warm up.
    pub calls: u64,
    /// Mean seconds of a call.
    pub seconds: f64,
    /// Mean joules of a call; `None` if the meter failed or there is none.
    pub joules: Option<f64>,
    /// Uncertainty over energy that was reached; `None` for a model.
    pub uncertainty_fraction: Option<f64>,
}

/// Calls `work` until the energy of all calls is known to within `goal.fraction`.
///
/// The ends of the measured time are uncertain by about one sensor interval `u`, whatever the
/// number of calls `n` of `t` seconds: the error falls as `u / (n t)`, and 2 % need some fifty
/// intervals. The meter is asked at times that grow by what is still missing, so that asking does
/// not disturb the work. A model or a failed meter ends it after the first look.
///
/// # Errors
/// What `work` returns.
pub fn repeat(
    gauge: &dyn Gauge,
    goal: &Goal,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Repeated> {
    work()?;
    let start_s = gauge.now_s();
    let (mut calls, mut look_s) = (0u64, 0.0);
    loop {
        work()?;
        calls += 1;
        let now_s = gauge.now_s();
        let passed_s = now_s - start_s;
        if passed_s < look_s || passed_s <= 0.0 {
            continue;
        }
        let energy = gauge.interval(start_s, now_s);
        let pair = energy.uncertainty_j.zip(energy.joules);
        // A sensor that has not been updated yet shows nothing, which is as good as unknown.
        let fraction = pair.map(|(u, j)| if j > 0.0 { u / j } else { f64::INFINITY });
        let open = fraction.is_some_and(|f| f > goal.fraction);
        if !open || passed_s >= goal.seconds_max {
            return Ok(Repeated {
                calls,
                seconds: passed_s / calls as f64,
                joules: energy.joules.map(|j| j / calls as f64),
                uncertainty_fraction: fraction.filter(|f| f.is_finite()),
            });
        }
        let missing = fraction.map_or(2.0, |f| f / goal.fraction);
        look_s = (passed_s * missing.clamp(1.1, 4.0)).min(goal.seconds_max);
    }
}
