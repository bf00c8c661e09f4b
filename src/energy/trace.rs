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

/// Cumulative joules at rising times, at most `capacity` of them. When it is full, every second
/// sample of the older half goes: sums over long times stay exact, short times long ago are
/// interpolated more coarsely.
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
            self.thin();
        }
        self.samples.push_back(Sample {
            t_s,
            joules,
            after_gap: std::mem::take(&mut self.gap_ahead),
        });
    }

    fn thin(&mut self) {
        let half = self.samples.len() / 2;
        let mut gap = false;
        let mut kept = VecDeque::with_capacity(self.capacity);
        for (index, mut sample) in self.samples.drain(..).enumerate() {
            gap |= sample.after_gap;
            // The oldest stays, so that the reach does.
            if index >= half || index % 2 == 0 {
                sample.after_gap = std::mem::take(&mut gap);
                kept.push_back(sample);
            }
        }
        self.samples = kept;
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

    /// Seconds from `t_s` to the nearest sample; `None` without samples.
    pub fn distance_s(&self, t_s: f64) -> Option<f64> {
        let after = self.samples.partition_point(|s| s.t_s < t_s);
        let near = after.saturating_sub(1)..(after + 1).min(self.samples.len());
        let distances = self.samples.range(near).map(|s| (s.t_s - t_s).abs());
        distances.reduce(f64::min)
    }

    /// Between the samples in `[t0_s, t1_s]`: their number of intervals, the mean interval in
    /// seconds, and the standard deviation of the intervals' powers in watts. `None` with fewer
    /// than two intervals.
    pub fn spread(&self, t0_s: f64, t1_s: f64) -> Option<(f64, f64, f64)> {
        let begin = self.samples.partition_point(|s| s.t_s < t0_s);
        let end = self.samples.partition_point(|s| s.t_s <= t1_s);
        let inside = self.samples.range(begin..end.max(begin));
        let (mut n, mut seconds, mut mean, mut squares) = (0.0, 0.0, 0.0, 0.0);
        let mut last: Option<&Sample> = None;
        for sample in inside {
            if let Some(last) = last {
                let dt_s = sample.t_s - last.t_s;
                let watts = (sample.joules - last.joules) / dt_s;
                n += 1.0;
                seconds += dt_s;
                let off = watts - mean;
                mean += off / n;
                squares += off * (watts - mean);
            }
            last = Some(sample);
        }
        (n >= 2.0).then(|| (n, seconds / n, (squares / (n - 1.0)).max(0.0).sqrt()))
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
