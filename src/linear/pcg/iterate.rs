//! The iterations of a solve between two looks at its true residual.

use super::Pcg;
use crate::Result;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::{
    ALPHA, BOUND, ITERATIONS, LATER, LENGTH, NEXT, OWED, PUT_OFF, STOP, WEIGHT, owed,
};
use crate::node::MemoryKind;
use crate::split::{Engine, First, Operands, Traffic};

/// The scalars of a solve: see [`pcg_scalars`](crate::kernel::pcg_scalars).
pub(super) type State<T> = [T; LENGTH];

impl<T: Real> Pcg<T> {
    /// At most `most` iterations from `state`, where the squared residual is `rr`, until the
    /// recurrence falls below its bound; what the state is then. Whether the solve has `begun` anew,
    /// and whether it is `multiplied`, that is, the first product under way.
    ///
    /// Where the device does all the work, it is asked for its state at a few [looks](super::pace),
    /// and the answer is read when the next iteration is under way, so that it never waits for the
    /// host; iterations after the last do nothing.
    pub(super) fn iterate(
        &mut self,
        engine: &Engine<T>,
        state: &State<T>,
        rr: f64,
        [begun, multiplied]: [bool; 2],
        most: usize,
    ) -> Result<State<T>> {
        self.put(engine, state)?;
        let put_off = state[PUT_OFF].f64();
        let begin = state[ITERATIONS].f64();
        let mut state = *state;
        let (mut calls, mut done) = (0, 0);
        let mut look = self.pace.first(rr, state[BOUND].f64());
        // Whether the device was asked for the state of the iteration before.
        let mut asked = false;
        for n in 1..=most {
            if n > 1 || !multiplied {
                self.product(engine)?;
            }
            let before = match &self.factor {
                _ if !begun || n > 1 => &self.step,
                Some(factor) => factor.start(),
                None => &self.begin,
            };
            let sums = [(before, 0), (&self.product, 0), (&self.product, 1)];
            // A call that is measured must not be one that finds nothing to do.
            let measured = self.product.to_be_measured() || self.step.to_be_measured();
            let now = measured || n == most;
            let (scalars, state_of) = (&mut self.scalars, &mut self.state);
            let first = match now {
                true => None,
                false => engine.leave_to(&self.step, scalars, &sums, state_of)?,
            };
            let ahead = first.is_some() || engine.reduce(scalars, &sums, state_of)?;
            match &mut self.glance {
                // It is there while the step runs.
                // SAFETY: the state is read after the end alone, and dropped after the glance.
                Some(glance) if ahead && now => unsafe { glance.start(&self.state) }?,
                _ => {}
            }
            self.step(engine, first)?;
            let seen = match &mut self.glance {
                Some(glance) if ahead && (now || asked) => Some(glance.end()?),
                Some(_) if ahead => None,
                _ => Some(&self.state.read()?[..LENGTH]),
            };
            (calls, asked) = (n, false);
            if let Some(seen) = seen {
                state.copy_from_slice(seen);
                done = (state[ITERATIONS].f64() - begin) as usize;
                let rr_now = (state[WEIGHT] * state[NEXT]).f64();
                look = self.pace.next(rr, rr_now, state[BOUND].f64(), done);
                if state[STOP] > T::ZERO {
                    break;
                }
            }
            match &mut self.glance {
                Some(glance) if ahead && n >= look => {
                    // SAFETY: as above.
                    unsafe { glance.start(&self.state) }?;
                    asked = true;
                }
                _ => {}
            }
        }
        // The product that shows that there is nothing left to do is done, too.
        let broken = usize::from(state[ALPHA] <= T::ZERO);
        let idle = calls.saturating_sub(done + broken) as u64;
        self.product.did_nothing(idle);
        self.step.did_nothing(idle);
        if state[LATER] > T::ZERO {
            // A step after the end gives `y` what it is owed, and nothing else is done.
            (state[STOP], state[OWED], state[LATER]) = (T::of(2.0), owed(&state), T::ZERO);
            state[PUT_OFF] = state[PUT_OFF] - T::of(1.0);
            self.put(engine, &state)?;
            self.step(engine, None)?;
            self.step.did_nothing(1);
        }
        let put_off = state[PUT_OFF].f64() - put_off;
        self.step.spared(Traffic {
            updated_bytes: put_off * (self.r.len() * size_of::<T>()) as f64,
            ..Traffic::default()
        });
        Ok(state)
    }

    /// The state of the next call.
    fn put(&mut self, engine: &Engine<T>, state: &State<T>) -> Result<()> {
        let on_the_device = self.on_the_device(engine);
        if let (Some(glance), true) = (&mut self.glance, on_the_device) {
            // SAFETY: the state is dropped after the glance, and as long; the host asks for no part of
            // it before a glance that starts later has ended.
            return unsafe { glance.put(&mut self.state, state) };
        }
        let (_, host) = self.state.split_at(0, false)?;
        host.rows[..LENGTH].copy_from_slice(state);
        Ok(())
    }

    /// `y`, `r` and `p` of the next iteration, as the state says, or as what is to be done `first`.
    fn step(&mut self, engine: &Engine<T>, first: Option<First>) -> Result<()> {
        let y = match &mut self.factor {
            Some(factor) => factor.z_mut(),
            None => &mut self.system.y,
        };
        engine.post(
            &mut self.step,
            Operands {
                inout: &mut [y, &mut self.r, &mut self.p],
                own: &[&self.s],
                state: Some(&self.state),
                first,
                ..Operands::default()
            },
        )
    }

    /// Starts the first product before it is known whether there are to be iterations, where the device
    /// does that while the host waits for what says so; returns whether it has. It leaves `s` alone.
    pub(super) fn multiply_ahead(&mut self, engine: &Engine<T>) -> Result<bool> {
        let unwatched = engine.runs_unwatched(&self.product) && self.on_the_device(engine);
        if unwatched {
            self.put(engine, &[T::ZERO; LENGTH])?;
            self.product(engine)?;
        }
        Ok(unwatched)
    }

    /// Whether the device, one with memory of its own, does the iterations.
    fn on_the_device(&self, engine: &Engine<T>) -> bool {
        let alone = engine.is_the_devices(&self.step) && engine.comm().size() == 1;
        alone && self.glance.is_some() && engine.node.memory == MemoryKind::Discrete
    }

    /// `s = A p`, or `G A G^T p`.
    fn product(&mut self, engine: &Engine<T>) -> Result<()> {
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
                state: Some(&self.state),
                halo,
                ..Operands::default()
            },
        )
    }
}
