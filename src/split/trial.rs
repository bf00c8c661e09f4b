//! One point of the search, measured until its comparison with the best is significant.

/// Samples above this multiple of the best, twice, reject a point at once.
const HOPELESS: f64 = 1.5;

/// Samples of a contender at least, and of an open comparison at most.
const CONTENDER: usize = 3;
const MOST: usize = 12;

/// Measurements at one cut.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The cut measured, in rows.
    pub cut: usize,
    /// The next sample is dropped: caches are cold after the cut has moved.
    cold: bool,
    samples: Vec<f64>,
}

impl Trial {
    /// A trial whose first sample is dropped.
    pub fn new(cut: usize) -> Self {
        Self {
            cut,
            cold: true,
            samples: Vec::new(),
        }
    }

    /// The cut has been elsewhere: drop the next sample.
    pub fn cool(&mut self) {
        self.cold = true;
    }

    /// Adds a sample; ones that are not positive numbers are dropped.
    pub fn add(&mut self, value: f64) {
        if std::mem::take(&mut self.cold) || !value.is_finite() || value <= 0.0 {
            return;
        }
        self.samples.push(value);
    }

    /// Samples kept.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Mean of the lower half of the samples: what disturbs a call only ever adds to it, and a
    /// mean has less noise than the minimum. Infinite without samples.
    pub fn cost(&self) -> f64 {
        let mut sorted = self.samples.clone();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len().div_ceil(2);
        match sorted.get(..half) {
            Some(low) if half > 0 => low.iter().sum::<f64>() / half as f64,
            _ => f64::INFINITY,
        }
    }

    /// Mean of all samples; not a number without samples.
    pub fn mean(&self) -> f64 {
        self.samples.iter().sum::<f64>() / self.samples.len() as f64
    }

    /// Standard error of [`cost`](Self::cost), taken as that of the mean.
    pub fn error(&self) -> f64 {
        let n = self.samples.len() as f64;
        let mean = self.mean();
        let square = |s: &f64| (s - mean) * (s - mean);
        let variance = self.samples.iter().map(square).sum::<f64>() / (n - 1.0).max(1.0);
        (variance / n).sqrt()
    }

    /// Is the point measured well enough, `best` being the best cost so far?
    pub fn decided(&self, best: Option<f64>) -> bool {
        let n = self.samples.len();
        let Some(best) = best else {
            return n >= CONTENDER;
        };
        let hopeless = |s: &&f64| **s > HOPELESS * best;
        if n < 2 {
            return false;
        }
        self.samples.iter().filter(hopeless).count() >= 2
            || n >= MOST
            || (n >= CONTENDER && !self.tied(best, 0.0))
    }

    /// Is the cost within the noise of `best`, whose standard error is `error`?
    pub fn tied(&self, best: f64, error: f64) -> bool {
        let freedom = self.samples.len().saturating_sub(1) as f64;
        (self.cost() - best).abs() <= significant(freedom) * self.error().hypot(error)
    }
}

/// Standard errors beyond which chance is below 5 %: Student's quantile, within 10 %.
fn significant(freedom: f64) -> f64 {
    2.0 + 9.0 / (freedom * freedom)
}
