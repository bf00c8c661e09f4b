//! Pinned CPU threads with static ranges, in proportion to the speed of their cores.
//!
//! The calling thread is thread 0. Workers spin for a while after each job, then sleep: a time
//! step is a rapid sequence of short jobs, the rest of a run is not.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::thread::{JoinHandle, Thread};
use std::time::Instant;

use super::patience::Patience;
use super::shares::Shares;
use super::topology::{self, Cluster};

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
    /// What each thread takes, to begin with.
    shares: Shares,
    /// Factor by which a test makes each thread slower; empty otherwise.
    slower: Vec<f64>,
}

/// Doubles of each array that a thread's speed is measured with: more than a small core's caches.
const SPEED_LEN: usize = 1 << 18;
/// Rounds of that measurement; the fastest counts.
const SPEED_ROUNDS: usize = 4;

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
        let workers: Vec<Worker> = (1..threads.max(1))
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
        let cores: Vec<usize> = match cores {
            [] => vec![0; workers.len() + 1],
            _ => (0..=workers.len()).map(core).collect(),
        };
        Self {
            shared,
            workers,
            shares: Shares::even(&clusters_of_threads(&cores, topology::clusters())),
            slower: Vec::new(),
        }
    }

    /// Number of threads, the caller included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// The part of `range` that thread `t` takes: contiguous, in proportion to the speed of its
    /// core; equal to within one where all cores are.
    pub fn part(&self, t: usize, range: Range<usize>) -> Range<usize> {
        self.shares.part(t, range)
    }

    /// How much each thread takes, to begin with.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// Measures the speeds of the clusters, all threads at work at once as in a run. Does nothing
    /// where all cores are equal.
    pub fn measure_speeds(&mut self) {
        if !self.shares.uneven() {
            return;
        }
        self.run(&|t| {
            let (x, mut y) = (vec![1.0f64; SPEED_LEN], vec![0.5f64; SPEED_LEN]);
            for _ in 0..SPEED_ROUNDS {
                let start = Instant::now();
                for (y, x) in y.iter_mut().zip(&x) {
                    *y += 0.5 * x;
                }
                std::hint::black_box(&mut y);
                self.hold_back(t, start);
                self.shares.book(t, 1, start.elapsed());
            }
        });
        self.shares.adopt();
    }

    /// Runs `job` on the part of `range` that `shares` gives to each thread, and books the time
    /// that it takes where the speeds differ.
    pub fn deal(&self, shares: &Shares, range: Range<usize>, job: &(dyn Fn(Range<usize>) + Sync)) {
        self.run(&|t| {
            let part = shares.part(t, range.clone());
            let blocks = part.len();
            if blocks == 0 {
                return;
            }
            let start = shares.uneven().then(Instant::now);
            job(part);
            if let Some(start) = start {
                self.hold_back(t, start);
                shares.book(t, blocks, start.elapsed());
            }
        });
    }

    /// For tests: lets thread `t` pass for one on a core of cluster `cluster[t]`, and makes it
    /// slower by the factor `slower[t]`.
    #[doc(hidden)]
    pub fn pretend(&mut self, cluster: &[usize], slower: &[f64]) {
        self.shares = Shares::even(cluster);
        self.slower = slower.to_vec();
    }

    /// Waits until `start` is as long ago as on a core that is slower by the test's factor.
    fn hold_back(&self, t: usize, start: Instant) {
        if let Some(&factor) = self.slower.get(t) {
            let until = start.elapsed().mul_f64(factor.max(1.0));
            while start.elapsed() < until {
                std::hint::spin_loop();
            }
        }
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

/// Cluster of each thread, which runs on core `cores[t]`: numbered from 0 in the order of the
/// threads.
fn clusters_of_threads(cores: &[usize], clusters: &[Cluster]) -> Vec<usize> {
    let mut seen = Vec::new();
    let number = |core: &usize| {
        let cluster = clusters.iter().position(|c| c.cores.contains(core));
        seen.iter().position(|c| *c == cluster).unwrap_or_else(|| {
            seen.push(cluster);
            seen.len() - 1
        })
    };
    cores.iter().map(number).collect()
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
    fn a_thread_counts_for_the_cluster_that_it_is_pinned_in() {
        let cluster = |cores: &[usize]| Cluster {
            cores: cores.to_vec(),
            capacity: None,
            part: None,
            max_khz: None,
        };
        let clusters = [cluster(&[4, 5, 6, 7]), cluster(&[0, 1, 2, 3])];
        let of = |cores: &[usize]| clusters_of_threads(cores, &clusters);
        assert_eq!(of(&[4, 5, 6, 7, 0, 1]), [0, 0, 0, 0, 1, 1]);
        // Numbered in the order of the threads.
        assert_eq!(of(&[0, 4, 1, 5]), [0, 1, 0, 1]);
        assert_eq!(of(&[2, 3]), [0, 0]);
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
