//! `CL_MEM_ALLOC_HOST_PTR` memory, mapped for the host: no copy where CPU and GPU share their
//! memory.

use std::cell::{Cell, RefCell};
use std::ptr::null_mut;
use std::rc::Rc;

use opencl3::command_queue::{enqueue_map_buffer, enqueue_unmap_mem_object};
use opencl3::event::release_event;
use opencl3::memory::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR,
    CL_MEM_READ_WRITE, create_buffer, create_sub_buffer, release_mem_object,
};
use opencl3::types::{CL_BLOCKING, cl_buffer_region, cl_map_flags, cl_mem};

use super::{Arg, Store};
use crate::Result;
use crate::node::device::Link;

/// A mapped region: the memory object it was mapped through, and where it is.
#[derive(Clone, Copy)]
struct Map {
    mem: cl_mem,
    pointer: *mut u8,
    /// Offset of `pointer` in the buffer.
    from: usize,
}

/// What the host holds at present.
#[derive(Clone, Copy)]
enum State {
    /// Nothing is mapped.
    Device,
    /// All of it, for reading.
    Shared(Map),
    /// The bytes from this cut on, for writing.
    Split(usize, Option<Map>),
}

/// The two non-overlapping parts of one cut.
struct Parts {
    at: usize,
    device: cl_mem,
    host: cl_mem,
}

/// Cuts remembered per buffer; a search visits a few dozen, a tuned run uses one to three.
const REMEMBERED: usize = 8;

/// Mapped memory.
pub struct ZeroCopy {
    link: Rc<Link>,
    mem: cl_mem,
    bytes: usize,
    state: Cell<State>,
    parts: RefCell<Vec<Parts>>,
}

impl ZeroCopy {
    /// `bytes` zero bytes.
    ///
    /// # Errors
    /// The allocation failed.
    pub fn new(link: &Rc<Link>, bytes: usize) -> Result<Self> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: legal flags, and no host pointer is passed.
        let mem = unsafe { create_buffer(link.context.get(), flags, bytes, null_mut()) }
            .map_err(|code| link.out_of_memory(bytes, code))?;
        let store = Self {
            link: Rc::clone(link),
            mem,
            bytes,
            state: Cell::new(State::Device),
            parts: RefCell::new(Vec::new()),
        };
        store.split(0, false)?;
        // SAFETY: split(0) mapped all `bytes` bytes for writing by the host.
        unsafe { store.host().write_bytes(0, bytes) };
        Ok(store)
    }

    fn map(&self, mem: cl_mem, from: usize, bytes: usize, flags: cl_map_flags) -> Result<Map> {
        let mut pointer = null_mut();
        self.order()?;
        // SAFETY: the region lies within `mem`; the blocking call returns when it is mapped.
        unsafe {
            enqueue_map_buffer(
                self.link.queue.get(),
                mem,
                CL_BLOCKING,
                flags,
                0,
                bytes,
                &mut pointer,
                0,
                std::ptr::null(),
            )
            .and_then(|e| release_event(e))
        }
        .map_err(|code| self.link.error("clEnqueueMapBuffer", code))?;
        self.link.queue.settled();
        Ok(Map {
            mem,
            pointer: pointer.cast(),
            from,
        })
    }

    /// Gives up what is mapped. The in-order queue unmaps before any later kernel.
    fn unmap(&self) -> Result<()> {
        let old = self.state.replace(State::Device);
        if let State::Shared(m) | State::Split(_, Some(m)) = old {
            self.order()?;
            // SAFETY: `m.pointer` came from mapping `m.mem`, once, and is not used again: slices
            // handed out borrow the buffer, and the buffer's owner is in this call.
            unsafe {
                enqueue_unmap_mem_object(
                    self.link.queue.get(),
                    m.mem,
                    m.pointer.cast(),
                    0,
                    std::ptr::null(),
                )
                .and_then(|e| release_event(e))
            }
            .map_err(|code| self.link.error("clEnqueueUnmapMemObject", code))?;
        }
        Ok(())
    }

    /// Mapping and unmapping are in order with the kernels that were started: the host sees what
    /// those before have written.
    fn order(&self) -> Result<()> {
        let queue = &self.link.queue;
        queue
            .order()
            .map_err(|code| self.link.error("a kernel", code))
    }

    /// Both halves of the cut `at`, made once and remembered.
    fn halves(&self, at: usize) -> Result<(cl_mem, cl_mem)> {
        let mut parts = self.parts.borrow_mut();
        if let Some(i) = parts.iter().position(|p| p.at == at) {
            let p = parts.remove(i);
            let found = (p.device, p.host);
            parts.push(p);
            return Ok(found);
        }
        if parts.len() >= REMEMBERED {
            release(&parts.remove(0));
        }
        let sub = |origin: usize, size: usize| {
            let region = cl_buffer_region { origin, size };
            // SAFETY: the region lies within the buffer and starts at a multiple of the device's
            // alignment (cuts are whole blocks, checked against it when the device is opened).
            unsafe {
                create_sub_buffer(
                    self.mem,
                    CL_MEM_READ_WRITE,
                    CL_BUFFER_CREATE_TYPE_REGION,
                    (&raw const region).cast(),
                )
            }
            .map_err(|code| self.link.error("clCreateSubBuffer", code))
        };
        let device = sub(0, at)?;
        let host = sub(at, self.bytes - at)?;
        parts.push(Parts { at, device, host });
        Ok((device, host))
    }
}

fn release(p: &Parts) {
    for mem in [p.device, p.host] {
        // SAFETY: made by create_sub_buffer, released once, and not mapped: the caller
        // has unmapped. OpenCL keeps it for kernels that have not finished.
        let _ = unsafe { release_mem_object(mem) };
    }
}

impl Store for ZeroCopy {
    fn share(&self, _device_to: usize, host_from: usize) -> Result<()> {
        match self.state.get() {
            State::Shared(_) => return Ok(()),
            State::Device if host_from >= self.bytes => return Ok(()),
            _ => self.unmap()?,
        }
        if host_from < self.bytes {
            let m = self.map(self.mem, 0, self.bytes, CL_MAP_READ)?;
            self.state.set(State::Shared(m));
        }
        Ok(())
    }

    fn share_parts(&self, at: usize) -> Result<()> {
        match self.state.get() {
            State::Split(old, _) if old == at => Ok(()),
            _ => self.share(at, at),
        }
    }

    fn split(&self, at: usize, _keep: bool) -> Result<()> {
        if matches!(self.state.get(), State::Split(old, _) if old == at) {
            return Ok(());
        }
        self.unmap()?;
        let write = CL_MAP_READ | CL_MAP_WRITE;
        let map = match at {
            0 => Some(self.map(self.mem, 0, self.bytes, write)?),
            at if at < self.bytes => {
                let (_, host) = self.halves(at)?;
                Some(self.map(host, at, self.bytes - at, write)?)
            }
            _ => None,
        };
        self.state.set(State::Split(at, map));
        Ok(())
    }

    fn host(&self) -> *mut u8 {
        match self.state.get() {
            State::Shared(m) | State::Split(_, Some(m)) => m.pointer.wrapping_sub(m.from),
            _ => null_mut(),
        }
    }

    fn whole(&self) -> Arg {
        match self.state.get() {
            // Read by each side in its own part: the device's is a memory object of its own.
            State::Split(at, Some(_)) if at > 0 => self.part(),
            _ => Arg::Mem(self.mem),
        }
    }

    fn part(&self) -> Arg {
        match self.state.get() {
            State::Split(at, Some(_)) if at > 0 => {
                let parts = self.parts.borrow();
                Arg::Mem(
                    parts
                        .iter()
                        .rfind(|p| p.at == at)
                        .map_or(self.mem, |p| p.device),
                )
            }
            _ => Arg::Mem(self.mem),
        }
    }

    fn copied_bytes(&self) -> u64 {
        0
    }
}

impl Drop for ZeroCopy {
    fn drop(&mut self) {
        // OpenCL keeps it for kernels that are in the queue, but not for one on the way there.
        let _ = self.order();
        let _ = self.unmap();
        for p in self.parts.borrow().iter() {
            release(p);
        }
        // SAFETY: made by create_buffer in `new`, released once.
        let _ = unsafe { release_mem_object(self.mem) };
    }
}
