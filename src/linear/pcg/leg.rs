//! Iterations by one launch, where the device does all of them and its groups run at once: see
//! [`Leg`].

use super::Pcg;
use super::beyond::Beyond;
use super::iterate::{Begin, State};
use crate::Result;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::{ALPHA, ITERATIONS, LENGTH};
use crate::split::{Engine, Leg};

/// Calls of the step between a state and `now`. That which shows that there is nothing left to do is
/// one, too.
pub(super) fn calls_of<T: Real>(now: &State<T>, before: &State<T>) -> usize {
    let ends = usize::from(now[ALPHA] <= T::ZERO);
    (now[ITERATIONS] - before[ITERATIONS]).f64() as usize + ends
}

impl<T: Real> Pcg<T> {
    /// From that `state`, which the device has or is `given`, as many iterations as are left after `calls`
    /// and are not to be measured one by one; what the state is then, with the true residual under way if
    /// it is asked for, and what comes `beyond` it, if that is likely to be of use. None where they are to be
    /// called one by one.
    pub(super) fn leg(
        &mut self,
        engine: &Engine<T>,
        begin: Begin,
        calls: usize,
        (state, given): (&State<T>, bool),
        mut beyond: Option<&mut Beyond<'_, '_, T>>,
    ) -> Result<Option<State<T>>> {
        let multiplied = begin.multiplied && calls == 0;
        let ahead = begin.leg.filter(|_| calls == 0);
        let steps = match ahead {
            Some(steps) => steps,
            None => {
                let steps = self.steps_of_a_leg(begin.most - calls);
                let (given, anew) = (given.then_some(*state), begin.anew && calls == 0);
                if steps == 0 || !self.start_leg(engine, anew, given, steps, multiplied)? {
                    return Ok(None);
                }
                steps
            }
        };
        self.begin_look(engine, beyond.as_deref_mut())?;
        if let Some(beyond) = beyond
            && self.ends_by_leg
            && beyond.likely.is_some_and(|most| most <= steps)
        {
            beyond.asked = Some(self.go_beyond(engine, beyond)?);
            #[cfg(test)]
            {
                self.started_ahead[1] += 1;
            }
        }
        let mut now = [T::ZERO; LENGTH];
        if let (Some(watch), Some(legs)) = (&mut self.watch, &mut self.legs) {
            now.copy_from_slice(watch.looked()?);
            if !watch.knows(&now) {
                return Err(engine.stuck(legs));
            }
            if ahead.is_some() {
                Self::began_with(state, &now)?;
            }
        }
        let calls = calls_of(&now, state);
        let products = calls.saturating_sub(usize::from(multiplied));
        engine.count_leg(&mut self.product, products);
        engine.count_leg(&mut self.step, calls);
        Ok(Some(now))
    }

    /// How many steps, of those that are left, a leg may have: none that is to be measured.
    pub(super) fn steps_of_a_leg(&self, left: usize) -> usize {
        let unmeasured = self.product.unmeasured().min(self.step.unmeasured());
        left.min(unmeasured as usize)
    }

    /// Starts a leg of so many steps at most, from the beginning of a solve where it is `anew`; of the state
    /// that is `given`, or that the device has. Returns whether the device does it.
    pub(super) fn start_leg(
        &mut self,
        engine: &Engine<T>,
        anew: bool,
        given: Option<State<T>>,
        steps: usize,
        multiplied: bool,
    ) -> Result<bool> {
        let Some(legs) = &mut self.legs else {
            return Ok(false);
        };
        let leg = Leg {
            vectors: [&mut self.system.y, &mut self.old, &mut self.p, &mut self.s],
            matrix: (&self.system.beside, self.system.share),
            state: &mut self.state,
            given,
            before: anew.then(|| self.began.sum(&self.begin, &self.system.first, &self.guess)),
            steps,
            multiplied,
        };
        engine.start_leg(legs, [&mut self.product, &mut self.step], leg)
    }
}

#[cfg(test)]
mod tests;
