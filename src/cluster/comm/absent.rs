//! Neighbours that are not there: what is sent is lost, and what is awaited has come and never
//! changes. So a part's own work can be measured, and its messages counted. Sums go over those ranks
//! that measure at the same time, so that all are at the same place of a step, as in a run.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use super::{Comm, REDUCE_MOST, Ticket, Transport};
use crate::Result;

/// Own times from a sum over all ranks to the next, without the wait for the others.
#[derive(Default)]
pub struct Laps {
    /// When the last sum was known.
    last: Cell<Option<Instant>>,
    seconds: RefCell<Vec<f64>>,
}

impl Laps {
    /// Forgets what there is; the first lap begins now. There is room for `most`.
    pub fn restart(&self, most: usize) {
        let mut seconds = self.seconds.borrow_mut();
        seconds.clear();
        seconds.reserve(most);
        self.last.set(Some(Instant::now()));
    }

    /// This rank's part of a sum is ready.
    fn end(&self) {
        if let Some(last) = self.last.get() {
            self.seconds.borrow_mut().push(last.elapsed().as_secs_f64());
        }
    }

    /// The sum is known.
    fn begin(&self) {
        if self.last.get().is_some() {
            self.last.set(Some(Instant::now()));
        }
    }

    /// The laps since the start, the last of which ends now, and no further ones.
    pub fn take(&self) -> Vec<f64> {
        self.end();
        self.last.set(None);
        self.seconds.take()
    }
}

/// Of a message that is lost, or a sum of this rank alone.
const NOTHING: Ticket = Ticket(usize::MAX);

struct Absent {
    rank: usize,
    size: usize,
    beside: Option<Rc<Comm>>,
    laps: Rc<Laps>,
}

impl Transport for Absent {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn is_manned(&self) -> bool {
        false
    }

    // SAFETY: nothing is read or written.
    unsafe fn send(&self, _: usize, _: i32, _: *const u8, _: usize) -> Result<Ticket> {
        Ok(NOTHING)
    }

    // SAFETY: nothing is read or written.
    unsafe fn receive(&self, _: usize, _: i32, _: *mut u8, _: usize) -> Result<Ticket> {
        Ok(NOTHING)
    }

    // SAFETY: the caller keeps `values` alive and alone until the ticket is done.
    unsafe fn reduce(&self, values: *mut [[f64; 2 * REDUCE_MOST]; 2]) -> Result<Ticket> {
        self.laps.end();
        if let Some(transport) = self.beside.as_ref().and_then(|c| c.transport()) {
            // SAFETY: the caller's promise, handed on.
            return unsafe { transport.reduce(values) };
        }
        // SAFETY: the caller's arrays are valid and touched by nobody else.
        unsafe { (*values)[1] = (*values)[0] };
        self.laps.begin();
        Ok(NOTHING)
    }

    fn done(&self, tickets: &mut [Ticket]) -> Result<bool> {
        let transport = self.beside.as_ref().and_then(|c| c.transport());
        let mut all = true;
        for ticket in tickets {
            if let (Some(transport), true) = (transport, *ticket != NOTHING) {
                // A sum: no message has a ticket.
                if transport.done(std::slice::from_mut(ticket))? {
                    *ticket = NOTHING;
                    self.laps.begin();
                } else {
                    all = false;
                }
            }
        }
        Ok(all)
    }
}

impl Comm {
    /// Rank `rank` of `size` without the others.
    pub fn absent(rank: usize, size: usize) -> Rc<Self> {
        let laps = Rc::default();
        Rc::new(Self::over(Some(Box::new(Absent {
            rank,
            size,
            beside: None,
            laps,
        }))))
    }

    /// One rank of `size`, beside those of this communicator, each of which takes its number modulo
    /// `size`. Own times between sums go to `laps`, once it is started.
    pub fn sample(self: &Rc<Self>, size: usize, laps: &Rc<Laps>) -> Rc<Self> {
        let comm = Self::over(Some(Box::new(Absent {
            rank: self.rank() % size,
            size,
            beside: Some(Rc::clone(self)),
            laps: Rc::clone(laps),
        })));
        comm.polite.set(self.polite.get());
        comm.patience.set(self.patience.get());
        Rc::new(comm)
    }
}
