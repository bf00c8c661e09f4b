//! The sampler: reads the chosen rails in its own thread.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Choice, Meter, Recorder, Resolved};

/// Default time between two samples, in seconds.
pub const PERIOD_S: f64 = 0.1;

/// The sampler's own reads may take this part of the run's time, and so may the reads made
/// on demand between them; 0.5 % in all is the aim, and readings vary.
const SHARE: f64 = 0.002;

/// A meter that is slow to read (NVML: 3 to 8 ms) is sampled less often, but not more rarely
/// than this.
const SLOW_PERIOD_S: f64 = 4.0;

/// Power "now" is the mean over this many seconds.
const NOW_S: f64 = 0.5;

/// Energy of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// `None` if it was not measured throughout.
    pub joules: Option<f64>,
    /// Half-width of its error from the sensor's interval and resolution; `None` for a
    /// model, whose error is not known.
    pub uncertainty_j: Option<f64>,
}

/// What sampling itself took, by the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Rounds of readings.
    pub samples: u64,
    /// Seconds spent in them.
    pub seconds: f64,
    /// Processor time of them, in seconds; a meter's own thread or command is not in it.
    pub cpu_s: f64,
}

/// Processor time of the calling thread.
fn cpu_s() -> f64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
    now.map_or(0.0, |t| t.tv_sec() as f64 + 1e-9 * t.tv_nsec() as f64)
}

/// What the ledger asks of a source; tests give a synthetic one.
pub trait Supply {
    /// Energy from `t0_s` to `t1_s`, if it can be had at once without disturbing the run.
    fn resolve(&self, t0_s: f64, t1_s: f64) -> Resolved;

    /// Energy from `t0_s` to `t1_s`, reading the meters now if they have not been since.
    fn energy_between(&self, t0_s: f64, t1_s: f64) -> Option<f64>;

    /// Half-width of the error of the energy from `t0_s` to `t1_s`; `None` where it is not
    /// known, as of a model.
    fn uncertainty_j(&self, _t0_s: f64, _t1_s: f64) -> Option<f64> {
        None
    }

    /// Present power in watts.
    fn power_now(&self) -> Option<f64>;
}

struct Shared {
    state: Mutex<State>,
    stop: Condvar,
    epoch: Instant,
}

struct State {
    recorder: Recorder,
    cost: Cost,
    demand_s: f64,
    stopping: bool,
}

impl State {
    /// Mean seconds of a round of readings.
    fn mean_s(&self) -> f64 {
        self.cost.seconds / self.cost.samples.max(1) as f64
    }
}

impl Shared {
    /// A sampler that panicked leaves consistent traces, so its lock is taken as it is.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn now_s(&self) -> f64 {
        self.epoch.elapsed().as_secs_f64()
    }

    /// One round of readings; returns its seconds.
    fn sample(&self, state: &mut State) -> f64 {
        let (start, cpu_before_s) = (Instant::now(), cpu_s());
        state.recorder.sample(|| self.now_s());
        let seconds = start.elapsed().as_secs_f64();
        state.cost.cpu_s += cpu_s() - cpu_before_s;
        state.cost.samples += 1;
        state.cost.seconds += seconds;
        seconds
    }

    fn run(&self, period_s: f64) {
        let mut state = self.lock();
        while !state.stopping {
            let affordable_s = (state.mean_s() / SHARE).min(SLOW_PERIOD_S);
            let period = Duration::from_secs_f64(period_s.max(affordable_s));
            let waited = self.stop.wait_timeout(state, period);
            let (guard, timeout) = waited.unwrap_or_else(|e| e.into_inner());
            state = guard;
            if timeout.timed_out() && !state.stopping {
                self.sample(&mut state);
            }
        }
    }
}

/// The node's energy over time; reading stops when it is dropped. Times are seconds since
/// it was opened, from [`Source::now_s`].
pub struct Source {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    text: String,
    measured: bool,
    period_s: f64,
}

impl Source {
    /// Takes a first sample and starts the thread, if there is anything to read. A period
    /// outside 1 ms to 1 hour is moved to the nearer end.
    pub fn start(meters: Vec<Box<dyn Meter>>, choice: &Choice, period_s: f64) -> Self {
        let period_s = period_s.clamp(1e-3, 3600.0);
        let recorder = Recorder::new(meters, choice);
        let empty = recorder.is_empty();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                recorder,
                cost: Cost::default(),
                demand_s: 0.0,
                stopping: false,
            }),
            stop: Condvar::new(),
            epoch: Instant::now(),
        });
        shared.sample(&mut shared.lock());
        let mut source = Self {
            shared: Arc::clone(&shared),
            thread: None,
            text: choice.text.clone(),
            measured: choice.measured,
            period_s,
        };
        if !empty {
            let builder = std::thread::Builder::new().name("energy".into());
            match builder.spawn(move || shared.run(period_s)) {
                Ok(thread) => source.thread = Some(thread),
                // Intervals still get their energy: the meters are then read on demand.
                Err(why) => log::warn!("energy: no thread for the sampler ({why})"),
            }
        }
        source
    }

    /// Seconds since the source was opened.
    pub fn now_s(&self) -> f64 {
        self.shared.now_s()
    }

    /// What the energy is made of, e.g. `RAPL package-0 + NVML GPU 0 (...)`; `none` without
    /// a sensor or model.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// False for a model and for nothing.
    pub fn measured(&self) -> bool {
        self.measured
    }

    /// [`Supply::energy_between`] with its uncertainty.
    pub fn interval(&self, t0_s: f64, t1_s: f64) -> Energy {
        let joules = self.energy_between(t0_s, t1_s);
        let uncertainty_j = joules.and_then(|_| self.uncertainty_j(t0_s, t1_s));
        Energy {
            joules,
            uncertainty_j,
        }
    }

    /// Mean watts over the next `seconds`, for which the caller sleeps: the idle node's power,
    /// if nothing else runs. Of a model, that is not a measurement: `None`.
    pub fn idle_w(&self, seconds: f64) -> Option<f64> {
        if !self.measured || seconds <= 0.0 {
            return None;
        }
        let t0_s = self.now_s();
        std::thread::sleep(Duration::from_secs_f64(seconds));
        let t1_s = self.now_s();
        Some(self.energy_between(t0_s, t1_s)? / (t1_s - t0_s))
    }

    /// Part of one core that sampling took so far, in processor time.
    pub fn sampling_share(&self) -> f64 {
        self.cost().cpu_s / self.now_s().max(f64::MIN_POSITIVE)
    }

    /// Messages since the last call: rails that went away, gaps. For the log.
    pub fn take_messages(&self) -> Vec<String> {
        self.shared.lock().recorder.take_messages()
    }

    /// What sampling took so far.
    pub fn cost(&self) -> Cost {
        self.shared.lock().cost
    }
}

impl Supply for Source {
    fn resolve(&self, t0_s: f64, t1_s: f64) -> Resolved {
        let mut state = self.shared.lock();
        let resolved = state.recorder.resolve(t0_s, t1_s);
        let budget_s = SHARE * self.now_s();
        if resolved != Resolved::Pending || state.demand_s + state.mean_s() > budget_s {
            return resolved;
        }
        state.demand_s += self.shared.sample(&mut state);
        state.recorder.resolve(t0_s, t1_s)
    }

    fn energy_between(&self, t0_s: f64, t1_s: f64) -> Option<f64> {
        let mut state = self.shared.lock();
        if state.recorder.resolve(t0_s, t1_s) == Resolved::Pending {
            self.shared.sample(&mut state);
        }
        match state.recorder.resolve(t0_s, t1_s) {
            Resolved::Known(joules) => joules,
            Resolved::Pending => None,
        }
    }

    fn uncertainty_j(&self, t0_s: f64, t1_s: f64) -> Option<f64> {
        let state = self.shared.lock();
        let uncertainty_j = state.recorder.uncertainty_j(t0_s, t1_s, self.period_s);
        uncertainty_j.filter(|_| self.measured)
    }

    fn power_now(&self) -> Option<f64> {
        self.shared.lock().recorder.power_w(NOW_S)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.shared.lock().stopping = true;
        self.shared.stop.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread is no reason for another one here.
            let _ = thread.join();
        }
    }
}
