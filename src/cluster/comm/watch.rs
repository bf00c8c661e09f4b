//! Waiting, with an end: polls, a deadline, and who has gone silent.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Comm, Ticket, witness};
use crate::{Error, Result};

/// Patience until the first step: ranks wait there for rank 0's mesh and for compilers.
pub(super) const START: Duration = Duration::from_secs(3600);
/// How long a rank that waits in vain listens for the others that do.
const GRACE: Duration = Duration::from_secs(3);
/// Polls between two looks at the clock.
const POLLS: u32 = 256;
const ALIVE: i32 = 13;

/// Keeps rank and step where [`say_last_words`] and the witness find them.
pub(super) fn note_step(rank: usize, step: usize) {
    witness::note().rank.store(rank, Ordering::Relaxed);
    witness::note().step.store(step, Ordering::Relaxed);
}

/// Says which step was reached when a launcher ends this rank because another one is lost. Two ranks
/// do so, for one may be the lost one.
pub(super) fn say_last_words() {
    extern "C" fn last_words(_: libc::c_int) {
        witness::told();
        let note = witness::note();
        let rank = note.rank.load(Ordering::Relaxed);
        let step = note.step.load(Ordering::Relaxed);
        if step == 0 || rank > 1 {
            // SAFETY: _exit may be called in a signal handler.
            unsafe { libc::_exit(1) };
        }
        let mut text = [0u8; 160];
        let room = text.len();
        let mut rest = &mut text[..];
        // Formatting integers into an array allocates nothing.
        let _ = writeln!(
            rest,
            "error: rank {rank} was told to end at step {step}: another rank was lost, or the job \
             was cancelled",
        );
        let used = room - rest.len();
        // SAFETY: write and _exit may be called in a signal handler; the array is live.
        unsafe {
            libc::write(2, text.as_ptr().cast(), used);
            libc::_exit(1);
        }
    }
    // SAFETY: the handler calls nothing that is not allowed in one.
    unsafe { libc::signal(libc::SIGTERM, last_words as *const () as libc::sighandler_t) };
}

impl Comm {
    /// Waits until `tickets` are done; `what` is waited for.
    ///
    /// # Errors
    /// [`Error::Failure`] that names the ranks from which nothing was heard, when nothing has
    /// arrived for as long as [`Comm::set_patience`] allows. The job must end then.
    pub fn wait(&self, tickets: &mut [Ticket], what: &str) -> Result<()> {
        let Some(transport) = self.transport() else {
            return Ok(());
        };
        let mut start: Option<Instant> = None;
        let mut polls = 0u32;
        while !transport.done(tickets)? {
            polls = polls.wrapping_add(1);
            if self.polite.get() || polls > 16 * POLLS {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
            if polls.is_multiple_of(POLLS) {
                let since = start.get_or_insert_with(Instant::now);
                if since.elapsed() > self.patience.get() {
                    return Err(self.silent(what));
                }
            }
        }
        Ok(())
    }

    /// All ranks that wait in vain tell each other; those that do not are the ones at fault.
    fn silent(&self, what: &str) -> Error {
        let mut heard: Vec<bool> = (0..self.size()).map(|r| r == self.rank()).collect();
        let step = self.step.get() as u64;
        let others = || (0..self.size()).filter(|&r| r != self.rank());
        // Never freed: the messages may be under way until the process ends.
        let note: &'static [u8; 8] = Box::leak(Box::new(step.to_le_bytes()));
        let inbox: &'static mut [[u8; 8]] = Box::leak(vec![[0u8; 8]; self.size()].into());
        let mut replies = Vec::new();
        if let Some(transport) = self.transport() {
            for r in others() {
                // SAFETY: `note` and `inbox` live as long as the process; each rank has a place
                // of its own in `inbox`, which nobody reads.
                unsafe {
                    let _ = transport.send(r, ALIVE, note.as_ptr(), 8);
                    if let Ok(t) = transport.receive(r, ALIVE, inbox[r].as_mut_ptr(), 8) {
                        replies.push((r, t));
                    }
                }
            }
            let start = Instant::now();
            while start.elapsed() < GRACE && heard.iter().any(|h| !h) {
                for (r, ticket) in &mut replies {
                    let one = std::slice::from_mut(ticket);
                    heard[*r] = heard[*r] || transport.done(one).unwrap_or(false);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let missing: Vec<String> = (0..self.size())
            .filter(|&r| !heard[r])
            .map(|r| self.name_of(r))
            .collect();
        let patience = self.patience.get().as_secs_f64();
        let (whom, remedy) = if missing.is_empty() {
            (
                "yet all ranks answer".to_string(),
                "raise cluster.timeout_s if a rank may be that slow, else report this",
            )
        } else {
            (
                format!("{} no longer answers", missing.join(" and ")),
                "look at that host; raise cluster.timeout_s if a step may take so long",
            )
        };
        Error::failure(
            format!(
                "{} waited {patience:.0} s at step {step} for {what}; {whom}",
                self.name_of(self.rank())
            ),
            remedy,
        )
    }
}
