//! Data of the curve that `couloir tune` draws: cost of a call over the split ratio.

use super::tuner::{Objective, Tuner};

/// `(ratio, seconds)` by ratio.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The cuts visited.
    pub measured: Vec<(f64, f64)>,
    /// `max(T_host (1 - r), T_device r)` from the two single-device times: what sides that do
    /// not slow each other would take (the dashed line of thesis figure 3.4). Its corners: the
    /// CPU alone, the balance, the device alone. Empty if a single-device time is unknown, and for
    /// another objective than time.
    pub ideal: Vec<(f64, f64)>,
}

impl Curve {
    /// The curve of a site.
    pub fn new(tuner: &Tuner) -> Self {
        Self {
            measured: tuner.visited(),
            ideal: match (tuner.host_alone(), tuner.device_alone()) {
                (Some(host_s), Some(device_s)) if tuner.objective() == Objective::Time => {
                    ideal(host_s, device_s)
                }
                _ => Vec::new(),
            },
        }
    }
}

fn ideal(host_s: f64, device_s: f64) -> Vec<(f64, f64)> {
    let r = host_s / (host_s + device_s);
    let corners = [(0.0, host_s), (r, r * device_s), (1.0, device_s)];
    let finite = corners.iter().all(|c| c.0.is_finite() && c.1.is_finite());
    if finite { corners.to_vec() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::tuner::{Call, Params};

    #[test]
    fn the_ideal_line_has_its_corner_where_both_sides_take_equally_long() {
        assert_eq!(ideal(3.0, 1.0), [(0.0, 3.0), (0.75, 0.75), (1.0, 1.0)]);
        assert!(ideal(f64::INFINITY, 1.0).is_empty());
        assert!(ideal(0.0, 0.0).is_empty());
    }

    #[test]
    fn a_tuned_site_has_both_lines_and_a_new_one_none() {
        let mut tuner = Tuner::new(1000, 10, 0.5, Params::default());
        assert_eq!(Curve::new(&tuner), Curve::default());
        while tuner.tuning() {
            let r = tuner.cut() as f64 / 1000.0;
            let seconds_s = (3.0 * (1.0 - r)).max(r) + 0.1;
            tuner.record(Call { seconds_s });
        }
        let curve = Curve::new(&tuner);
        assert!(curve.measured.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(curve.measured[0], (0.0, 3.1));
        assert_eq!(curve.ideal[0].1, 3.1);
        // Nothing measured lies below the line by more than the fixed part of a call.
        for (r, s) in curve.measured {
            assert!(s + 0.1 >= (3.1 * (1.0 - r)).max(1.1 * r), "{r} {s}");
        }
    }
}
