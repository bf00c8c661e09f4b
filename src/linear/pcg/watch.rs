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
/// How often in a row the device is seen to be behind, 10 us each on an H100, before a look.
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

    /// What is seen there, once no more than an iteration of those `started` is behind that which the device is
    /// at: when to watch again, or None where the solve seems to be over, or nothing was seen.
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
        for _ in 0..self.patience {
            let state = peek.end()?;
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
            }
            // SAFETY: the caller's promise.
            unsafe { peek.peek(buffer) }?;
        }
        peek.end()?;
        Ok(None)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::linear::{Pcg, Solution};
    use crate::node::tuning::tests::launched;
    use crate::node::{Config, DeviceChoice, MemoryKind, opencl};
    use crate::sparse::Csr;
    use crate::split::{Engine, Policy};

    /// Set in the process whose devices are watched beside their kernels.
    const BESIDE: &str = "COULOIR_TEST_BESIDE";

    /// Of a series of solves, the last of which begins at its solution.
    const TOLERANCES: [f64; 7] = [1e-3, 1e-10, 1e-6, 1e-12, 1e-8, 1e-8, 1e-2];

    /// Seven points in a box of k^3, and something on the diagonal; in units that differ by rows, so that
    /// the residual falls in other ways than that of the scaled system.
    pub(in crate::linear::pcg) fn laplacian(k: usize) -> Csr {
        let unit = |i: usize| if i % k < k / 2 { 1.0 } else { 1.5 };
        let row = |i: usize, row: &mut Vec<(u32, f64)>| {
            for (stride, at) in [(1, i % k), (k, i / k % k), (k * k, i / k / k)] {
                let beside = [
                    (at > 0).then(|| i - stride),
                    (at + 1 < k).then(|| i + stride),
                ];
                let beside = beside.into_iter().flatten();
                row.extend(beside.map(|j| (j as u32, -unit(i) * unit(j))));
            }
            row.push((i as u32, 6.01 * unit(i).powi(2)));
            row.sort_unstable_by_key(|e| e.0);
        };
        Csr::from_rows(k * k * k, k * k * k, row)
    }

    /// Solves, one after the other, and all that they leave; and how often the residual was asked for.
    fn solves(config: &Config, patience: Option<usize>) -> (Vec<Solution>, Vec<u64>, u64) {
        let engine = Engine::<f64>::open(config, Policy::Fixed(1.0)).unwrap();
        let a = laplacian(12);
        let mut solver = Pcg::new(&engine, &a, false).unwrap();
        if let (Some(patience), Some(watch)) = (patience, &mut solver.watch) {
            assert!(!watch.is_beside(), "they are few rows");
            let device = engine.node.device.as_ref().unwrap();
            *watch = super::Watch::new(&engine, device, super::ROWS).unwrap();
            assert!(watch.is_beside());
            watch.patience = patience;
        }
        solver.remember(&engine).unwrap();
        let mut x = engine.node.buffer(a.rows).unwrap();
        let (mut all, mut bits) = (Vec::new(), Vec::new());
        for (k, tolerance) in TOLERANCES.into_iter().enumerate() {
            let time = 0.1 * k.min(5) as f64;
            let value = |i: usize| (1.7 * i as f64 + time).sin() + time;
            let b: Vec<f64> = (0..a.rows).map(value).collect();
            let mut b = engine.node.buffer_from(&b).unwrap();
            let s = solver.solve(&engine, &mut b, &mut x, tolerance, 0.0, 500);
            all.push(s.unwrap());
            bits.extend(x.read().unwrap().iter().map(|x| x.to_bits()));
        }
        let sites = solver.sites();
        let residual = sites.iter().find(|s| s.label == "poisson residual");
        (all, bits, residual.unwrap().stats.calls)
    }

    #[test]
    fn whatever_is_seen_no_more_was_done_than_was_started() {
        let started = super::Started {
            rr: 1.0,
            before: 20.0,
            count: 7,
        };
        let seen = [20.0, 25.0, 27.0, 28.0, 3.0, -1e300, 1e300];
        let none = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        assert_eq!(seen.map(|n| started.done(n)), [0, 5, 7, 7, 0, 0, 7]);
        assert_eq!(none.map(|n| started.done(n)), [7, 0, 0]);
    }

    #[test]
    fn who_watches_gets_the_same_bits_as_who_waits() {
        let on = |device, memory| Config {
            device,
            threads: Some(1),
            memory,
            ..Config::default()
        };
        let (want, bits, looks) = solves(&on(DeviceChoice::None, None), None);
        assert!(
            want.iter().all(|s| s.converged) && want[1].iterations > 9 && want[6].iterations == 0,
            "{want:?}"
        );
        let beside = std::env::var_os(BESIDE).is_some();
        let devices = opencl::devices().unwrap_or_default();
        let discrete = |d: &&opencl::DeviceInfo| d.fp64 && d.offers(MemoryKind::Discrete);
        for d in devices.iter().filter(discrete) {
            let config = on(DeviceChoice::Index(d.index), Some(MemoryKind::Discrete));
            // Not watched, for they are few; alarmed at each iteration, at those behind which the device
            // is far, or at the end alone.
            let all = [None, Some(0), Some(1), Some(super::PATIENCE)];
            for patience in all.into_iter().take(if beside { 4 } else { 1 }) {
                let (got, got_bits, asked) = solves(&config, patience);
                let same = got == want && got_bits == bits;
                assert!(same, "{}, {patience:?}: {got:?}, {want:?}", d.name);
                // Each alarm computes the residual.
                if patience == Some(0) {
                    assert!(asked > 2 * looks, "{}: {asked} for {looks}", d.name);
                }
            }
        }
    }

    /// The first look is late; and the residual is not yet small enough where that of the scaled system is.
    #[test]
    fn who_goes_on_after_steps_that_did_nothing_gets_the_same_bits() {
        let all = |device, memory| {
            let config = Config {
                device,
                threads: Some(1),
                memory,
                ..Config::default()
            };
            let engine = Engine::<f64>::open(&config, Policy::Fixed(1.0)).unwrap();
            let a = laplacian(12);
            let solve = |k: i32| {
                // In rows of one unit, at first.
                let value = |i: usize| f64::from(i % 12 < 6) * (1.7 * i as f64).sin();
                let b: Vec<f64> = (0..a.rows).map(value).collect();
                let mut b = engine.node.buffer_from(&b).unwrap();
                let mut x = engine.node.buffer(a.rows).unwrap();
                let mut solver = Pcg::new(&engine, &a, false).unwrap();
                solver.pace = super::Pace::long();
                let s = solver.solve(&engine, &mut b, &mut x, 0.95f64.powi(k), 0.0, 500);
                let bits: Vec<u64> = x.read().unwrap().iter().map(|x| x.to_bits()).collect();
                (s.unwrap(), bits)
            };
            (40..300).map(solve).collect::<Vec<_>>()
        };
        let want = all(DeviceChoice::None, None);
        let devices = opencl::devices().unwrap_or_default();
        let discrete = |d: &&opencl::DeviceInfo| d.fp64 && d.offers(MemoryKind::Discrete);
        for d in devices.iter().filter(discrete) {
            let got = all(DeviceChoice::Index(d.index), Some(MemoryKind::Discrete));
            assert!(got == want, "{}", d.name);
        }
    }

    #[test]
    fn any_device_may_be_watched_beside_its_kernels() {
        if !opencl::devices().is_ok_and(|all| !all.is_empty()) {
            return eprintln!("SKIPPED: no device");
        }
        let own = "linear::pcg::watch::tests::who_watches_gets_the_same_bits_as_who_waits";
        for more in ["", "waits = true\n"] {
            launched(
                &format!("vector = 8\nrows = \"block\"\n{more}beside = true"),
                own,
                BESIDE,
            );
        }
    }
}
