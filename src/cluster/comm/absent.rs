//! Neighbours that are not there: what is sent is lost, what is awaited has come and never changes,
//! and sums are those of this rank. So a part's own work can be measured, and its messages counted.

use std::rc::Rc;

use super::{Comm, REDUCE_MOST, Ticket, Transport};
use crate::Result;

struct Absent {
    rank: usize,
    size: usize,
}

impl Transport for Absent {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    unsafe fn send(&self, _: usize, _: i32, _: *const u8, _: usize) -> Result<Ticket> {
        Ok(Ticket(0))
    }

    unsafe fn receive(&self, _: usize, _: i32, _: *mut u8, _: usize) -> Result<Ticket> {
        Ok(Ticket(0))
    }

    unsafe fn reduce(&self, values: *mut [[f64; 2 * REDUCE_MOST]; 2]) -> Result<Ticket> {
        // SAFETY: the caller's arrays are valid and touched by nobody else.
        unsafe { (*values)[1] = (*values)[0] };
        Ok(Ticket(0))
    }

    fn done(&self, _: &mut [Ticket]) -> Result<bool> {
        Ok(true)
    }
}

impl Comm {
    /// Rank `rank` of `size` without the others.
    pub fn absent(rank: usize, size: usize) -> Rc<Self> {
        Rc::new(Self::over(Some(Box::new(Absent { rank, size }))))
    }
}
