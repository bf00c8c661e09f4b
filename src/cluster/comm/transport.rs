//! What carries the bytes between processes.

use crate::{Error, Result};

/// Values of one reduction at most: so many sums and so many largest values.
pub const REDUCE_MOST: usize = 12;

/// A message under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub usize);

/// What moves bytes between processes.
pub trait Transport {
    /// Number of this process, from 0.
    fn rank(&self) -> usize;
    /// Number of processes.
    fn size(&self) -> usize;
    /// Whether the others are there.
    fn is_manned(&self) -> bool {
        true
    }
    /// Starts to send `bytes` bytes.
    ///
    /// # Safety
    /// `data` stays valid and unchanged until the ticket is done.
    unsafe fn send(&self, to: usize, tag: i32, data: *const u8, bytes: usize) -> Result<Ticket>;
    /// Starts to receive `bytes` bytes.
    ///
    /// # Safety
    /// `data` stays valid, and is touched by nobody else, until the ticket is done.
    unsafe fn receive(&self, from: usize, tag: i32, data: *mut u8, bytes: usize) -> Result<Ticket>;
    /// Starts to combine the first array of all ranks into the second: [`REDUCE_MOST`] numbers are
    /// added, of the others the largest is taken.
    ///
    /// # Safety
    /// As [`Transport::receive`], for both arrays.
    unsafe fn reduce(&self, values: *mut [[f64; 2 * REDUCE_MOST]; 2]) -> Result<Ticket>;
    /// Drives what is under way; true when all tickets are done.
    fn done(&self, tickets: &mut [Ticket]) -> Result<bool>;
    /// The first so many processes among themselves; nothing for the others. All call it together.
    fn first(&self, _ranks: usize) -> Result<Option<Box<dyn Transport>>> {
        Err(Error::failure(
            "these processes cannot be parted",
            "report this as a defect",
        ))
    }
}
