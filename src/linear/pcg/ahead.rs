//! The first leg of a solve, started before the host knows whether there is to be one: what it begins with
//! follows from sums that the device has. Else the device would have the first product alone to do, which takes
//! 14 us of a million rows on an H200 where it is launched by itself (its event in `bench step`), while the
//! host is told of them and starts the leg.

use super::Pcg;
use super::iterate::State;
use super::start::Began;
use crate::kernel::Real;
use crate::kernel::pcg_first::{Known, VALUES};
use crate::kernel::pcg_scalars::{ALPHA, BOUND, LENGTH, ORIGIN, WEIGHT};
use crate::linear::Bounds;
use crate::linear::system::round_off;
use crate::node::Buffer;
use crate::split::{Engine, Following, Rule};
use crate::{Error, Result};

/// By how many times the precision a residual falls before the true one is computed.
const LEG: f64 = 1e3;

/// The part of a squared residual down to which the recurrence is believed.
pub(super) fn farthest<T: Real>() -> f64 {
    (LEG * T::EPSILON).powi(2)
}

/// The first state of a solve, where there are values that it follows from.
pub(super) fn following<'a, T: Real>(
    first: &'a Option<Rule>,
    state: &'a mut Buffer<T>,
    values: &'a Option<[T; VALUES]>,
) -> Option<Following<'a, T>> {
    let (Some(rule), Some(values)) = (first, values) else {
        return None;
    };
    Some(Following {
        rule,
        state,
        values,
    })
}

impl<T: Real> Pcg<T> {
    /// What the first state of a solve that begins anew follows from, beside the sums of its entry and its
    /// residual, and of what it has gone along, if it has; none where it may have no `legs`, or the device does
    /// not do them.
    pub(super) fn first_values(
        &mut self,
        engine: &Engine<T>,
        bounds: Bounds,
        legs: bool,
    ) -> Option<[T; VALUES]> {
        let steps = self.steps_of_a_leg(bounds.max_iterations);
        let (Some(watch), Some(of_legs), true) = (&mut self.watch, &self.legs, legs && steps > 0)
        else {
            return None;
        };
        if !engine.takes_leg(of_legs, [&self.product, &self.step]) {
            return None;
        }
        let mut numbered = [T::ZERO; LENGTH];
        watch.number(&mut numbered);
        let known = Known {
            tolerance: bounds.tolerance,
            floor: bounds.floor,
            mean: self.system.negligible_mean(bounds.tolerance),
            least: self.system.least_bound(),
            round_off: round_off::<T>(),
            farthest: farthest::<T>(),
            origin: numbered[ORIGIN].f64(),
            along: matches!(self.began, Began::Guess),
        };
        Some(known.values().map(T::of))
    }

    /// Starts the leg of a solve whose state follows from such values; how many steps it has at most, if the
    /// device can. It does nothing where there is nothing to do, or another beginning is to be made; then nobody
    /// looks at its end, and if its groups have given up, the next leg's do, too, which is an error.
    pub(super) fn leg_ahead(
        &mut self,
        engine: &Engine<T>,
        bounds: Bounds,
    ) -> Result<Option<usize>> {
        let steps = self.steps_of_a_leg(bounds.max_iterations);
        let started = self.start_leg(engine, true, None, steps, false)?;
        #[cfg(test)]
        {
            self.started_ahead[0] += usize::from(started);
        }
        Ok(started.then_some(steps))
    }

    /// Whether a leg that was started ahead began with the `state` that the host has found, by what has come
    /// of it: the step length of one that did not begin is -1.
    ///
    /// # Errors
    /// It did not.
    pub(super) fn began_with(state: &State<T>, now: &State<T>) -> Result<()> {
        let same = |k: usize| state[k].f64().to_bits() == now[k].f64().to_bits();
        if same(WEIGHT) && same(BOUND) && now[ALPHA] >= T::ZERO {
            return Ok(());
        }
        Err(Error::failure(
            "the device began a solve with other numbers than the host has found",
            "report this as a defect; with `together = 0` in a file named by COULOIR_TUNING the host begins",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leg_that_began_otherwise_than_the_host_says_is_an_error() {
        let mut state = [0.0; LENGTH];
        (state[WEIGHT], state[BOUND]) = (0.5, 1e-9);
        let began_with = |k: usize, v: f64| {
            let mut now = state;
            now[ALPHA] = 0.7;
            now[k] = v;
            Pcg::<f64>::began_with(&state, &now)
        };
        assert!(began_with(WEIGHT, 0.5).is_ok() && began_with(ALPHA, 0.0).is_ok());
        for (k, v) in [(WEIGHT, 0.5 + 1e-15), (BOUND, f64::NAN), (ALPHA, -1.0)] {
            let error = began_with(k, v).unwrap_err();
            assert!(error.to_string().contains("together = 0"), "{error}");
            assert_eq!(error.exit_code(), 1);
        }
    }
}
