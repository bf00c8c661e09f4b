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
    /// For so many `numbers`.
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

    /// Remembers what was started until now.
    ///
    /// # Errors
    /// The device failed.
    pub(crate) fn mark(&mut self) -> Result<()> {
        self.slot.mark()
    }

    /// As [`Glance::start`], after what was started until the last [`mark`](Self::mark), or now; where
    /// the device reads beside its kernels, those that are started later go on meanwhile.
    ///
    /// # Errors
    /// As [`Glance::start`].
    ///
    /// # Safety
    /// As [`Glance::start`]; and no kernel that is started after the mark and before the
    /// [`end`](Self::end) changes the buffer.
    pub(crate) unsafe fn start_aside(&mut self, buffer: &Buffer<T>) -> Result<()> {
        let from = buffer.share(usize::MAX, usize::MAX)?.device;
        // SAFETY: as above, and the caller's promise.
        unsafe { self.slot.fetch_aside(from, self.slot.bytes()) }
    }

    /// Starts to read `buffer` as it is, beside the kernels that change it, where the device does that.
    /// OpenCL does not say what a command reads that another one is writing, so that this is a hint.
    ///
    /// # Errors
    /// As [`Glance::start`].
    ///
    /// # Safety
    /// As [`Glance::start`].
    pub(crate) unsafe fn peek(&mut self, buffer: &Buffer<T>) -> Result<()> {
        let from = buffer.share(usize::MAX, usize::MAX)?.device;
        // SAFETY: as above.
        unsafe { self.slot.peek(from, self.slot.bytes()) }
    }

    /// Returns when nothing is being read.
    ///
    /// # Errors
    /// The device failed.
    pub(crate) fn wait(&mut self) -> Result<()> {
        self.slot.wait()
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
}
