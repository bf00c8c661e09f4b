//! Reading a few numbers of the device, while it goes on or when it has finished.
//!
//! They are read into memory that the driver has pinned: reading into any other makes it wait for
//! all kernels before, and the device then has nothing to do.

use std::rc::Rc;

use opencl3::command_queue::{enqueue_read_buffer, enqueue_svm_mem_cpy};
use opencl3::event::{release_event, wait_for_events};
use opencl3::types::{CL_NON_BLOCKING, cl_event};

use crate::Result;
use crate::kernel::Real;
use crate::node::device::Link;
use crate::node::memory::{Arg, Store, ZeroCopy};
use crate::node::{Buffer, Device};

/// Reads the first numbers of a buffer.
pub struct Glance<T: Real> {
    link: Rc<Link>,
    /// The event that ends the one under way.
    under_way: Option<cl_event>,
    /// Wholly the host's from the start.
    slot: ZeroCopy,
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
            link: Rc::clone(&device.link),
            under_way: None,
            slot: ZeroCopy::new(&device.link, numbers * size_of::<T>())?,
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
        self.wait()?;
        let (link, bytes) = (&self.link, self.numbers * size_of::<T>());
        let from = buffer.share(usize::MAX, usize::MAX)?.device;
        let fail = |code| link.error("reading numbers of the device", code);
        link.queue.order().map_err(fail)?;
        let (queue, to) = (link.queue.get(), self.slot.host().cast());
        // SAFETY: buffer (a block at least) and slot hold `bytes` bytes. The buffer lives until the
        // read has ended, as the caller has promised. Nobody touches the slot before the event has
        // ended: it is waited for here, at the end, and when this is dropped, before the slot is.
        let event = unsafe {
            match from {
                Arg::Mem(mem) => enqueue_read_buffer(
                    queue,
                    mem,
                    CL_NON_BLOCKING,
                    0,
                    bytes,
                    to,
                    0,
                    std::ptr::null(),
                ),
                Arg::Svm(p) => enqueue_svm_mem_cpy(
                    queue,
                    CL_NON_BLOCKING,
                    to,
                    p.cast(),
                    bytes,
                    0,
                    std::ptr::null(),
                ),
                Arg::None => Err(-38),
            }
        };
        self.under_way = Some(event.map_err(fail)?);
        Ok(())
    }

    /// What the last [`start`](Self::start) has read; zeros before the first.
    ///
    /// # Errors
    /// The device failed.
    pub(crate) fn end(&mut self) -> Result<&[T]> {
        self.wait()?;
        let slot = self.slot.host().cast_const().cast::<T>();
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
        self.wait()?;
        self.link.queue.settled();
        self.end()
    }

    fn wait(&mut self) -> Result<()> {
        let Some(event) = self.under_way.take() else {
            return Ok(());
        };
        let waited = wait_for_events(&[event]);
        // SAFETY: the event of a command that was enqueued here, released once.
        let _ = unsafe { release_event(event) };
        waited.map_err(|code| self.link.error("clWaitForEvents", code))
    }
}

impl<T: Real> Drop for Glance<T> {
    fn drop(&mut self) {
        let _ = self.wait();
    }
}
