//! Fine-grain shared virtual memory: one pointer for both sides, nothing to hand over but the
//! end of the kernels.

use std::rc::Rc;

use opencl3::memory::{CL_MEM_READ_WRITE, CL_MEM_SVM_FINE_GRAIN_BUFFER, svm_alloc, svm_free};

use super::{Arg, Store};
use crate::Result;
use crate::node::device::Link;
use crate::node::pages::advise_huge;

/// A fine-grain allocation.
pub struct Svm {
    link: Rc<Link>,
    pointer: *mut u8,
    bytes: usize,
}

impl Svm {
    /// `bytes` zero bytes.
    ///
    /// # Errors
    /// The allocation failed.
    pub fn new(link: &Rc<Link>, bytes: usize) -> Result<Self> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
        // SAFETY: the context is live and the flags are a legal pair for fine-grain SVM.
        let pointer = unsafe { svm_alloc(link.context.get(), flags, bytes, 128) }
            .map_err(|code| link.out_of_memory(bytes, code))?
            .cast::<u8>();
        advise_huge(pointer, bytes);
        // SAFETY: `bytes` bytes were just allocated, and fine-grain memory needs no mapping.
        unsafe { pointer.write_bytes(0, bytes) };
        Ok(Self {
            link: Rc::clone(link),
            pointer,
            bytes,
        })
    }
}

impl Svm {
    /// The host may touch the bytes from `from` on only when no kernel runs.
    fn settle(&self, from: usize) -> Result<()> {
        if from >= self.bytes {
            return Ok(());
        }
        let settled = self.link.queue.settle();
        settled.map_err(|code| self.link.error("a kernel", code))
    }
}

impl Drop for Svm {
    fn drop(&mut self) {
        // A kernel that fails here has been or will be told of elsewhere.
        let _ = self.link.queue.settle();
        // SAFETY: allocated from this context in `new`, and no kernel is running.
        let _ = unsafe { svm_free(self.link.context.get(), self.pointer.cast()) };
    }
}

impl Store for Svm {
    fn share(&self, _: usize, host_from: usize) -> Result<()> {
        self.settle(host_from)
    }
    fn split(&self, at: usize, _: bool) -> Result<()> {
        self.settle(at)
    }
    fn open(&self) -> bool {
        true
    }
    fn host(&self) -> *mut u8 {
        self.pointer
    }
    fn whole(&self) -> Arg {
        Arg::Svm(self.pointer)
    }
    fn part(&self) -> Arg {
        Arg::Svm(self.pointer)
    }
    fn copied_bytes(&self) -> u64 {
        0
    }
}
