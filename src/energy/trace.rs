//! Energy over time of one rail: the pure core of the sampler.

use std::collections::VecDeque;

/// A reading at a time.
#[derive(Clone, Copy, Debug)]
struct Sample {
    t_s: f64,
    joules: f64,
    /// The energy between the sample before and this one is unknown.
    after_gap: bool,
}

/// Cumulative joules at rising times, the newest `capacity` of them.
#[derive(Clone, Debug)]
pub struct Trace {
    samples: VecDeque<Sample>,
    capacity: usize,
    gap_ahead: bool,
}

impl Trace {
    /// An empty trace of at most `capacity` (at least two) samples.
    pub fn new(capacity: usize) -> Self {
        Self {
            samples: VecDeque::new(),
            capacity: capacity.max(2),
            gap_ahead: false,
        }
    }

    /// Appends `joules` at `t_s`; a sample that is not later than the newest is dropped.
    pub fn push(&mut self, t_s: f64, joules: f64) {
        if self.newest_s().is_some_and(|last| t_s <= last) {
            return;
        }
        if self.samples.len() == self.capacity {
            self.samples.pop_front();
        }
        self.samples.push_back(Sample {
            t_s,
            joules,
            after_gap: std::mem::take(&mut self.gap_ahead),
        });
    }

    /// What happens from the newest sample to the next one is unknown.
    pub fn mark_gap(&mut self) {
        self.gap_ahead = true;
    }

    /// Time of the newest sample.
    pub fn newest_s(&self) -> Option<f64> {
        self.samples.back().map(|s| s.t_s)
    }

    /// Joules from `t0_s` to `t1_s`, linear between samples; `None` where the samples do not
    /// reach or a gap lies between.
    pub fn energy_between(&self, t0_s: f64, t1_s: f64) -> Option<f64> {
        let end = self.samples.partition_point(|s| s.t_s < t1_s);
        let begin = self.samples.partition_point(|s| s.t_s <= t0_s);
        if t0_s > t1_s || begin == 0 || end == self.samples.len() {
            return None;
        }
        // Every interval that [t0, t1] enters ends with one of these samples.
        if (begin..=end).any(|i| self.samples.get(i).is_some_and(|s| s.after_gap)) {
            return None;
        }
        Some(self.joules_at(t1_s, end)? - self.joules_at(t0_s, begin)?)
    }

    /// Joules at `t_s`, which lies between samples `after - 1` and `after`.
    fn joules_at(&self, t_s: f64, after: usize) -> Option<f64> {
        let before = self.samples.get(after.checked_sub(1)?)?;
        let Some(after) = self.samples.get(after) else {
            return (t_s <= before.t_s).then_some(before.joules);
        };
        let part = (t_s - before.t_s) / (after.t_s - before.t_s);
        Some(before.joules + part * (after.joules - before.joules))
    }

    /// Mean watts from the newest sample back to the first one at least `window_s` older
    /// (or the oldest after a gap); `None` with fewer than two samples.
    pub fn power_w(&self, window_s: f64) -> Option<f64> {
        let newest = self.samples.back()?;
        let mut oldest = newest;
        for sample in self.samples.iter().rev().skip(1) {
            if oldest.after_gap || newest.t_s - oldest.t_s >= window_s {
                break;
            }
            oldest = sample;
        }
        let seconds = newest.t_s - oldest.t_s;
        (seconds > 0.0).then(|| (newest.joules - oldest.joules) / seconds)
    }
}
