//! Readings that arrive in a thread of their own, so that a slow source never holds up the
//! sampler.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Messages kept until they are asked for; more would repeat themselves.
const MESSAGES_MAX: usize = 16;

#[derive(Default)]
struct State {
    latest: Option<(Instant, i64)>,
    why_not: String,
    messages: Vec<String>,
    stopping: bool,
}

/// What the thread and the meter share.
#[derive(Default)]
pub(super) struct Inbox {
    state: Mutex<State>,
    news: Condvar,
}

impl Inbox {
    /// A thread that panicked leaves a consistent state, so its lock is taken as it is.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Delivers a reading.
    pub fn put(&self, reading: i64) {
        self.lock().latest = Some((Instant::now(), reading));
        self.news.notify_all();
    }

    /// Says why there is no reading at present.
    pub fn fail(&self, why: impl Into<String>) {
        self.lock().why_not = why.into();
    }

    /// Leaves a sentence for the log.
    pub fn say(&self, message: String) {
        let mut state = self.lock();
        if state.messages.len() < MESSAGES_MAX {
            state.messages.push(message);
        }
    }

    /// Whether the thread is to end.
    pub fn stopping(&self) -> bool {
        self.lock().stopping
    }

    /// Waits, or returns early when the thread is to end.
    pub fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut state = self.lock();
        while !state.stopping {
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                return;
            };
            let waited = self.news.wait_timeout(state, left);
            state = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }
}

/// A thread that delivers readings; it ends with its owner.
pub(super) struct Feed {
    inbox: Arc<Inbox>,
    thread: Option<JoinHandle<()>>,
}

impl Feed {
    /// Starts `work`, which must return soon after [`Inbox::stopping`].
    ///
    /// # Errors
    /// No thread can be had.
    pub fn start(work: impl FnOnce(&Inbox) + Send + 'static) -> io::Result<Self> {
        let inbox = Arc::new(Inbox::default());
        let theirs = Arc::clone(&inbox);
        let builder = std::thread::Builder::new().name("energy-feed".into());
        Ok(Self {
            thread: Some(builder.spawn(move || work(&theirs))?),
            inbox,
        })
    }

    /// The latest reading, if it is not older than `age_max_s`.
    ///
    /// # Errors
    /// There is none, or it is too old; with the reason that the thread gives.
    pub fn latest(&self, age_max_s: f64) -> io::Result<i64> {
        let state = self.inbox.lock();
        let why = match state.why_not.as_str() {
            "" => String::new(),
            why => format!("; {why}"),
        };
        match state.latest {
            None => Err(io::Error::other(format!("it has sent no reading yet{why}"))),
            Some((at, _)) if at.elapsed().as_secs_f64() > age_max_s => {
                let age_s = at.elapsed().as_secs_f64();
                let what = format!("its last reading is {age_s:.1} s old{why}");
                Err(io::Error::new(io::ErrorKind::TimedOut, what))
            }
            Some((_, reading)) => Ok(reading),
        }
    }

    /// Times of the next two readings, waiting at most `patience`; fewer if it sends fewer.
    pub fn watch(&self, patience: Duration) -> Vec<Instant> {
        let until = Instant::now() + patience;
        let mut times: Vec<Instant> = Vec::new();
        let mut state = self.inbox.lock();
        while times.len() < 2 {
            if let Some((at, _)) = state.latest
                && times.last() != Some(&at)
            {
                times.push(at);
                continue;
            }
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                break;
            };
            let waited = self.inbox.news.wait_timeout(state, left);
            state = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
        times
    }

    /// The sentences since the last call.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut self.inbox.lock().messages)
    }

    /// Why there is no reading.
    pub fn why_not(&self) -> String {
        self.inbox.lock().why_not.clone()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.inbox.lock().stopping = true;
        self.inbox.news.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread is no reason for another one here.
            let _ = thread.join();
        }
    }
}
