//! When to look at iterations that the device does alone. Iterations after the last do nothing but
//! take their time, a third of a real one's, and a look takes about as much: so looks are few at
//! first, and then as near as what is left at the rate so far. A forecast of the whole fails, for
//! the residual of conjugate gradients goes up and down: solves of one flow took 17 to 61
//! iterations in turns.

/// Iterations until a look, at least unless the end is near; the first one is after twice as many.
/// Behind a factor products go on after the last iteration.
const LEAST: [usize; 2] = [4, 2];
/// Most, and what part of those that are done.
const MOST: usize = 32;
const PART: usize = 4;
/// A rate is that of as many iterations.
const KNOWN: usize = 8;

/// Foresees the last iteration.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// What an iteration has taken off the logarithm of the squared residual, on average.
    rate: Option<f64>,
    least: usize,
}

impl Pace {
    pub fn new(factor: bool) -> Self {
        Self {
            rate: None,
            least: LEAST[usize::from(factor)],
        }
    }

    /// The iteration to look after first, from a squared residual of `rr` down to `bound`.
    pub fn first(&self, rr: f64, bound: f64) -> usize {
        self.until(rr, bound, 1, 2 * self.least)
    }

    /// The next one, after a look has found `rr` in the place of `rr_begun` after `done` of them.
    pub fn next(&mut self, rr_begun: f64, rr: f64, bound: f64, done: usize) -> usize {
        let rate = (rr_begun / rr).ln() / done as f64;
        if done >= KNOWN {
            self.rate = (rate > 0.0 && rate.is_finite()).then_some(rate);
        }
        let most = (done / PART).clamp(self.least, MOST);
        done + self.until(rr, bound, self.least / 2, most)
    }

    /// Iterations from `rr` to `bound`, from `least` to `most`.
    fn until(&self, rr: f64, bound: f64, least: usize, most: usize) -> usize {
        match self.rate {
            // No number is nought.
            Some(rate) => (((rr / bound).ln() / rate).ceil() as usize).clamp(least, most),
            None => most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks, and iterations that are started, of a solve whose squared residual after n of them is
    /// `rr(n)`.
    fn follow(pace: &mut Pace, rr: &dyn Fn(usize) -> f64, bound: f64) -> (usize, usize, usize) {
        let last = (0..).find(|&n| rr(n) <= bound).unwrap_or(0);
        let (mut at, mut looks) = (pace.first(rr(0), bound), 1);
        loop {
            // A solve stops at the bound, whatever is started after it.
            let done = at.min(last);
            let next = pace.next(rr(0), rr(done), bound, done);
            if at >= last {
                return (looks, at, last);
            }
            assert!(next > at);
            at = next;
            looks += 1;
        }
    }

    #[test]
    fn few_looks_and_few_iterations_too_many() {
        for rate in [0.9, 0.3, 0.05] {
            let steady = |n: usize| (-rate * n as f64).exp();
            let waves = |n: usize| steady(n) * (2.0 + (0.5 * n as f64).sin());
            // Begins near its end, though all before were slow.
            let quick = |n: usize| 1e-14 * (-2.0 * rate * n as f64).exp();
            let mut pace = Pace::new(false);
            let solves: [&dyn Fn(usize) -> f64; 5] = [&steady, &waves, &quick, &waves, &quick];
            for (solve, rr) in solves.into_iter().enumerate() {
                let (looks, at, last) = follow(&mut pace, rr, 1e-16);
                assert!(looks <= 8 + last / 8, "{rate} {solve}: {looks} for {last}");
                assert!(at <= last + 4 + last / 16, "{rate} {solve}: {at} of {last}");
            }
        }
    }

    #[test]
    fn what_begins_at_its_end_or_has_no_number_is_soon_looked_at() {
        let mut pace = Pace::new(true);
        assert_eq!(pace.first(1.0, 1e-8), 4);
        assert_eq!(pace.next(1.0, 1e-4, 1e-8, 2), 4);
        let mut pace = Pace::new(false);
        assert_eq!(pace.next(1.0, 0.1, 1e-8, 10), 14);
        assert_eq!(pace.first(1.01e-8, 1e-8), 1);
        assert_eq!(pace.first(1e-9, 1e-8), 1);
        assert_eq!(pace.first(f64::NAN, 1e-8), 1);
        // A residual that has risen tells nothing of the end.
        assert_eq!(pace.next(1.0, 2.0, 1e-8, 800), 832);
        assert_eq!(pace.next(1.0, f64::NAN, 1e-8, 16), 20);
    }
}
