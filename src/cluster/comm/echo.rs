//! For tests: a neighbour that sends back what it gets, as a rank that is its own neighbour would
//! on either side of a periodic mesh.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Comm, REDUCE_MOST, Ticket, Transport};
use crate::Result;

/// What is awaited: from whom, where, how long.
#[derive(Default)]
struct Echo(RefCell<Vec<(usize, *mut u8, usize)>>);

impl Transport for Echo {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        3
    }

    // SAFETY: the caller's promise, and that of `receive`.
    unsafe fn send(&self, to: usize, _: i32, data: *const u8, bytes: usize) -> Result<Ticket> {
        let mut awaited = self.0.borrow_mut();
        let at = awaited.iter().position(|&(from, ..)| from == to);
        let (_, into, most) = awaited.remove(at.expect("receipts are posted first"));
        assert_eq!(bytes, most, "both sides know the length");
        // SAFETY: both are as long, and apart: one is sent from, one received into.
        unsafe { into.copy_from_nonoverlapping(data, bytes) };
        Ok(Ticket(0))
    }

    // SAFETY: the caller keeps the memory until `send` has filled it.
    unsafe fn receive(&self, from: usize, _: i32, data: *mut u8, bytes: usize) -> Result<Ticket> {
        self.0.borrow_mut().push((from, data, bytes));
        Ok(Ticket(0))
    }

    // SAFETY: the caller's arrays are valid and touched by nobody else.
    unsafe fn reduce(&self, values: *mut [[f64; 2 * REDUCE_MOST]; 2]) -> Result<Ticket> {
        // SAFETY: as above.
        unsafe { (*values)[1] = (*values)[0] };
        Ok(Ticket(0))
    }

    fn done(&self, _: &mut [Ticket]) -> Result<bool> {
        Ok(self.0.borrow().is_empty())
    }
}

impl Comm {
    /// Rank 0 of three, to which the others send what they get from it.
    pub(crate) fn echo() -> Rc<Self> {
        Rc::new(Self::over(Some(Box::new(Echo::default()))))
    }
}
