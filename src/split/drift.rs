//! Has the time of a call changed for good?

use std::collections::VecDeque;

/// Calls whose median is watched.
pub const WINDOW: usize = 15;

/// Median of the last [`WINDOW`] calls against the median when the cut was settled.
///
/// A median moves only when more than half of the window has changed, so single slow calls
/// go unnoticed and a lasting change is seen after eight calls.
#[derive(Clone, Debug, Default)]
pub struct Drift {
    recent: VecDeque<f64>,
    reference: Option<f64>,
}

impl Drift {
    /// Adds a call that cost `value`; true if the median departs by more than the share
    /// `threshold` from the reference, in either direction. The first full window is the
    /// reference.
    pub fn add(&mut self, value: f64, threshold: f64) -> bool {
        if self.recent.len() == WINDOW {
            self.recent.pop_front();
        }
        self.recent.push_back(value);
        if self.recent.len() < WINDOW {
            return false;
        }
        let now = median(self.recent.iter().copied());
        let reference = *self.reference.get_or_insert(now);
        now > reference * (1.0 + threshold) || now < reference / (1.0 + threshold)
    }

    /// The median when the cut was settled; `None` before the first full window.
    pub fn reference(&self) -> Option<f64> {
        self.reference
    }

    /// Median of the last calls (fewer than [`WINDOW`] at the start); `None` before the first.
    pub fn median(&self) -> Option<f64> {
        (!self.recent.is_empty()).then(|| median(self.recent.iter().copied()))
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lasting_change_is_seen_after_eight_calls_in_either_direction() {
        for factor in [1.3, 0.7] {
            let mut drift = Drift::default();
            for _ in 0..40 {
                assert!(!drift.add(2.0, 0.25));
            }
            let calls = (1..).find(|_| drift.add(2.0 * factor, 0.25));
            assert_eq!(calls, Some(8));
        }
    }

    #[test]
    fn outliers_and_noise_are_no_drift() {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut drift = Drift::default();
        for call in 0..10_000 {
            let outlier = if call % 5 == 0 { 10.0 } else { 1.0 };
            assert!(!drift.add(outlier * (0.9 + 0.2 * rng.f64()), 0.25));
        }
        assert!((drift.median().unwrap_or(0.0) - 1.0).abs() < 0.1);
    }
}
