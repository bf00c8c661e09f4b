//! Zeroed host memory in whole pages, huge ones where the system gives them.

use std::ptr::NonNull;

use crate::{Error, Result};

const HUGE: usize = 2 << 20;

/// An anonymous mapping, zero at first, 2 MiB aligned when it is that large.
pub struct Pages {
    base: NonNull<u8>,
    mapped_bytes: usize,
    start: NonNull<u8>,
}

impl Pages {
    /// Maps `bytes` (at least one) bytes.
    ///
    /// # Errors
    /// [`Error::Failure`] when the system has no memory left.
    pub fn new(bytes: usize) -> Result<Self> {
        let align = if bytes >= HUGE { HUGE } else { 4096 };
        let mapped_bytes = bytes.max(1).saturating_add(align);
        // SAFETY: an anonymous private mapping at an address of the kernel's choice aliases nothing.
        let p = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        let base = (p != libc::MAP_FAILED)
            .then(|| NonNull::new(p.cast::<u8>()))
            .flatten();
        let Some(base) = base else {
            return Err(Error::failure(
                format!("no memory for {bytes} bytes"),
                "take a smaller mesh",
            ));
        };
        let pad = base.as_ptr().align_offset(align);
        // SAFETY: pad < align, and align more bytes than asked for were mapped.
        let start = unsafe { base.add(pad) };
        advise_huge(start.as_ptr(), bytes);
        Ok(Self {
            base,
            mapped_bytes,
            start,
        })
    }

    /// First byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`, which nothing outlives.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.mapped_bytes) };
    }
}

/// Asks for huge pages over the whole 2 MiB pages inside `[p, p + bytes)`.
pub(super) fn advise_huge(p: *mut u8, bytes: usize) {
    let skip = p.align_offset(HUGE);
    if bytes >= skip.saturating_add(HUGE) {
        let whole = (bytes - skip) / HUGE * HUGE;
        // SAFETY: the range lies inside memory of the caller's; madvise changes no content.
        unsafe { libc::madvise(p.add(skip).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

/// Memory that processes can still take, bytes; `None` where the system does not tell.
pub fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
