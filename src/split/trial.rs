//! One point of the search, measured until its comparison with the best is significant.

/// Samples above this multiple of the best, twice, reject a point at once.
const HOPELESS: f64 = 1.5;

/// Samples of a contender at least, and of an open comparison at most.
const CONTENDER: usize = 3;
const MOST: usize = 12;

/// A standard error below this share of the best leaves no difference that matters.
const EXACT: f64 = 0.002;

/// Measurements at one cut.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The cut measured, in rows.
    pub cut: usize,
    /// The next sample is dropped: caches are cold after the cut has moved.
    cold: bool,
    samples: Vec<f64>,
    /// Samples before the cut was last moved here.
    earlier: usize,
}

impl Trial {
    /// A trial whose first sample is dropped.
    pub fn new(cut: usize) -> Self {
        Self {
            cut,
            cold: true,
            samples: Vec::new(),
            earlier: 0,
        }
    }

    /// The cut has been elsewhere: drop the next sample.
    pub fn cool(&mut self) {
        self.cold = true;
        self.earlier = self.samples.len();
    }

    /// Samples since [`cool`](Self::cool).
    pub fn burst(&self) -> usize {
        self.samples.len() - self.earlier
    }

    /// Orders by cost.
    pub fn cheaper(a: &&Self, b: &&Self) -> std::cmp::Ordering {
        a.cost().total_cmp(&b.cost())
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

    /// Mean of the samples but the lowest and highest quarter: slow calls do not move it, it has
    /// little more noise than the mean, and unlike the minimum no trend with the number of
    /// samples. Infinite without samples.
    pub fn cost(&self) -> f64 {
        let (sorted, cut) = self.sorted();
        match sorted.get(cut..sorted.len() - cut) {
            Some(kept) if !kept.is_empty() => kept.iter().sum::<f64>() / kept.len() as f64,
            _ => f64::INFINITY,
        }
    }

    /// Mean of all samples; not a number without samples.
    pub fn mean(&self) -> f64 {
        mean(&self.samples)
    }

    /// Standard error of [`cost`](Self::cost): the deviation of the samples, those left out set
    /// to the nearest one kept, over the share kept.
    pub fn error(&self) -> f64 {
        let (mut sorted, cut) = self.sorted();
        let n = sorted.len();
        if let Some((&low, &high)) = sorted.get(cut).zip(sorted.get(n.wrapping_sub(cut + 1))) {
            sorted.iter_mut().for_each(|s| *s = s.clamp(low, high));
        }
        let mean = mean(&sorted);
        let squares: f64 = sorted.iter().map(|s| (s - mean) * (s - mean)).sum();
        let kept = n as f64 - 2.0 * cut as f64;
        (squares * n as f64 / (n as f64 - 1.0).max(1.0)).sqrt() / kept.max(1.0)
    }

    /// Cost plus its error: of equally cheap cuts the better measured one comes first.
    pub fn doubt(&self) -> f64 {
        self.cost() + self.error()
    }

    /// Samples in order, and how many are left out at either end.
    fn sorted(&self) -> (Vec<f64>, usize) {
        let mut sorted = self.samples.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let cut = sorted.len() / 4;
        (sorted, cut)
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
            || (n >= CONTENDER && (!self.tied(best, 0.0) || self.error() < EXACT * best))
    }

    /// Is the cost within the noise of `best`, whose standard error is `error`?
    pub fn tied(&self, best: f64, error: f64) -> bool {
        let freedom = self.samples.len().saturating_sub(1) as f64;
        (self.cost() - best).abs() <= significant(freedom) * self.error().hypot(error)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard errors beyond which chance is below 5 %: Student's quantile, within 10 %.
fn significant(freedom: f64) -> f64 {
    2.0 + 9.0 / (freedom * freedom)
}
