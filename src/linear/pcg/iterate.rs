//! The iterations of a solve between two looks at its true residual.

use super::Pcg;
use super::beyond::Beyond;
use super::leg::calls_of;
use super::watch::{Started, Watch};
use crate::Result;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::{
    ALPHA, BETA, BOUND, ITERATIONS, KEPT, LATER, LENGTH, NEXT, OWED, PUT_OFF, STOP, WEIGHT, owed,
};
use crate::split::{Engine, First, Operands, Traffic};

/// The scalars of a solve: see [`pcg_scalars`](crate::kernel::pcg_scalars).
pub(super) type State<T> = [T; LENGTH];

/// What iterations begin with.
#[derive(Clone, Copy)]
pub(super) struct Begin {
    /// The squared residual.
    pub rr: f64,
    /// The solve has begun anew.
    pub anew: bool,
    /// The first product is under way.
    pub multiplied: bool,
    /// Most steps of the first leg, if that is under way.
    pub leg: Option<usize>,
    /// Most iterations.
    pub most: usize,
}

impl<T: Real> Pcg<T> {
    /// Iterations from `state` until the recurrence falls below its bound; what the state is then, and
    /// whether the true residual is under way, and so is what comes `beyond` it, where a leg was likely to be
    /// the last.
    ///
    /// Where the device does all the work, it does so in one launch if it [can](super::leg). Else it
    /// is asked for its state at a few [looks](super::pace), and the answer is read when the next
    /// iteration is under way, so that it never waits for the host; iterations after the last do
    /// nothing. Where it is [watched](super::watch), the host keeps no more than an iteration ahead of
    /// it, and looks when it has seen the last.
    pub(super) fn iterate(
        &mut self,
        engine: &Engine<T>,
        state: &State<T>,
        begin: Begin,
        mut beyond: Option<&mut Beyond<'_, '_, T>>,
    ) -> Result<(State<T>, bool)> {
        let mut state = *state;
        if !begin.anew && std::mem::take(&mut self.lacks_sum) {
            self.step_after(engine, &state, T::ZERO)?;
        }
        if begin.leg.is_none() {
            self.watch.iter_mut().for_each(|w| w.number(&mut state));
        }
        let put_off = state[PUT_OFF].f64();
        let (rr, before) = (begin.rr, state[ITERATIONS].f64());
        let (mut calls, mut done) = (0, 0);
        let beside = self.watch.as_ref().is_some_and(Watch::is_beside);
        let first = self.pace.first(rr, state[BOUND].f64());
        // To watch costs the device nothing.
        let mut look = if beside { 1 } else { first };
        // Whether the device was asked for the state of the iteration before.
        let (mut asked, mut residual) = (false, false);
        // Whether whoever iterates has the state.
        let mut put = false;
        while calls < begin.most {
            if calls == done
                && let Some(seen) =
                    self.leg(engine, begin, calls, (&state, !put), beyond.as_deref_mut())?
            {
                let own = calls_of(&seen, &state);
                self.turn(own);
                calls += own;
                (state, residual, put) = (seen, beyond.is_some(), true);
                done = (state[ITERATIONS].f64() - before) as usize;
                if state[STOP] > T::ZERO {
                    break;
                }
                continue;
            }
            if !put {
                self.put(engine, &state)?;
                put = true;
            }
            // What was asked for at the end of a leg is of what comes before this one.
            residual = false;
            beyond.iter_mut().for_each(|b| b.forget());
            let n = calls + 1;
            if n > 1 || !begin.multiplied {
                self.product(engine)?;
            }
            let before_step = match &self.factor {
                _ if !begin.anew || n > 1 => (&self.step, 0),
                Some(factor) => (factor.start(), 0),
                None => self.began.sum(&self.begin, &self.system.first, &self.guess),
            };
            let sums = [before_step, (&self.product, 0), (&self.product, 1)];
            // A call that is measured must not be one that finds nothing to do.
            let measured = self.product.to_be_measured() || self.step.to_be_measured();
            let now = measured || n == begin.most;
            let (scalars, state_of) = (&mut self.scalars, &mut self.state);
            let first = match now {
                true => None,
                false => engine.leave_to(&self.step, scalars, &sums, state_of)?,
            };
            let ahead = first.is_some() || engine.reduce(scalars, &sums, state_of)?;
            match &mut self.watch {
                // It is there while the step runs.
                // SAFETY: the state is dropped after the watch, and read after a look alone; a step
                // does not change it, unless it is left to that.
                Some(watch) if ahead && now => unsafe { watch.look_aside(&self.state) }?,
                _ => {}
            }
            let watched = ahead && beside && !now && n >= look;
            if let (Some(watch), true) = (&mut self.watch, watched) {
                // SAFETY: as above.
                unsafe { watch.peek(&self.state) }?;
            }
            self.step(engine, first)?;
            self.turn(1);
            calls = n;
            let next = match &mut self.watch {
                Some(watch) if watched => {
                    let count = n;
                    let started = Started { rr, before, count };
                    // SAFETY: as above.
                    unsafe { watch.peeked(&self.state, started, &mut self.pace) }?
                }
                _ => None,
            };
            if let Some(next) = next {
                look = next;
                continue;
            }
            if watched {
                let beyond = beyond.as_deref_mut().filter(|_| self.factor.is_none());
                residual = beyond.is_some();
                self.begin_look(engine, beyond)?;
            }
            let seen = match &mut self.watch {
                Some(watch) if ahead && (now || asked || watched) => Some(watch.looked()?),
                Some(_) if ahead => None,
                _ => Some(&self.state.read()?[..LENGTH]),
            };
            asked = false;
            if let Some(seen) = seen {
                state.copy_from_slice(seen);
                done = (state[ITERATIONS].f64() - before) as usize;
                let rr_now = (state[WEIGHT] * state[NEXT]).f64();
                look = self.pace.next(rr, rr_now, state[BOUND].f64(), done);
                if state[STOP] > T::ZERO {
                    break;
                }
                // If it goes on, `s` is the next product's.
                residual = false;
            }
            match &mut self.watch {
                Some(watch) if ahead && !beside && n >= look => {
                    // SAFETY: as above.
                    unsafe { watch.look(&self.state) }?;
                    asked = true;
                }
                _ => {}
            }
        }
        // Calls of the step after the last iteration have changed nothing. The first one leaves the sum; the
        // next finds the directions in each other's places.
        let after = calls.saturating_sub((state[ITERATIONS].f64() - before) as usize);
        self.turn(after);
        (self.beta, self.lacks_sum) = (state[BETA], after > 1);
        // The product that shows that there is nothing left to do is done, too.
        done += usize::from(state[ALPHA] <= T::ZERO);
        let idle = calls.saturating_sub(done) as u64;
        self.product.did_nothing(idle);
        self.step.did_nothing(idle);
        if state[LATER] > T::ZERO {
            // A step after the end gives `y` what it is owed.
            self.step_after(engine, &state, owed(&state))?;
            (state[LATER], state[PUT_OFF]) = (T::ZERO, state[PUT_OFF] - T::of(1.0));
            (residual, self.lacks_sum) = (false, false);
        }
        let put_off = state[PUT_OFF].f64() - put_off;
        self.step.spared(Traffic {
            updated_bytes: put_off * (self.p.len() * size_of::<T>()) as f64,
            ..Traffic::default()
        });
        Ok((state, residual))
    }

    /// Begins to look at the state of a device that does all the work, and goes on with what comes `beyond`
    /// its iterations meanwhile.
    pub(super) fn begin_look(
        &mut self,
        engine: &Engine<T>,
        beyond: Option<&mut Beyond<'_, '_, T>>,
    ) -> Result<()> {
        self.watch.iter_mut().try_for_each(Watch::mark)?;
        if let Some(beyond) = beyond {
            self.check(engine, beyond)?;
        }
        match &mut self.watch {
            // SAFETY: the state is dropped after the watch, and read after a look alone; a residual
            // does not change it.
            Some(watch) => unsafe { watch.look_aside(&self.state) },
            None => Ok(()),
        }
    }

    /// The state of the next call.
    fn put(&mut self, engine: &Engine<T>, state: &State<T>) -> Result<()> {
        let on_the_device = self.on_the_device(engine);
        if let (Some(watch), true) = (&self.watch, on_the_device) {
            return watch.put(engine, &mut self.state, state);
        }
        let (_, host) = self.state.split_at(0, false)?;
        host.rows[..LENGTH].copy_from_slice(state);
        Ok(())
    }

    /// A step after the end, with the directions in their places: `y` is given what it is `owed`, the sum is
    /// that of the residual, and nothing else is done.
    fn step_after(&mut self, engine: &Engine<T>, state: &State<T>, owed: T) -> Result<()> {
        let mut over = *state;
        (over[STOP], over[LATER]) = (T::of(2.0), T::ZERO);
        (over[OWED], over[KEPT]) = (owed, state[BETA]);
        self.put(engine, &over)?;
        self.step(engine, None)?;
        self.step.did_nothing(1);
        Ok(())
    }

    /// The directions change places with each call of the step.
    fn turn(&mut self, times: usize) {
        if times % 2 == 1 {
            std::mem::swap(&mut self.p, &mut self.old);
        }
    }

    /// `y` and the next direction, in the place of the old one, as the state says, or as what is to be done
    /// `first`.
    fn step(&mut self, engine: &Engine<T>, first: Option<First>) -> Result<()> {
        let y = match &mut self.factor {
            Some(factor) => factor.z_mut(),
            None => &mut self.system.y,
        };
        engine.post(
            &mut self.step,
            Operands {
                inout: &mut [y, &mut self.old],
                own: &[&self.p, &self.s],
                state: Some(&self.state),
                first,
                ..Operands::default()
            },
        )
    }

    /// Starts the first product before it is known whether there are to be iterations, where the device
    /// does that while the host waits for what says so; returns whether it has. Then what was in `s` has made
    /// way for it.
    pub(super) fn multiply_ahead(&mut self, engine: &Engine<T>) -> Result<bool> {
        let unwatched = engine.runs_unwatched(&self.product) && self.on_the_device(engine);
        if unwatched {
            self.unstopped.share(usize::MAX, usize::MAX)?;
            self.multiply(engine, true)?;
        }
        Ok(unwatched)
    }

    /// Whether the device, one with memory of its own, does the iterations.
    fn on_the_device(&self, engine: &Engine<T>) -> bool {
        let alone = engine.is_the_devices(&self.step) && engine.comm().size() == 1;
        alone && self.watch.as_ref().is_some_and(Watch::takes_states)
    }

    /// `s = A p`, or `G A G^T p`.
    fn product(&mut self, engine: &Engine<T>) -> Result<()> {
        self.multiply(engine, false)
    }

    /// The same, where it is the `first` before there is a state to ask.
    fn multiply(&mut self, engine: &Engine<T>, first: bool) -> Result<()> {
        let beside = &self.system.beside;
        // Of the diagonal, the row's own share.
        let (matrix, x, halo, own) = match &mut self.factor {
            Some(factor) => factor.inner(engine, beside, &mut self.p)?,
            None => {
                let halo = engine.exchange(&self.halo, &mut self.p)?;
                (beside, &self.p, halo, self.system.share)
            }
        };
        engine.post(
            &mut self.product,
            Operands {
                out: &mut [&mut self.s],
                own: &[&self.p],
                gather: &[x],
                mats: &[matrix],
                scalars: &[T::of(own)],
                state: Some(match first {
                    true => &self.unstopped,
                    false => &self.state,
                }),
                halo,
                ..Operands::default()
            },
        )
    }
}
