//! How long each side of a concurrent call was busy.

/// Weight of the latest call in a side's speed: a change is met within a few calls.
const LATEST: f64 = 0.5;

/// The device was the slower side if the call lasted longer than the host's part by this share.
const WAITED: f64 = 0.02;

/// What is left of an earlier call's weight in the launch overhead, which does not change.
const KEPT: f64 = 0.98;

/// Seconds that each side was busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busy {
    /// The CPU's threads.
    pub host_s: f64,
    /// The device.
    pub device_s: f64,
}

/// Speeds of the two sides.
///
/// The host knows when its own part has ended, and when the call has. Where the device was the
/// slower side its time is that of the call; where it was the faster one nobody saw when it
/// ended, and its time is taken from the speed that it had when it was last seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sides {
    host_s_per_row: Option<f64>,
    device_s_per_row: Option<f64>,
    launch: Launch,
}

/// Least squares of `t = a + b cut` over the calls in which the device was the slower side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Launch {
    n: f64,
    x: f64,
    t: f64,
    xx: f64,
    xt: f64,
}

impl Launch {
    fn note(&mut self, cut: usize, seconds: f64) {
        // Noise is a share of the time.
        let (x, w) = (cut as f64, 1.0 / (seconds * seconds));
        for (sum, now) in [
            (&mut self.n, w),
            (&mut self.x, w * x),
            (&mut self.t, w * seconds),
            (&mut self.xx, w * x * x),
            (&mut self.xt, w * x * seconds),
        ] {
            *sum = KEPT * *sum + now;
        }
    }

    /// `a`, at least 0; 0 while all calls had about the same cut.
    fn seconds(&self) -> f64 {
        let spread = self.n * self.xx - self.x * self.x;
        if spread <= 0.01 * self.n * self.xx {
            return 0.0;
        }
        ((self.t * self.xx - self.x * self.xt) / spread).max(0.0)
    }
}

impl Sides {
    /// Takes a call of `rows` rows of which the device took `cut`; `host_s` until the host's part
    /// was done, `seconds` in all.
    pub fn observe(&mut self, seconds: f64, host_s: f64, cut: usize, rows: usize) -> Busy {
        let host_s = if cut < rows {
            host_s.clamp(0.0, seconds)
        } else {
            0.0
        };
        let device_slower = cut > 0 && seconds - host_s > WAITED * seconds;
        if cut < rows {
            note(&mut self.host_s_per_row, host_s / (rows - cut) as f64);
        }
        if device_slower && seconds.is_finite() && seconds > 0.0 {
            self.launch.note(cut, seconds);
            let work_s = (seconds - self.launch.seconds()).max(0.5 * seconds);
            note(&mut self.device_s_per_row, work_s / cut as f64);
        }
        let device_s = match (cut, device_slower, self.device_s_per_row) {
            (0, ..) => 0.0,
            (_, true, _) => seconds,
            // Not seen yet: it has ended before the host at the latest.
            (_, false, None) => host_s,
            (_, false, Some(s)) => (self.launch.seconds() + s * cut as f64).min(host_s),
        };
        Busy { host_s, device_s }
    }

    /// Share of the rows on the device at which both sides would take equally long:
    /// `t_host / (t_host + t_device)` with the seconds per row of either; `None` before both have
    /// been seen.
    pub fn balance(&self) -> Option<f64> {
        let (host, device) = (self.host_s_per_row?, self.device_s_per_row?);
        Some(host / (host + device)).filter(|r| r.is_finite())
    }
}

fn note(speed: &mut Option<f64>, now: f64) {
    if now.is_finite() && now > 0.0 {
        *speed = Some(speed.map_or(now, |before| before + LATEST * (now - before)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_side_is_known_from_when_it_was_the_slower() {
        let mut sides = Sides::default();
        // Unseen, the device counts as busy for as long as the host.
        let busy = sides.observe(6.0, 6.0, 40, 100);
        assert_eq!((busy.host_s, busy.device_s), (6.0, 6.0));
        assert_eq!(sides.balance(), None);
        // All rows take the device 5 s, the host 10 s.
        let busy = sides.observe(5.0, 0.1, 100, 100);
        assert_eq!((busy.host_s, busy.device_s), (0.0, 5.0));
        let busy = sides.observe(6.0, 6.0, 40, 100);
        assert_eq!((busy.host_s, busy.device_s), (6.0, 2.0));
        let busy = sides.observe(4.0, 2.0, 80, 100);
        assert_eq!((busy.host_s, busy.device_s), (2.0, 4.0));
        let busy = sides.observe(10.0, 10.0, 0, 100);
        assert_eq!((busy.host_s, busy.device_s), (10.0, 0.0));
        let balance = sides.balance().expect("both seen");
        assert!((balance - 2.0 / 3.0).abs() < 1e-9, "{balance}");
    }

    #[test]
    fn a_change_of_speed_is_met_within_eight_calls() {
        let mut sides = Sides::default();
        for device_s in [vec![5.0; 8], vec![10.0; 8]].concat() {
            sides.observe(device_s / 2.0, 2.0, 50, 100);
        }
        let balance = sides.balance().expect("both seen");
        assert!((balance - 4.0 / 14.0).abs() < 0.01, "{balance}");
    }
}
