//! Looking at a few numbers on the device while it goes on: what is seen is one look old.
//!
//! They are read into memory that the driver has pinned: reading into any other makes it wait for
//! all kernels before, and the device then has nothing to do.

use std::rc::Rc;

use opencl3::command_queue::{enqueue_read_buffer, enqueue_svm_mem_cpy, flush};
use opencl3::event::{release_event, wait_for_events};
use opencl3::types::{CL_NON_BLOCKING, cl_event};

use crate::Result;
use crate::kernel::Real;
use crate::node::device::Link;
use crate::node::memory::{Arg, Store, ZeroCopy};
use crate::node::{Buffer, Device};

/// A look under way: the event that ends it.
struct Look(Rc<Link>, cl_event);

impl Look {
    /// Waits for its end.
    fn end(&self) -> Result<()> {
        let waited = wait_for_events(&[self.1]);
        waited.map_err(|code| self.0.error("clWaitForEvents", code))
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        let _ = wait_for_events(&[self.1]);
        // SAFETY: the event of a command that was enqueued here, released once.
        let _ = unsafe { release_event(self.1) };
    }
}

/// Looks at the first numbers of a buffer.
pub struct Watch<T: Real> {
    /// Declared before what they write to, so ended before it.
    looks: [Option<Look>; 2],
    /// Wholly the host's from the start; none without a device.
    seen: Option<[ZeroCopy; 2]>,
    numbers: usize,
    turn: usize,
    _numbers: std::marker::PhantomData<T>,
}

impl<T: Real> Watch<T> {
    /// Will look at `numbers` of them.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: Option<&Device>, numbers: usize) -> Result<Self> {
        let slot = |d: &Device| ZeroCopy::new(&d.link, numbers * size_of::<T>());
        let seen = device.map(|d| Ok([slot(d)?, slot(d)?])).transpose()?;
        Ok(Self {
            looks: [None, None],
            seen,
            numbers,
            turn: 0,
            _numbers: std::marker::PhantomData,
        })
    }

    /// Forgets the looks before.
    pub fn restart(&mut self) {
        self.looks = [None, None];
    }

    /// Starts a look at `buffer` as it will be after all that was started, and returns what the
    /// look before saw; `None` at the first.
    ///
    /// # Errors
    /// The device failed.
    pub fn look(&mut self, device: &Device, buffer: &Buffer<T>) -> Result<Option<&[T]>> {
        let Some(seen) = &self.seen else {
            return Ok(None);
        };
        self.turn = 1 - self.turn;
        let (link, bytes) = (&device.link, self.numbers * size_of::<T>());
        let from = buffer.share(usize::MAX, usize::MAX)?.device;
        let to = seen[self.turn].host().cast();
        self.looks[self.turn] = None;
        let ordered = link.queue.order();
        ordered.map_err(|code| link.error("a kernel", code))?;
        let queue = link.queue.get();
        // SAFETY: buffer and slot hold `bytes` bytes. Nobody touches the slot before the event has
        // ended: `looks` is waited for here and when it is dropped, before `seen` is.
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
        }
        .map_err(|code| link.error("reading the state", code))?;
        self.looks[self.turn] = Some(Look(Rc::clone(link), event));
        flush(queue).map_err(|code| link.error("clFlush", code))?;
        match &self.looks[1 - self.turn] {
            Some(before) => {
                before.end()?;
                let slot = seen[1 - self.turn].host().cast_const().cast::<T>();
                // SAFETY: the slot holds so many numbers, aligned as all of a device's memory, and
                // the look that wrote them has ended; the next one into it needs `&mut self`.
                Ok(Some(unsafe {
                    std::slice::from_raw_parts(slot, self.numbers)
                }))
            }
            None => Ok(None),
        }
    }
}
