//! Neighbours that are not there: what is sent is lost, what is awaited has come and never changes,
//! and sums are those of this rank. So a part's own work can be measured, and its messages counted.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use super::{Comm, REDUCE_MOST, Ticket, Transport};
use crate::Result;

/// Times from a sum over all ranks to the next: where ranks wait for each other.
#[derive(Default)]
pub struct Laps {
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

    fn sum(&self) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(Some(now)) {
            self.seconds.borrow_mut().push((now - last).as_secs_f64());
        }
    }

    /// The laps since the start, and no further ones.
    pub fn take(&self) -> Vec<f64> {
        self.last.set(None);
        self.seconds.take()
    }
}

struct Absent {
    rank: usize,
    size: usize,
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
        Ok(Ticket(0))
    }

    // SAFETY: nothing is read or written.
    unsafe fn receive(&self, _: usize, _: i32, _: *mut u8, _: usize) -> Result<Ticket> {
        Ok(Ticket(0))
    }

    // SAFETY: the caller keeps `values` alive and alone until the ticket is done.
    unsafe fn reduce(&self, values: *mut [[f64; 2 * REDUCE_MOST]; 2]) -> Result<Ticket> {
        // SAFETY: the caller's arrays are valid and touched by nobody else.
        unsafe { (*values)[1] = (*values)[0] };
        self.laps.sum();
        Ok(Ticket(0))
    }

    fn done(&self, _: &mut [Ticket]) -> Result<bool> {
        Ok(true)
    }
}

impl Comm {
    /// Rank `rank` of `size` without the others.
    pub fn absent(rank: usize, size: usize) -> Rc<Self> {
        Self::absent_timed(rank, size, &Rc::default())
    }

    /// The same; times between sums go to `laps`, once it is started.
    pub fn absent_timed(rank: usize, size: usize, laps: &Rc<Laps>) -> Rc<Self> {
        let laps = Rc::clone(laps);
        Rc::new(Self::over(Some(Box::new(Absent { rank, size, laps }))))
    }
}
