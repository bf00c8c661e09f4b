//! Zeroed host memory in whole pages, huge ones where the system gives them.

use std::cell::Cell;
use std::ptr::NonNull;

use crate::{Error, Result};

/// Pages, bytes: huge ones, and the smallest that a system has.
const HUGE: usize = 2 << 20;
/// See [`HUGE`].
const PAGE: usize = 4096;

/// Lines of the caches, bytes.
const LINE: usize = 64;
/// Large mappings begin less than so many lines behind a boundary of 2 MiB, by [`STRIDE`] more from one
/// boundary to the next. Row i of all vectors would else be in one set of each cache (of eight lines, in a Zen
/// 4's first two), and what is stored to one vector have the low bits of the address that is loaded from the
/// next. `couloir run` of a box of 100^3 by one thread of a Zen 4, ms a step by samples of `perf record`, in
/// turns, trial builds, without and with 17 lines from vector to vector: convection 16.2, 16.8, 16.2 and 14.1,
/// 14.6, 14.5; velocity correction 8.1, 7.8, 7.7 and 6.9, 6.9, 6.6; other kernels the same within the noise.
const SPREAD: usize = 512;
/// Odd, so that as many boundaries in turn have each its own line.
const STRIDE: usize = 17;

thread_local! {
    /// Smaller mappings of this thread so far. They begin in turn in each line of a page, by [`STRIDE`] as well.
    /// A flow in a box of 62^3 (1.9 MB a vector), one thread of a Zen 3, ns a row and step, a trial program that
    /// adds up the calls of each kernel, least and median of three runs in turns, without and with: convection
    /// 46, 56 and 24, 32; all but the solver's iterations 91, 118 and 65, 88. In a box of 48^3, whose stores do not
    /// go past the caches, 72, 96 and 68, 82. A Xeon gained nothing in 62^3.
    static SMALLER: Cell<usize> = const { Cell::new(0) };
}

/// An anonymous mapping, zero at first; in huge pages when it is that large.
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
        let (align, spread) = match bytes {
            HUGE.. => (HUGE, SPREAD * LINE),
            PAGE.. => (PAGE, PAGE),
            _ => (PAGE, 0),
        };
        let mapped_bytes = bytes.max(1).saturating_add(align + spread);
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
        // SAFETY: pad < align, and so many more bytes than asked for were mapped.
        let aligned = unsafe { base.add(pad) };
        let turn = if align == HUGE {
            aligned.as_ptr().addr() / HUGE
        } else {
            SMALLER.replace(SMALLER.get().wrapping_add(1))
        };
        let shift = turn.wrapping_mul(STRIDE * LINE) % spread.max(LINE);
        // SAFETY: shift is at most spread, and so many more bytes were mapped.
        let start = unsafe { aligned.add(shift) };
        advise_huge(aligned.as_ptr(), shift + bytes);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// All of it can be written, lines of the caches stay whole, and those of more than a page begin apart.
    #[test]
    fn vectors_begin_in_lines_apart() {
        let sizes = [1, 5000, HUGE - 1, HUGE, HUGE + 1, 4 * HUGE];
        for bytes in sizes {
            let pages = Pages::new(bytes).unwrap();
            // SAFETY: so many bytes were mapped, which nothing else knows of.
            let all = unsafe { std::slice::from_raw_parts_mut(pages.as_ptr(), bytes) };
            assert!(all.iter().all(|&b| b == 0), "{bytes}");
            all.fill(1);
            let end = pages.base.addr().get() + pages.mapped_bytes;
            assert!(pages.start.addr().get() + bytes <= end, "{bytes}");
            let line = if bytes < PAGE { PAGE } else { LINE };
            assert_eq!(pages.as_ptr().addr() % line, 0, "{bytes}");
        }
        for bytes in [PAGE, 64 * PAGE - 1, HUGE - 1] {
            let pages = (0..PAGE / LINE).map(|_| Pages::new(bytes).unwrap());
            let many: Vec<Pages> = pages.collect();
            let lines = many.iter().map(|p| p.as_ptr().addr() % PAGE);
            let lines: std::collections::HashSet<_> = lines.collect();
            assert_eq!(lines.len(), PAGE / LINE, "{bytes}");
        }
        let many: Vec<Pages> = (0..16).map(|_| Pages::new(HUGE).unwrap()).collect();
        let different = |of: fn(usize) -> usize| {
            let values = many.iter().map(|p| of(p.as_ptr().addr()));
            values.collect::<std::collections::HashSet<_>>().len()
        };
        let lines = different(|at| at % HUGE);
        assert!(lines > 1 && lines == different(|at| at / HUGE % SPREAD));
        assert!(
            many.iter()
                .all(|p| p.as_ptr().addr() % HUGE < SPREAD * LINE)
        );
    }
}
