//! When to look at iterations that the device does alone. Iterations after the last do nothing but
//! take their time (an H100 some 20 us at a million rows, a third of a real one's or more), and at a
//! look it waits for the host (9 us): so looks are few at first, and then as near as what is left at
//! the rate so far. A forecast of the whole fails, for the residual of conjugate gradients goes up
//! and down: solves of one flow took 17 to 61 iterations in turns. So a look comes after a part of
//! what is foreseen, and what it shows is foreseen anew; where solves are alike, the first one comes
//! when the shortest of the last few was at its end. Devices that are [watched](super::watch) beside
//! their kernels are looked at when the last iteration has been seen.

/// What part of the iterations that are foreseen goes by before the first look, and before another;
/// and most iterations.
///
/// With equal weights of this solve's rate and those before, near the least time of looks and idle
/// iterations for the residuals of seven series of solves (cavity, Taylor-Green; 1e-3 and 1e-8).
const FIRST: (f64, usize) = (0.4, 16);
const NEXT: (f64, usize) = (0.75, 32);
/// In long solves, this part of those that are done.
const LONG: usize = 4;
/// Of how many solves the shortest tells when the next one may end; and what part of the iterations
/// that are foreseen goes by before the first look at most. By the costs above a solve of the seven
/// series takes 79 us on average for 85 without, and one of 436 iterations, again and again, 50 for 150.
const ALIKE: usize = 8;
const LATEST: f64 = 0.8;
/// Iterations before the first look where nothing is known, and the least after it.
const UNKNOWN: [usize; 2] = [8, 4];
/// A rate is that of as many iterations.
const KNOWN: usize = 8;

/// Foresees the last iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    /// What an iteration has taken off the logarithm of the squared residual, on average: in the
    /// solves before, the last one half of it, and in this one.
    before: Option<f64>,
    rate: Option<f64>,
    /// Iterations of this solve, at the last look, and of the solves before, in turns.
    done: usize,
    took: [usize; ALIKE],
    solves: usize,
}

impl Pace {
    /// One that foresees long solves.
    #[cfg(test)]
    pub fn long() -> Self {
        Self {
            before: Some(1e-9),
            ..Self::default()
        }
    }

    /// The iteration to look after first, from a squared residual of `rr` down to `bound`.
    pub fn first(&mut self, rr: f64, bound: f64) -> usize {
        self.before = mean(self.before, self.rate.take());
        self.took[self.solves % ALIKE] = std::mem::take(&mut self.done);
        self.solves += 1;
        let Some(rate) = self.before else {
            return UNKNOWN[0];
        };
        let shortest = self.took.iter().min().map_or(0, |n| n.saturating_sub(1));
        let alike = shortest.min(part(LATEST, rr, bound, rate));
        FIRST.1.min(part(FIRST.0, rr, bound, rate)).max(alike)
    }

    /// The next one, after a look has found `rr` in the place of `rr_begun` after `done` of them.
    pub fn next(&mut self, rr_begun: f64, rr: f64, bound: f64, done: usize) -> usize {
        let rate = (rr_begun / rr).ln() / done as f64;
        self.done = done;
        // A residual that has risen, or is none, tells nothing of the end.
        let rate = (rate > 0.0 && rate.is_finite()).then_some(rate);
        if done >= KNOWN && rate.is_some() {
            self.rate = rate;
        }
        let most = NEXT.1.max(done / LONG);
        done + match mean(self.before, rate) {
            Some(rate) => most.min(part(NEXT.0, rr, bound, rate)),
            None => (done / LONG).clamp(UNKNOWN[1], most),
        }
    }
}

/// Of two rates, or the one that is known.
fn mean(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(0.5 * (a + b)),
        (a, b) => a.or(b),
    }
}

/// A part of the iterations from `rr` to `bound`, and at least one.
fn part(part: f64, rr: f64, bound: f64, rate: f64) -> usize {
    // No number is nought.
    ((part * (rr / bound).ln() / rate).ceil() as usize).max(1)
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
            let mut pace = Pace::default();
            let solves: [&dyn Fn(usize) -> f64; 5] = [&steady, &waves, &quick, &waves, &quick];
            for (solve, rr) in solves.into_iter().enumerate() {
                let (looks, at, last) = follow(&mut pace, rr, 1e-16);
                assert!(looks <= 6 + last / 40, "{rate} {solve}: {looks} for {last}");
                assert!(at <= last + 2 + last / 60, "{rate} {solve}: {at} of {last}");
            }
        }
    }

    #[test]
    fn of_solves_that_are_alike_the_later_ones_are_looked_at_near_their_end() {
        for rate in [0.9, 0.3, 0.05] {
            let rr = |n: usize| (-rate * n as f64).exp() * (2.0 + (0.5 * n as f64).sin());
            let mut pace = Pace::default();
            let solves = [(); 2 * ALIKE].map(|()| follow(&mut pace, &rr, 1e-16));
            let (looks, at, last) = solves[2 * ALIKE - 1];
            assert!(looks <= 4, "{rate}: {looks} looks at {last}");
            assert!(
                looks < solves[1].0 || looks == 2,
                "{rate}: {looks}, {solves:?}"
            );
            assert!(at <= last + 2 + last / 60, "{rate}: {at} of {last}");
            // One that is shorter by far is looked at in time.
            let short = |n: usize| 1e-12 * (-rate * n as f64).exp();
            let (_, at, last) = follow(&mut pace, &short, 1e-16);
            assert!(
                at <= last + 2 + last / 60,
                "{rate}: {at} of {last}, which is short"
            );
        }
    }

    #[test]
    fn what_begins_at_its_end_or_has_no_number_is_soon_looked_at() {
        let mut pace = Pace::default();
        assert_eq!(pace.first(1.0, 1e-8), 8);
        // Four more by the rate so far, of which three go by.
        assert_eq!(pace.next(1.0, 1e-4, 1e-8, 4), 7);
        assert_eq!(pace.next(1.0, 0.1, 1e-8, 10), 42);
        assert_eq!(pace.first(1.0, 1e-8), 16);
        assert_eq!(pace.first(1.01e-8, 1e-8), 1);
        assert_eq!(pace.first(1e-9, 1e-8), 1);
        assert_eq!(pace.first(f64::NAN, 1e-8), 1);
        // By the rate of the solve before, where this one's tells nothing of the end.
        let known = pace.next(1.0, f64::NAN, 1e-8, 16);
        assert_eq!(known, 17);
        assert_eq!(pace.next(1.0, 2.0, 1e-8, 800), 800 + 63);
        // Where nothing else is known, either.
        let mut pace = Pace::default();
        assert_eq!(pace.next(1.0, 2.0, 1e-8, 800), 1000);
        assert_eq!(pace.next(1.0, f64::NAN, 1e-8, 16), 20);
    }
}
