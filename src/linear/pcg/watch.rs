//! What the host knows of iterations that the device does alone: what they have come to, exactly, at
//! a few looks that hold the device up; and, where it is watched beside its kernels, when they seem
//! to have come to their end. What is seen there decides when to look, and nothing else.

use super::iterate::State;
use super::pace::Pace;
use crate::Result;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::{BOUND, ITERATIONS, LENGTH, NEXT, ORIGIN, SETTER, STOP, WEIGHT};
use crate::node::{Buffer, Device};
use crate::split::{Engine, Glance, Rule};

/// States that are told apart.
const ORIGINS: f64 = 1e6;
/// How often in a row the device is seen to be behind and not to get on, 10 us each on an H100, before a
/// look.
const PATIENCE: usize = 64;
/// Of so many iterations that are done, or that go by before the next look by the [pace](super::pace),
/// one goes by unseen.
const SELDOM: usize = 8;
/// Least rows: an iteration of 262 144 takes an H100 less time (14 us) than its host needs to start it
/// (16 us) and to peek (5 us), so that a step of them takes 640 to 660 us for 600 (`couloir run` of a
/// cavity to 1e-3). One of a million takes 960 for 1050, of which some 50 are due to numbers that do not
/// hold it up.
const ROWS: usize = 1 << 19;

/// Looks at the state on the device.
pub(super) struct Watch<T: Real> {
    setter: Option<Rule>,
    glance: Glance<T>,
    /// Beside the kernels, where that pays.
    peek: Option<Glance<T>>,
    patience: usize,
    /// Number of the state that the host has given last.
    origin: f64,
}

/// Iterations that are watched.
#[derive(Clone, Copy)]
pub(super) struct Started {
    /// Squared residual where they began.
    pub rr: f64,
    /// Iterations of the solve before.
    pub before: f64,
    /// How many were started.
    pub count: usize,
}

impl Started {
    /// How many of these are done, of so many that were seen of the solve: any number, as it is a hint.
    fn done(&self, iterations: f64) -> usize {
        ((iterations - self.before) as usize).min(self.count)
    }
}

/// How long to wait for a device that is behind: until it has not got on so many times in a row.
struct Waiting {
    patience: usize,
    left: usize,
    done: usize,
}

impl Waiting {
    fn new(patience: usize) -> Self {
        Self {
            patience,
            left: patience,
            done: 0,
        }
    }

    /// Whether to watch again, for it was seen to have `done` so many, if it was seen.
    fn goes_on(&mut self, done: Option<usize>) -> bool {
        self.left = match done {
            Some(done) if done > self.done => {
                self.done = done;
                self.patience
            }
            _ => self.left.saturating_sub(1),
        };
        self.left > 0
    }
}

impl<T: Real> Watch<T> {
    /// Of the state of a system of so many `rows` on that device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(engine: &Engine<T>, device: &Device, rows: usize) -> Result<Self> {
        Ok(Self {
            setter: engine.setter(SETTER)?,
            glance: Glance::new(device, LENGTH)?,
            peek: match device.tuning.beside && rows >= ROWS {
                true => Some(Glance::new(device, LENGTH)?),
                false => None,
            },
            patience: PATIENCE,
            origin: 0.0,
        })
    }

    /// Whether the device is watched beside its kernels.
    pub fn is_beside(&self) -> bool {
        self.peek.is_some()
    }

    /// Whether the device, one with memory of its own, is given states.
    pub fn takes_states(&self) -> bool {
        self.setter.is_some()
    }

    /// Numbers `state`, which is given to the device next.
    pub fn number(&mut self, state: &mut State<T>) {
        self.origin = self.origin % ORIGINS + 1.0;
        state[ORIGIN] = T::of(self.origin);
    }

    /// Whether a state has come of the one that was numbered last.
    pub fn knows(&self, state: &State<T>) -> bool {
        state[ORIGIN].f64() == self.origin
    }

    /// Gives a device that does all the work a `state`, in `buffer`.
    ///
    /// # Errors
    /// The device failed.
    pub fn put(&self, engine: &Engine<T>, buffer: &mut Buffer<T>, state: &State<T>) -> Result<()> {
        match &self.setter {
            Some(setter) => engine.set(setter, buffer, state),
            None => Ok(()),
        }
    }

    /// Begins to look at the state in `buffer` after all that was started.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Safety
    /// The buffer outlives this, and is the device's until the end of the look.
    pub unsafe fn look(&mut self, buffer: &Buffer<T>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.glance.start(buffer) }
    }

    /// Remembers what was started until now, for a look aside.
    ///
    /// # Errors
    /// The device failed.
    pub fn mark(&mut self) -> Result<()> {
        self.glance.mark()
    }

    /// As [`Watch::look`], at a state that nothing changes between the mark, or now, and the end.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Safety
    /// As for [`Watch::look`].
    pub unsafe fn look_aside(&mut self, buffer: &Buffer<T>) -> Result<()> {
        // SAFETY: the caller's promises.
        unsafe { self.glance.start_aside(buffer) }
    }

    /// What a look has shown.
    ///
    /// # Errors
    /// The device failed.
    pub fn looked(&mut self) -> Result<&[T]> {
        self.glance.end()
    }

    /// Begins to watch the state in `buffer`, which kernels may be changing.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Safety
    /// As for [`Watch::look`].
    pub unsafe fn peek(&mut self, buffer: &Buffer<T>) -> Result<()> {
        match &mut self.peek {
            // SAFETY: the caller's promise.
            Some(peek) => unsafe { peek.peek(buffer) },
            None => Ok(()),
        }
    }

    /// What is seen there, once no more than an iteration of those `started` is behind that which the
    /// device is at: when to watch again, or None where the solve seems to be over, or the device does
    /// not get on.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Safety
    /// As for [`Watch::look`].
    pub unsafe fn peeked(
        &mut self,
        buffer: &Buffer<T>,
        started: Started,
        pace: &mut Pace,
    ) -> Result<Option<usize>> {
        let Some(peek) = &mut self.peek else {
            return Ok(None);
        };
        let mut waiting = Waiting::new(self.patience);
        let mut goes_on = self.patience > 0;
        while goes_on {
            let state = peek.end()?;
            let mut seen = None;
            if state[ORIGIN].f64() == self.origin {
                if state[STOP] > T::ZERO {
                    return Ok(None);
                }
                let done = started.done(state[ITERATIONS].f64());
                if done + 1 >= started.count {
                    let rr = (state[WEIGHT] * state[NEXT]).f64();
                    let next = pace.next(started.rr, rr, state[BOUND].f64(), done);
                    let most = next - done;
                    let unseen = most.min((most / SELDOM).max(1 + done / SELDOM));
                    return Ok(Some(started.count + unseen));
                }
                seen = Some(done);
            }
            // SAFETY: the caller's promise.
            unsafe { peek.peek(buffer) }?;
            goes_on = waiting.goes_on(seen);
        }
        peek.end()?;
        Ok(None)
    }
}

#[cfg(test)]
pub(super) mod tests;
