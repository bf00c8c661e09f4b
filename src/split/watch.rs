//! Looking at a few numbers on the device while it goes on: what is seen is one look old.

use std::rc::Rc;

use opencl3::command_queue::{enqueue_read_buffer, enqueue_svm_mem_cpy, flush};
use opencl3::event::{release_event, wait_for_events};
use opencl3::types::{CL_NON_BLOCKING, cl_event};

use crate::Result;
use crate::kernel::Real;
use crate::node::device::Link;
use crate::node::memory::Arg;
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
    seen: [Box<[T]>; 2],
    turn: usize,
}

impl<T: Real> Watch<T> {
    /// Will look at `n` numbers.
    pub fn new(n: usize) -> Self {
        Self {
            looks: [None, None],
            seen: [vec![T::ZERO; n].into(), vec![T::ZERO; n].into()],
            turn: 0,
        }
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
        self.turn = 1 - self.turn;
        let (link, bytes) = (&device.link, size_of_val(&*self.seen[self.turn]));
        let from = buffer.share(usize::MAX, usize::MAX)?.device;
        let to = self.seen[self.turn].as_mut_ptr().cast();
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
                Ok(Some(&self.seen[1 - self.turn]))
            }
            None => Ok(None),
        }
    }
}
