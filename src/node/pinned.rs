//! Host memory that the driver has pinned, and copies between it and a buffer of the device that
//! nobody waits for: with any other memory the driver waits for all kernels before.

use std::rc::Rc;

use opencl3::command_queue::{enqueue_read_buffer, enqueue_svm_mem_cpy, enqueue_write_buffer};
use opencl3::event::{release_event, wait_for_events};
use opencl3::types::{CL_NON_BLOCKING, cl_event};

use super::device::Link;
use super::memory::{Arg, Store, ZeroCopy};
use crate::Result;

/// The memory, and the copy under way, if any.
pub struct Pinned {
    link: Rc<Link>,
    /// The event that ends the copy under way.
    under_way: Option<cl_event>,
    /// Wholly the host's from the start.
    slot: ZeroCopy,
    bytes: usize,
}

impl Pinned {
    /// `bytes` zero bytes.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(link: &Rc<Link>, bytes: usize) -> Result<Self> {
        Ok(Self {
            link: Rc::clone(link),
            under_way: None,
            slot: ZeroCopy::new(link, bytes.max(1))?,
            bytes,
        })
    }

    /// What it is pinned for.
    pub fn link(&self) -> &Rc<Link> {
        &self.link
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where it is; aligned as all of a device's memory. It may be touched when no copy is under
    /// way.
    pub fn at(&self) -> *mut u8 {
        self.slot.host()
    }

    /// Starts to copy the first `bytes` bytes of the buffer `from` here, as they will be after all
    /// that was started.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Safety
    /// The buffer holds so many bytes, and lives until the [`wait`](Self::wait) or until this is
    /// dropped; other commands do not know of this one.
    pub unsafe fn fetch(&mut self, from: Arg, bytes: usize) -> Result<()> {
        self.begin(bytes)?;
        let (queue, to) = (self.link.queue.get(), self.slot.host().cast());
        // SAFETY: buffer and slot hold `bytes` bytes (the caller's promise, and `begin`). Nobody
        // touches the slot before the event has ended: it is waited for by whoever looks at the slot,
        // by the next copy, and when this is dropped, before the slot is.
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
                Arg::None | Arg::Words(_) => Err(-38),
            }
        };
        self.begun(event)
    }

    /// Starts to copy the first `bytes` bytes to the buffer `to`, before all that is started later.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Safety
    /// As [`Pinned::fetch`].
    pub unsafe fn bring(&mut self, to: Arg, bytes: usize) -> Result<()> {
        self.begin(bytes)?;
        let (queue, from) = (self.link.queue.get(), self.slot.host().cast());
        // SAFETY: as in `fetch`.
        let event = unsafe {
            match to {
                Arg::Mem(mem) => enqueue_write_buffer(
                    queue,
                    mem,
                    CL_NON_BLOCKING,
                    0,
                    bytes,
                    from,
                    0,
                    std::ptr::null(),
                ),
                Arg::Svm(p) => enqueue_svm_mem_cpy(
                    queue,
                    CL_NON_BLOCKING,
                    p.cast(),
                    from,
                    bytes,
                    0,
                    std::ptr::null(),
                ),
                Arg::None | Arg::Words(_) => Err(-38),
            }
        };
        self.begun(event)
    }

    /// Returns when no copy is under way.
    ///
    /// # Errors
    /// The device failed.
    pub fn wait(&mut self) -> Result<()> {
        let Some(event) = self.under_way.take() else {
            return Ok(());
        };
        let waited = wait_for_events(&[event]);
        // SAFETY: the event of a command that was enqueued here, released once.
        let _ = unsafe { release_event(event) };
        waited.map_err(|code| self.link.error("clWaitForEvents", code))
    }

    fn begin(&mut self, bytes: usize) -> Result<()> {
        assert!(bytes <= self.bytes, "the memory is as long as the copy");
        self.wait()?;
        let ordered = self.link.queue.order();
        ordered.map_err(|code| self.link.error("a kernel", code))
    }

    fn begun(&mut self, event: std::result::Result<cl_event, i32>) -> Result<()> {
        let fail = |code| self.link.error("copying to or from the device", code);
        self.under_way = Some(event.map_err(fail)?);
        Ok(())
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = self.wait();
    }
}
