//! The ways to hold a buffer's bytes, behind one interface. See README.md beside this file for
//! the protocol.

mod discrete;
mod host;
mod svm;
mod zero_copy;

pub use discrete::Discrete;
pub use host::Host;
pub use svm::Svm;
pub use zero_copy::ZeroCopy;

use opencl3::types::cl_mem;

use crate::Result;

/// What a device kernel is given.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// No device.
    None,
    /// A memory object.
    Mem(cl_mem),
    /// A shared pointer.
    Svm(*mut u8),
    /// These words themselves.
    Words([u32; 16]),
}

/// Bytes held for both sides. Positions are byte offsets; callers align them to the device.
///
/// The store decides what to map, unmap or copy so that the next use is legal; it does so
/// through `&self` because a read by the other side moves bytes but changes no value.
pub trait Store {
    /// Makes `[0, device_to)` readable by the device and `[host_from, len)` by the host, at the
    /// same time. Both may be read until the next `split`.
    ///
    /// # Errors
    /// The OpenCL call that failed.
    fn share(&self, device_to: usize, host_from: usize) -> Result<()>;

    /// Makes `[0, at)` readable by the device and `[at, len)` by the host, leaving a buffer that is
    /// split there as it is. A view made this way ends when `share` or `split` is called.
    ///
    /// # Errors
    /// The OpenCL call that failed.
    fn share_parts(&self, at: usize) -> Result<()> {
        self.share(at, at)
    }

    /// Gives `[0, at)` to the device and `[at, len)` to the host, to write. Where `keep`, each
    /// side also finds the present values in its own part.
    ///
    /// # Errors
    /// The OpenCL call that failed.
    fn split(&self, at: usize, keep: bool) -> Result<()>;

    /// Whether host and device may use different bytes at any time, without a hand-over, and the
    /// bytes stay where they are.
    fn open(&self) -> bool {
        false
    }

    /// Whether `[0, to)` is fresh on the device, in memory of its own, and not on the host.
    fn is_remote(&self, to: usize) -> bool {
        let _ = to;
        false
    }

    /// Notes that a command has been given to the device that writes some of the bytes; all others
    /// are fresh there.
    fn device_wrote(&self) {}

    /// Notes that a command has been given to the device that brings it all that the host has.
    fn brought(&self) {}

    /// Notes that so many of the bytes have been copied by way of another buffer.
    fn count(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Where the host finds byte 0. Only the bytes last given to the host may be touched.
    fn host(&self) -> *mut u8;

    /// What a kernel gets to read the whole buffer.
    fn whole(&self) -> Arg;

    /// What a kernel gets to write its part after `split(at, ..)`.
    fn part(&self) -> Arg;

    /// Bytes copied between host and device so far: 0 for ever on a fused node.
    fn copied_bytes(&self) -> u64;
}
