//! Pinned CPU threads with static ranges.
//!
//! The calling thread is thread 0. Workers spin for a while after each job, then sleep: a time
//! step is a rapid sequence of short jobs, the rest of a run is not.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::thread::{JoinHandle, Thread};

use super::patience::Patience;
use super::topology;

type Job<'a> = dyn Fn(usize) + Sync + 'a;

struct Shared {
    /// Number of the current job; a change is the signal to start.
    turn: AtomicUsize,
    /// Points to the `&Job` of the current turn.
    job: AtomicPtr<()>,
    /// Workers that have not finished the current job.
    busy: AtomicUsize,
    /// A worker's part of the current job panicked.
    panicked: AtomicBool,
    stop: AtomicBool,
}

/// Waits for the workers when it goes out of scope: they use the job until then, also where the
/// caller's own part of it panics.
struct Join<'a>(&'a Shared);

impl Drop for Join<'_> {
    fn drop(&mut self) {
        let mut patience = Patience::default();
        while self.0.busy.load(Ordering::Acquire) > 0 {
            patience.wait();
        }
    }
}

struct Worker {
    handle: Option<JoinHandle<()>>,
    thread: Thread,
    asleep: Arc<AtomicBool>,
}

/// The threads.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<Worker>,
}

impl Pool {
    /// `threads` threads (the caller is one of them), pinned one to a core of `cores` in turn.
    pub fn new(threads: usize, cores: &[usize]) -> Self {
        let shared = Arc::new(Shared {
            turn: AtomicUsize::new(0),
            job: AtomicPtr::new(std::ptr::null_mut()),
            busy: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let core = |t: usize| cores[t % cores.len().max(1)];
        if !cores.is_empty() {
            topology::pin(&[core(0)]);
        }
        let workers = (1..threads.max(1))
            .filter_map(|t| {
                let (shared, asleep) = (Arc::clone(&shared), Arc::new(AtomicBool::new(false)));
                let (seen, pin_to) = (Arc::clone(&asleep), (!cores.is_empty()).then(|| core(t)));
                let spawned = std::thread::Builder::new()
                    .name(format!("couloir-{t}"))
                    .spawn(move || {
                        if let Some(c) = pin_to {
                            topology::pin(&[c]);
                        }
                        work(&shared, &seen, t);
                    });
                match spawned {
                    Ok(handle) => Some(Worker {
                        thread: handle.thread().clone(),
                        handle: Some(handle),
                        asleep,
                    }),
                    Err(e) => {
                        log::warn!("could not start CPU thread {t}: {e}; going on with fewer");
                        None
                    }
                }
            })
            .collect();
        Self { shared, workers }
    }

    /// Number of threads, the caller included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// The part of `range` that thread `t` takes: contiguous, equal to within one.
    pub fn part(&self, t: usize, range: Range<usize>) -> Range<usize> {
        let (n, p) = (range.len(), self.threads());
        range.start + n * t / p..range.start + n * (t + 1) / p
    }

    /// Runs `job(t)` on every thread `t` and returns when all are done. A panic of any of them
    /// goes on in the caller.
    pub fn run(&self, job: &Job<'_>) {
        if self.workers.is_empty() {
            return job(0);
        }
        let fat: *const Job<'_> = job;
        self.shared
            .job
            .store((&raw const fat).cast_mut().cast(), Ordering::Relaxed);
        self.shared
            .busy
            .store(self.workers.len(), Ordering::Relaxed);
        self.shared.turn.fetch_add(1, Ordering::SeqCst);
        for w in &self.workers {
            if w.asleep.load(Ordering::SeqCst) {
                w.thread.unpark();
            }
        }
        let join = Join(&self.shared);
        job(0);
        drop(join);
        let panicked = self.shared.panicked.swap(false, Ordering::Relaxed);
        assert!(!panicked, "a CPU thread panicked; its message stands above");
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.turn.fetch_add(1, Ordering::SeqCst);
        for w in &mut self.workers {
            w.thread.unpark();
            if let Some(h) = w.handle.take() {
                let _ = h.join();
            }
        }
        // The caller was pinned in `new`.
        topology::pin(topology::allowed_cores());
    }
}

fn work(shared: &Shared, asleep: &AtomicBool, t: usize) {
    let mut done = 0;
    loop {
        let mut patience = Patience::default();
        while shared.turn.load(Ordering::Acquire) == done {
            if patience.turn() {
                continue;
            }
            asleep.store(true, Ordering::SeqCst);
            // The turn is read again after the flag is up: the caller sees the flag or this
            // thread sees the turn, so no wake-up is lost.
            if shared.turn.load(Ordering::SeqCst) == done {
                std::thread::park();
            }
            asleep.store(false, Ordering::SeqCst);
        }
        done = shared.turn.load(Ordering::Acquire);
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        let part = || {
            // SAFETY: `run` stored a pointer to its own live `&Job` before the turn changed and
            // neither returns nor unwinds before `busy` falls to zero (see `Join`), which happens
            // after this last use of the job.
            unsafe { (**shared.job.load(Ordering::Relaxed).cast::<*const Job<'_>>())(t) }
        };
        if catch_unwind(AssertUnwindSafe(part)).is_err() {
            shared.panicked.store(true, Ordering::Relaxed);
        }
        shared.busy.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn every_thread_takes_its_part_of_every_job() {
        for threads in [1, 2, 3] {
            let pool = Pool::new(threads, topology::allowed_cores());
            let sum = AtomicU64::new(0);
            for round in 0..200 {
                pool.run(&|t| {
                    for i in pool.part(t, 5..105) {
                        sum.fetch_add(i as u64, Ordering::Relaxed);
                    }
                });
                assert_eq!(sum.swap(0, Ordering::Relaxed), (5..105).sum::<u64>());
                if round % 50 == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
            }
        }
    }

    #[test]
    fn a_panic_in_any_part_reaches_the_caller_after_the_others_have_finished() {
        let pool = Pool::new(3, topology::allowed_cores());
        for wrong in 0..3 {
            let finished = AtomicU64::new(0);
            let job = |t: usize| {
                assert!(t != wrong, "meant to");
                std::thread::sleep(std::time::Duration::from_millis(10));
                finished.fetch_add(1, Ordering::Relaxed);
            };
            let run = catch_unwind(AssertUnwindSafe(|| pool.run(&job)));
            assert!(run.is_err(), "part {wrong}");
            assert_eq!(finished.load(Ordering::Relaxed), 2, "part {wrong}");
        }
        let sum = AtomicU64::new(0);
        pool.run(&|t| {
            sum.fetch_add(t as u64, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 3, "the pool goes on working");
    }
}
