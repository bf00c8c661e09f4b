//! Reading a few numbers of the device, while it goes on or when it has finished.

use crate::Result;
use crate::kernel::Real;
use crate::node::pinned::Pinned;
use crate::node::{Buffer, Device};

/// Reads the first numbers of a buffer.
pub struct Glance<T: Real> {
    slot: Pinned,
    numbers: usize,
    _numbers: std::marker::PhantomData<T>,
}

impl<T: Real> Glance<T> {
    /// Will read so many `numbers`.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Device, numbers: usize) -> Result<Self> {
        Ok(Self {
            slot: Pinned::new(&device.link, numbers * size_of::<T>())?,
            numbers,
            _numbers: std::marker::PhantomData,
        })
    }

    /// Starts to read `buffer`, the device's, as it will be after all that was started.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Safety
    /// The buffer lives, and the host is given no part of it, until the [`end`](Self::end) or until
    /// this is dropped: other commands do not know of this one.
    pub(crate) unsafe fn start(&mut self, buffer: &Buffer<T>) -> Result<()> {
        let from = buffer.share(usize::MAX, usize::MAX)?.device;
        // SAFETY: a buffer has a block of numbers at least; it lives as the caller has promised.
        unsafe { self.slot.fetch(from, self.slot.bytes()) }
    }

    /// What the last [`start`](Self::start) has read; zeros before the first.
    ///
    /// # Errors
    /// The device failed.
    pub(crate) fn end(&mut self) -> Result<&[T]> {
        self.slot.wait()?;
        let slot = self.slot.at().cast_const().cast::<T>();
        // SAFETY: the slot holds so many numbers, aligned as all of a device's memory; nothing
        // writes them now, and what will needs `&mut self`.
        Ok(unsafe { std::slice::from_raw_parts(slot, self.numbers) })
    }

    /// The first numbers of `buffer`, when all that was started has finished.
    ///
    /// # Errors
    /// The device failed.
    pub(crate) fn read(&mut self, buffer: &Buffer<T>) -> Result<&[T]> {
        // SAFETY: it has ended when this returns.
        unsafe { self.start(buffer) }?;
        self.slot.wait()?;
        self.slot.link().queue.settled();
        self.end()
    }
}
