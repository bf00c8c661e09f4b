//! Whether a guess pays: now and then by trial.

/// What one costs, in iterations.
const COST: f64 = 3.0;
/// Solves of so many iterations hardly notice that, and a trial without would.
const MANY: f64 = 8.0 * COST;
/// Solves from one trial to the next.
const CYCLE: usize = 512;
/// Solves that count for each way; before them, some that do not: those which fill the memory, or
/// still know of it.
const COUNTED: usize = 4;
const BEFORE: [usize; 2] = [4, 1];
/// Where a trial with guesses ends, and one without.
const ENDS: [usize; 2] = [
    BEFORE[0] + COUNTED,
    BEFORE[0] + COUNTED + BEFORE[1] + COUNTED,
];

/// Counts iterations with and without, and keeps to what takes less. Iterations are the same for any
/// split and on every rank, so this is, too.
#[derive(Default)]
pub(super) struct Habit {
    /// Solves of this cycle.
    turn: usize,
    /// Iterations of those that count, in all.
    with: usize,
    without: usize,
    off: bool,
}

impl Habit {
    pub fn is_on(&self) -> bool {
        !self.off
    }

    /// A solve has ended.
    pub fn count(&mut self, iterations: usize) {
        self.turn += 1;
        match self.turn {
            n if (BEFORE[0] + 1..=ENDS[0]).contains(&n) => self.with += iterations,
            n if self.tries() && (ENDS[0] + BEFORE[1] + 1..=ENDS[1]).contains(&n) => {
                self.without += iterations;
            }
            _ => {}
        }
        let mean = |all: usize| all as f64 / COUNTED as f64;
        match self.turn {
            n if n == ENDS[0] => self.off = self.tries(),
            n if n == ENDS[1] && self.tries() => {
                self.off = mean(self.with) + COST >= mean(self.without);
            }
            CYCLE => *self = Self::default(),
            _ => {}
        }
    }

    /// Whether solves without a guess are tried, too.
    fn tries(&self) -> bool {
        (self.with as f64) < MANY * COUNTED as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the solves of a cycle began with a guess, of so many iterations with one and without.
    fn cycle(habit: &mut Habit, with: usize, without: usize) -> Vec<bool> {
        let solve = |_| {
            let on = habit.is_on();
            habit.count(if on { with } else { without });
            on
        };
        (0..CYCLE).map(solve).collect()
    }

    #[test]
    fn what_takes_less_is_kept_until_the_next_trial() {
        let mut habit = Habit::default();
        for (with, without, kept) in [(10, 20, true), (10, 12, false), (0, 0, false), (5, 9, true)]
        {
            let on = cycle(&mut habit, with, without);
            assert!(on[..ENDS[0]].iter().all(|&on| on));
            assert!(on[ENDS[0]..ENDS[1]].iter().all(|&on| !on));
            assert!(
                on[ENDS[1]..].iter().all(|&on| on == kept),
                "{with} {without}"
            );
        }
    }

    #[test]
    fn long_solves_are_not_tried_without() {
        let on = cycle(&mut Habit::default(), 24, 100);
        assert!(on.iter().all(|&on| on));
        let on = cycle(&mut Habit::default(), 23, 100);
        assert_eq!(on.iter().filter(|&&on| !on).count(), ENDS[1] - ENDS[0]);
    }
}
