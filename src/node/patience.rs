//! How a thread waits for another: it spins, then yields, then sleeps.
//!
//! A time step is a rapid sequence of short jobs, and waking a sleeping core takes longer than
//! most kernels, so a wait is not given up for some milliseconds. It is measured in time, not in
//! turns: where other programs share the cores, a yield may last as long as a kernel.

use std::time::{Duration, Instant};

/// Spins before yielding.
const SPINS: u32 = 4_000;
/// Yielding before sleeping.
const LONG: Duration = Duration::from_millis(4);
/// One sleep of a thread that nobody wakes.
const NAP: Duration = Duration::from_micros(50);

/// One wait.
#[derive(Default)]
pub(super) struct Patience {
    spins: u32,
    since: Option<Instant>,
}

impl Patience {
    /// One spin or yield; false, without either, once the wait has been long.
    pub fn turn(&mut self) -> bool {
        if self.spins < SPINS {
            self.spins += 1;
            std::hint::spin_loop();
            return true;
        }
        if self.since.get_or_insert_with(Instant::now).elapsed() > LONG {
            return false;
        }
        std::thread::yield_now();
        true
    }

    /// One spin, yield or nap: for what will come without waking the waiting thread.
    pub fn wait(&mut self) {
        if !self.turn() {
            std::thread::sleep(NAP);
        }
    }
}
