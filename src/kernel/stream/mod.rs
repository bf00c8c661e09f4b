//! Loops that do nothing but move memory: the roofs that kernels are held against. They are
//! kernels like others, but no run compiles them: see [`Gauge`](crate::split::Gauge).
//!
//! Which loop is fastest depends on the machine: prefetching gains a fifth on one and costs a
//! fifth on the next, so each operation has several CPU paths, and the best one is the roof.

pub mod copy;
pub mod read;
pub mod triad;

use super::{Kernel, Real, Rows, axpy, dot, pcg_step};

/// Bytes that prefetching paths run ahead.
pub const AHEAD_BYTES: usize = 1024;

/// The kernels, one of each operation.
pub fn list<T: Real>() -> Vec<Kernel<T>> {
    vec![read::kernel(), copy::kernel(), triad::kernel()]
}

/// The CPU path of `kernel` that prefetches, if it has one, and the processor gains by it where `two` vectors
/// are read or `several`. It computes the same, bit for bit.
pub fn ahead<T: Real>(
    kernel: &Kernel<T>,
    two: bool,
    several: bool,
) -> Option<fn(&mut Rows<'_, T>)> {
    let [_, path] = match kernel.name {
        "axpy" if two => axpy::paths(),
        "dot" if two => dot::paths(),
        "pcg_step" if several => pcg_step::paths(),
        _ => return None,
    };
    Some(path)
}

/// Makes a function that asks for a cache line, by the instruction of each architecture.
macro_rules! prefetch {
    ($(#[$doc:meta])* $name:ident, $x86:ident, $arm:literal) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T>(x: &[T], i: usize) {
            let line = x.as_ptr().wrapping_add(i);
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a prefetch reads nothing and never faults, whatever the address.
            unsafe {
                use std::arch::x86_64::{$x86, _mm_prefetch};
                _mm_prefetch::<$x86>(line.cast());
            }
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as above.
            unsafe {
                std::arch::asm!(concat!("prfm ", $arm, ", [{0}]"), in(reg) line, options(nostack, readonly, preserves_flags));
            }
            #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
            let _ = line;
        }
    };
}

prefetch! {
    /// Asks for the cache line of `x[i]`, which may lie beyond the end.
    prefetch, _MM_HINT_T0, "pldl1keep"
}

prefetch! {
    /// As [`prefetch`], of what is read once: outer caches need not keep it.
    prefetch_once, _MM_HINT_NTA, "pldl1strm"
}

prefetch! {
    /// As [`prefetch`], no further than the second-level cache.
    prefetch_second, _MM_HINT_T1, "pldl2keep"
}

/// Writes 16 bytes past the caches where the processor can; `to` is 16 bytes and aligned to 16.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn stream_16<T: Real>(values: &[T], to: &mut [T]) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
    debug_assert!(size_of_val(values) == 16 && size_of_val(to) == 16);
    // SAFETY: both are 16 bytes long, `to` is aligned (callers pass 16-byte parts of whole
    // blocks of a buffer, which is aligned to 128 bytes), and any bits are a T.
    unsafe {
        _mm_stream_si128(
            to.as_mut_ptr().cast(),
            _mm_loadu_si128(values.as_ptr().cast()),
        )
    }
}

/// Writes `values` to `to`, past the caches where the processor can. A group of such stores
/// ends with [`streamed`].
#[inline(always)]
pub fn stream<T: Real, const N: usize>(values: [T; N], to: &mut [T; N]) {
    #[cfg(target_arch = "x86_64")]
    if to.as_ptr().addr().is_multiple_of(16) && size_of_val(&values).is_multiple_of(16) {
        let step = 16 / size_of::<T>();
        let parts = to.chunks_exact_mut(step).zip(values.chunks_exact(step));
        for (to, values) in parts {
            stream_16(values, to);
        }
        return;
    }
    *to = values;
}

/// Makes streamed stores visible to other threads before what follows.
#[inline(always)]
pub fn streamed() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of every x86-64 processor.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
