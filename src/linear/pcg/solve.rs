//! The criterion is the true residual of the system before, `|b - A x|`. The recurrence only knows
//! `r . r`, so the solve goes on until `w r . r` is small enough, `w` the ratio of the two at the
//! last check, and then checks. Where the residual has not come down as the recurrence says, the
//! true one replaces it.

use super::ahead::farthest;
use super::beyond::Beyond;
use super::iterate::Begin;
use super::start::{Entered, Start};
use super::{Pcg, Solution};
use crate::Result;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::{ALPHA, BETA, BOUND, ITERATIONS, LENGTH, NEXT, STOP, WEIGHT};
use crate::linear::system::errors;
use crate::linear::{Bounds, Follow};
use crate::node::Buffer;
use crate::split::Engine;

/// Growth of `|b - A x|^2` over `r . r` that shows that the recurrence has drifted.
const DRIFT: f64 = 4.0;
/// A true residual that falls by less from one replacement to the next is at its end.
const PROGRESS: f64 = 0.25;

/// A squared residual within this of what round-off in it can leave does not come down any more,
/// whatever the recurrence says: its updates of x are rounded, too (Greenbaum 1997; van der Vorst
/// and Ye 2000). Those who go on lose what they have.
const NEAR: f64 = 4.0;
/// The same where the residual has not come down from one replacement to the next.
const FAR: f64 = 100.0;

/// How a solve ended.
pub(super) struct End {
    pub solution: Solution,
    /// What follows has been started of it.
    pub followed: bool,
    /// Another one may go on in its direction.
    pub goes_on: bool,
}

impl<T: Real> Pcg<T> {
    /// Solves `A x = b` from the present `x` (and along the steps of the solves before, where it
    /// [remembers](Pcg::remember)) until `|b - A x| <= tolerance |b|`, or
    /// `|b - A x| <= floor`, the round-off in `b`; or until only the round-off in `b - A x` itself
    /// is left. The mean of `b` is left out where the system is singular.
    ///
    /// # Errors
    /// The device failed.
    pub fn solve(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        tolerance: f64,
        floor: f64,
        max_iterations: usize,
    ) -> Result<Solution> {
        let bounds = Bounds {
            tolerance,
            floor,
            max_iterations,
        };
        Ok(self.solve_then(engine, b, x, bounds, None)?.0)
    }

    /// As [`Solve::solve_then`](crate::linear::Solve::solve_then).
    ///
    /// # Errors
    /// The device failed.
    pub fn solve_then(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        bounds: Bounds,
        follow: Option<Follow<'_, T>>,
    ) -> Result<(Solution, bool)> {
        if T::EPSILON > f64::EPSILON {
            self.system.centre(engine, x)?;
        }
        let end = self.run(engine, b, x, bounds, Start::Anew, follow)?;
        Ok((end.solution, end.followed))
    }

    /// As [`Pcg::solve_then`].
    pub(super) fn run(
        &mut self,
        engine: &Engine<T>,
        b: &Buffer<T>,
        x: &mut Buffer<T>,
        bounds: Bounds,
        mut start: Start,
        follow: Option<Follow<'_, T>>,
    ) -> Result<End> {
        let Bounds {
            tolerance,
            floor,
            max_iterations,
        } = bounds;
        let before = self.system.unit;
        let entered = self.enter(engine, b, x, bounds, start == Start::Anew)?;
        let Entered { bb, unit, .. } = entered;
        if unit != before {
            // The direction is in the other one.
            start = Start::Anew;
        }
        // One norm for both bounds: |r| <= tolerance |b| or |r| <= floor.
        let norm = bb.sqrt();
        let floor = unit * floor;
        let least = (tolerance * norm).max(floor);
        let bound = least.powi(2);
        // What is no more than round-off is nothing to compare with.
        let scale = if norm > floor {
            norm
        } else {
            floor / tolerance
        };
        let relative = |rr: f64| if rr > 0.0 { rr.sqrt() / scale } else { rr };
        let enough = |rr: f64| rr.sqrt() <= least;
        let (mut rr, mut round_off) = entered.residual;
        let (mut begun, mut multiplied) = (entered.begun, entered.multiplied);
        let mut under_way = entered.leg;
        let mut beyond = Beyond::new(x, follow);
        let mut looks = 0;
        let mut rounded = rr <= round_off;
        let mut s = Solution {
            initial: relative(rr),
            ..Solution::default()
        };
        let mut state = [T::ZERO; LENGTH];
        let (mut replaced, mut next) = (f64::INFINITY, 0.0);
        while !enough(rr) && !rounded && s.iterations < max_iterations && rr.is_finite() {
            let weight = match start {
                Start::Same => rr / next,
                _ if rr > PROGRESS * replaced => {
                    rounded = rr <= FAR * round_off;
                    break;
                }
                _ => {
                    replaced = rr;
                    match begun.take() {
                        Some(now) => rr / now,
                        None => rr / self.replace(engine, start)?,
                    }
                }
            };
            // Below round-off the recurrence leads astray, and far below `rr` nobody knows.
            let leg = bound.max(round_off).max(farthest::<T>() * rr);
            (state[WEIGHT], state[BOUND], state[STOP]) = (T::of(weight), T::of(leg), T::ZERO);
            state[BETA] = self.kept(start);
            let begin = Begin {
                rr,
                anew: start != Start::Same,
                multiplied: std::mem::take(&mut multiplied),
                leg: under_way.take(),
                most: max_iterations - s.iterations,
            };
            // Where the last solve had to go on after its first look, this one may, too.
            let likely = self.ends_at_once || looks > 0;
            beyond.likely = likely.then_some(self.took.saturating_sub(s.iterations));
            beyond.forget();
            let (now, residual) = self.iterate(engine, &state, begin, Some(&mut beyond))?;
            state = now;
            if let Some(factor) = &mut self.factor {
                factor.end(engine, &mut self.system.y)?;
            }
            let before = rr;
            self.ends_by_leg = residual || self.legs.is_none();
            if !residual {
                self.check(engine, &mut beyond)?;
            }
            let asked = match beyond.asked.take() {
                Some(asked) => asked,
                None => self.go_beyond(engine, &mut beyond)?,
            };
            looks += 1;
            let [sums] = engine.told(asked, [&mut self.system.check])?;
            (rr, round_off) = errors(&sums);
            // Out of reach, or so near to round-off that iterations no longer help.
            let end = bound < round_off || rr > PROGRESS * before;
            rounded = rr <= round_off || end && rr <= NEAR * round_off;
            s.iterations = state[ITERATIONS].f64() as usize;
            next = state[NEXT].f64();
            start = match () {
                // No curvature in this direction: round-off, or a matrix that is not positive.
                () if state[ALPHA] <= T::ZERO => Start::Anew,
                // The recurrence has drifted, or the ratio of the norms has moved a little.
                () if rr > DRIFT * weight * next => Start::Replaced,
                () => Start::Same,
            };
        }
        s.residual = relative(rr);
        s.rounded = rounded && !enough(rr);
        s.converged = rounded || enough(rr);
        self.ends_at_once = looks <= 1;
        if looks > 0 {
            self.took = s.iterations;
        }
        if !beyond.left {
            self.system.leave(engine, beyond.x)?;
        }
        if let Some(guess) = &mut self.guess {
            // A start that nothing came of has left the residual where it goes.
            let t = match &mut self.factor {
                Some(factor) => factor.t(),
                None if begun.is_some() => &mut self.p,
                None => &mut self.s,
            };
            guess.end(engine, [&self.system.y, t], s.iterations)?;
        }
        Ok(End {
            solution: s,
            followed: beyond.followed && beyond.follow.is_some(),
            goes_on: start != Start::Anew,
        })
    }
}
