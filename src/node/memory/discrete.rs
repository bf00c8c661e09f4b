//! Memory of its own on the device with a mirror on the host: stale parts are copied before
//! they are read.

use std::cell::Cell;
use std::ptr::null_mut;
use std::rc::Rc;

use opencl3::command_queue::{enqueue_read_buffer, enqueue_write_buffer};
use opencl3::event::release_event;
use opencl3::memory::{CL_MEM_READ_WRITE, create_buffer, release_mem_object};
use opencl3::types::{CL_BLOCKING, cl_mem};

use super::{Arg, Store};
use crate::Result;
use crate::node::device::Link;
use crate::node::pages::Pages;

/// Device memory and its mirror. Fresh are `[0, device_to)` on the device and
/// `[host_from, bytes)` on the host; `host_from <= device_to`.
pub struct Discrete {
    link: Rc<Link>,
    mem: cl_mem,
    mirror: Pages,
    bytes: usize,
    device_to: Cell<usize>,
    host_from: Cell<usize>,
    copied: Cell<u64>,
}

impl Discrete {
    /// `bytes` zero bytes, fresh on the host.
    ///
    /// # Errors
    /// The allocation failed.
    pub fn new(link: &Rc<Link>, bytes: usize) -> Result<Self> {
        let mirror = Pages::new(bytes)?;
        // SAFETY: legal flags, and no host pointer is passed.
        let mem =
            unsafe { create_buffer(link.context.get(), CL_MEM_READ_WRITE, bytes, null_mut()) }
                .map_err(|code| link.out_of_memory(bytes, code))?;
        Ok(Self {
            link: Rc::clone(link),
            mem,
            mirror,
            bytes,
            device_to: Cell::new(0),
            host_from: Cell::new(0),
            copied: Cell::new(0),
        })
    }

    /// Copies host bytes to the device until `[0, to)` is fresh there.
    fn upload(&self, to: usize) -> Result<()> {
        let from = self.device_to.get();
        if from < to {
            self.order()?;
            // SAFETY: the range lies within buffer and mirror; the call blocks.
            unsafe {
                let p = self.mirror.as_ptr().add(from).cast();
                enqueue_write_buffer(
                    self.link.queue.get(),
                    self.mem,
                    CL_BLOCKING,
                    from,
                    to - from,
                    p,
                    0,
                    std::ptr::null(),
                )
                .and_then(|e| release_event(e))
            }
            .map_err(|code| self.link.error("clEnqueueWriteBuffer", code))?;
            self.link.queue.settled();
            self.device_to.set(to);
            self.count(to - from);
        }
        Ok(())
    }

    /// Copies device bytes to the host until `[from, bytes)` is fresh there.
    fn download(&self, from: usize) -> Result<()> {
        let to = self.host_from.get();
        if from < to {
            self.order()?;
            // SAFETY: the range lies within buffer and mirror; the call blocks. No slice of the
            // mirror reaches below `host_from`, so nothing borrowed is overwritten.
            unsafe {
                let p = self.mirror.as_ptr().add(from).cast();
                enqueue_read_buffer(
                    self.link.queue.get(),
                    self.mem,
                    CL_BLOCKING,
                    from,
                    to - from,
                    p,
                    0,
                    std::ptr::null(),
                )
                .and_then(|e| release_event(e))
            }
            .map_err(|code| self.link.error("clEnqueueReadBuffer", code))?;
            self.link.queue.settled();
            self.host_from.set(from);
            self.count(to - from);
        }
        Ok(())
    }

    /// The copies are in order with the kernels that were started: they see what those before
    /// have written, and those after see what they bring.
    fn order(&self) -> Result<()> {
        let queue = &self.link.queue;
        queue
            .order()
            .map_err(|code| self.link.error("a kernel", code))
    }
}

impl Store for Discrete {
    fn share(&self, device_to: usize, host_from: usize) -> Result<()> {
        self.upload(device_to)?;
        self.download(host_from)
    }

    fn split(&self, at: usize, keep: bool) -> Result<()> {
        if keep {
            self.share(at, at)?;
        }
        self.device_to.set(at);
        self.host_from.set(at);
        Ok(())
    }

    fn is_remote(&self, to: usize) -> bool {
        self.device_to.get() >= to && self.host_from.get() > 0
    }

    fn device_wrote(&self) {
        debug_assert_eq!(self.device_to.get(), self.bytes);
        self.host_from.set(self.bytes);
    }

    fn brought(&self) {
        debug_assert_eq!(self.host_from.get(), 0);
        self.device_to.set(self.bytes);
    }

    fn count(&self, bytes: usize) {
        self.copied.set(self.copied.get() + bytes as u64);
    }

    fn host(&self) -> *mut u8 {
        self.mirror.as_ptr()
    }

    fn whole(&self) -> Arg {
        Arg::Mem(self.mem)
    }

    fn part(&self) -> Arg {
        Arg::Mem(self.mem)
    }

    fn copied_bytes(&self) -> u64 {
        self.copied.get()
    }
}

impl Drop for Discrete {
    fn drop(&mut self) {
        debug_assert!(
            self.host_from.get() <= self.device_to.get() && self.device_to.get() <= self.bytes
        );
        // OpenCL keeps it for kernels that are in the queue, but not for one on the way there.
        let _ = self.link.queue.order();
        // SAFETY: made by create_buffer in `new`, released once; OpenCL keeps it for kernels that
        // have not finished.
        let _ = unsafe { release_mem_object(self.mem) };
    }
}
