//! What the node draws while one side works, the other, or both.

use super::{Gauge, Goal, repeat};
use crate::{Error, Result};

/// Watts of the whole node in the three states of a concurrent call.
///
/// A call is far shorter than the interval of most sensors, and calls of many kernels follow on
/// each other, so a sensor cannot tell one call's energy. What it can tell is the mean power of
/// a state that is held for many intervals: each is measured before the run, by repeating a call
/// in that state until the uncertainty is small. A call's energy then follows from how long it
/// was in each state, which its two sides' times tell. All kernels of the time loop are bound by
/// memory, so one measurement serves them all; a change of power alone, without one of time, is
/// not seen.
///
/// Rails that tell CPU and GPU apart would not give more: the split moves power on the memory's
/// and the board's rails as well, and a waiting CPU still draws some.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Powers {
    /// The CPU works, the device does not.
    pub host_w: f64,
    /// The device works, the CPU waits for it.
    pub device_w: f64,
    /// Both work.
    pub both_w: f64,
}

impl Powers {
    /// `E = P_both min(h, d) + P_device (d - min(h, d)) + P_host (t - d)`: joules of a call of
    /// `seconds` in which the host was busy for the first `host_s` and the device for the first
    /// `device_s`. What is left of the call is overhead, which the CPU works off.
    pub fn joules(&self, seconds: f64, host_s: f64, device_s: f64) -> f64 {
        let device_s = device_s.clamp(0.0, seconds);
        let both_s = host_s.clamp(0.0, device_s);
        self.both_w * both_s
            + self.device_w * (device_s - both_s)
            + self.host_w * (seconds - device_s)
    }

    /// Measures the three states; `work` is called with the device's share of the rows, 0, 1 or
    /// `balance`, at which both sides take equally long. Returns the powers and the largest
    /// uncertainty as part of a power.
    ///
    /// # Errors
    /// What `work` returns; [`Error::Failure`] if the meter fails.
    pub fn measure(
        gauge: &dyn Gauge,
        goal: &Goal,
        balance: f64,
        mut work: impl FnMut(f64) -> Result<()>,
    ) -> Result<(Self, f64)> {
        let mut doubt = 0.0f64;
        let mut state = |ratio: f64| {
            let got = repeat(gauge, goal, || work(ratio))?;
            let watts = got.joules.map(|j| j / got.seconds).filter(|&w| w > 0.0);
            doubt = doubt.max(got.uncertainty_fraction.unwrap_or(1.0));
            watts.ok_or_else(|| {
                let what = "the energy meter failed while the sides' powers were measured";
                Error::failure(what, "check the meter, or run with --objective time")
            })
        };
        let powers = Self {
            host_w: state(0.0)?,
            device_w: state(1.0)?,
            both_w: state(balance)?,
        };
        Ok((powers, doubt))
    }
}
