//! Host memory that the driver has pinned, and copies between it and a buffer of the device that
//! nobody waits for: with any other memory the driver waits for all kernels before.

use std::ptr::null;
use std::rc::Rc;

use opencl3::command_queue::{
    CommandQueue, enqueue_marker_with_wait_list, enqueue_read_buffer, enqueue_svm_mem_cpy,
    enqueue_write_buffer,
};
use opencl3::event::{release_event, wait_for_events};
use opencl3::types::{CL_NON_BLOCKING, cl_command_queue, cl_event};

use super::device::Link;
use super::memory::{Arg, Store, ZeroCopy};
use crate::Result;

/// The memory, and the copy under way, if any.
pub struct Pinned {
    link: Rc<Link>,
    /// The event that ends the copy under way.
    under_way: Option<cl_event>,
    /// The event of all that was started before a mark.
    marked: Option<cl_event>,
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
            marked: None,
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
        let queue = self.link.queue.get();
        // SAFETY: the caller's promise, and `begin`.
        let event = unsafe { self.enqueue(queue, from, bytes, None) };
        self.begun(event)
    }

    /// Where the [link](Link) has a queue for copies beside the kernels, remembers what was started
    /// until now.
    ///
    /// # Errors
    /// The device failed.
    pub fn mark(&mut self) -> Result<()> {
        self.unmark();
        if self.link.beside.is_none() {
            return Ok(());
        }
        let ordered = self.link.queue.order();
        ordered.map_err(|code| self.link.error("a kernel", code))?;
        // SAFETY: a live queue; no event is waited for but what is in it.
        let marked = unsafe { enqueue_marker_with_wait_list(self.link.queue.get(), 0, null()) };
        let fail = |code| self.link.error("clEnqueueMarkerWithWaitList", code);
        self.marked = Some(marked.map_err(fail)?);
        // Another queue waits for it.
        self.link.queue.push().map_err(fail)
    }

    fn unmark(&mut self) {
        if let Some(event) = self.marked.take() {
            // SAFETY: the event of a command that was enqueued here, released once; what waits for it
            // keeps it.
            let _ = unsafe { release_event(event) };
        }
    }

    /// As [`Pinned::fetch`], but as they are at the last [`mark`](Self::mark), which is set now where
    /// there is none, and without holding up what is started after that (an H100 for 1 us, else 9).
    ///
    /// # Errors
    /// As [`Pinned::fetch`].
    ///
    /// # Safety
    /// As [`Pinned::fetch`]; and nothing that is started after the mark and before the
    /// [`wait`](Self::wait) changes the bytes.
    pub unsafe fn fetch_aside(&mut self, from: Arg, bytes: usize) -> Result<()> {
        let Some(queue) = self.link.beside.as_ref().map(CommandQueue::get) else {
            // SAFETY: as here.
            return unsafe { self.fetch(from, bytes) };
        };
        self.settle(bytes)?;
        if self.marked.is_none() {
            self.mark()?;
        }
        // SAFETY: the caller's promise, and `settle`; the mark is an event of the same context.
        let event = unsafe { self.enqueue(queue, from, bytes, self.marked) };
        self.unmark();
        self.begun(event)
    }

    /// The same beside all that was started, where the [link](Link) has a queue for that, else after
    /// it. Kernels may change the bytes meanwhile, of which OpenCL does not say what is found then.
    ///
    /// # Errors
    /// As [`Pinned::fetch`].
    ///
    /// # Safety
    /// As [`Pinned::fetch`].
    pub unsafe fn peek(&mut self, from: Arg, bytes: usize) -> Result<()> {
        self.settle(bytes)?;
        let Some(queue) = self.link.beside.as_ref().map(CommandQueue::get) else {
            // SAFETY: as here.
            return unsafe { self.fetch(from, bytes) };
        };
        // SAFETY: as in `fetch`.
        let event = unsafe { self.enqueue(queue, from, bytes, None) };
        self.begun(event)
    }

    /// A copy of the first `bytes` bytes of `from`, in `queue`, `after` an event; its own event.
    ///
    /// # Safety
    /// As [`Pinned::fetch`]; no copy is under way, and the slot is as long.
    unsafe fn enqueue(
        &mut self,
        queue: cl_command_queue,
        from: Arg,
        bytes: usize,
        after: Option<cl_event>,
    ) -> std::result::Result<cl_event, i32> {
        let to = self.slot.host().cast();
        let (count, list) = match &after {
            Some(event) => (1, &raw const *event),
            None => (0, null()),
        };
        // SAFETY: buffer and slot hold `bytes` bytes (the caller's promise). Nobody touches the slot
        // before the event has ended: it is waited for by whoever looks at the slot, by the next
        // copy, and when this is dropped, before the slot is. The list has `count` live events.
        unsafe {
            match from {
                Arg::Mem(mem) => {
                    enqueue_read_buffer(queue, mem, CL_NON_BLOCKING, 0, bytes, to, count, list)
                }
                Arg::Svm(p) => {
                    enqueue_svm_mem_cpy(queue, CL_NON_BLOCKING, to, p.cast(), bytes, count, list)
                }
                Arg::None | Arg::Words(_) => Err(-38),
            }
        }
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
                Arg::Mem(mem) => {
                    enqueue_write_buffer(queue, mem, CL_NON_BLOCKING, 0, bytes, from, 0, null())
                }
                Arg::Svm(p) => {
                    enqueue_svm_mem_cpy(queue, CL_NON_BLOCKING, p.cast(), from, bytes, 0, null())
                }
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
        self.settle(bytes)?;
        let ordered = self.link.queue.order();
        ordered.map_err(|code| self.link.error("a kernel", code))
    }

    fn settle(&mut self, bytes: usize) -> Result<()> {
        assert!(bytes <= self.bytes, "the memory is as long as the copy");
        self.wait()
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
        self.unmark();
    }
}
