//! The numbers that kernels compute with.

use std::ops::{Add, Div, Mul, Neg, Sub};

use bytemuck::Pod;

use super::columns::{ALL, Difference, PLACES};
use super::group::WIDTH;

/// `f64` or `f32`.
pub trait Real:
    Pod
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Zero.
    const ZERO: Self;
    /// Distance from 1 to the next number.
    const EPSILON: f64;
    /// The least number of full precision.
    const LEAST: f64;
    /// Its name in OpenCL C.
    const CL: &'static str;
    /// Its name in reports.
    const NAME: &'static str;
    /// Whether sums of it are pairs: see [`Total`](super::total::Total).
    const PAIRED: bool;
    /// Whether code of it is to be small rather than fast: see [`Soft`](super::soft::Soft).
    const SOFT: bool = false;
    /// Whether masks are in registers of their own: see `wide.rs`.
    const WIDE: bool = false;
    /// Whether it is AVX2's, which has few registers: see `affine.rs`, `columns.rs` and
    /// `medium_steps.rs`.
    const AVX2: bool = false;
    /// Whether matrices are asked for as read once: see `once.rs`.
    const ONCE: bool = false;
    /// Whether values are asked for into the second cache: see `far.rs`.
    const FAR: bool = false;
    /// Rounds to this precision.
    fn of(x: f64) -> Self;
    /// Widens.
    fn f64(self) -> f64;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// `c <- a * b + c`, each rounded once.
    #[inline(always)]
    fn fma_all(a: &[Self; WIDTH], b: &[Self; WIDTH], c: &mut [Self; WIDTH]) {
        for l in 0..WIDTH {
            c[l] = a[l].fma(b[l], c[l]);
        }
    }
    /// Magnitude.
    fn abs(self) -> Self;
    /// The larger one; the other if one is not a number.
    fn max(self, b: Self) -> Self;
    /// [`max`](Real::max) of a group. Plain, a compiler that has AVX-512 may gather the numbers of several
    /// groups from the stack.
    #[inline(always)]
    fn max_all(a: &mut [Self; WIDTH], b: &[Self; WIDTH]) {
        for l in 0..WIDTH {
            a[l] = a[l].max(b[l]);
        }
    }
    /// Itself where `mask` has bit `l`, else `other`.
    fn or(self, mask: u32, l: usize, other: Self) -> Self;
    /// [`or`](Real::or) of a group.
    #[inline(always)]
    fn or_all(a: &mut [Self; WIDTH], mask: u32, other: &[Self; WIDTH]) {
        for l in 0..WIDTH {
            a[l] = a[l].or(mask, l, other[l]);
        }
    }
    /// Writes a group past the caches where the processor can.
    #[inline(always)]
    fn stream(group: &[Self; WIDTH], to: &mut [Self; WIDTH]) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{__m128i, _mm_stream_si128};
            const STEP: usize = size_of::<__m128i>();
            let to = to.as_mut_ptr().cast::<__m128i>();
            if to.is_aligned() {
                let step = STEP / size_of::<Self>();
                for k in 0..size_of_val(group) / STEP {
                    // SAFETY: both are WIDTH values long, `to` is aligned, any bits are either
                    // type, and every x86-64 has this instruction.
                    unsafe {
                        let part = group.as_ptr().add(k * step).cast::<__m128i>();
                        _mm_stream_si128(to.add(k), part.read_unaligned());
                    }
                }
                return;
            }
        }
        *to = *group;
    }
    /// The values of the rows of `placed`, not 0, which follow each other from `at` on; to a row
    /// that lacks it, a neighbour's or 0. Every row is among them where `EACH`.
    ///
    /// # Safety
    /// All of them lie in `values`.
    #[inline(always)]
    // SAFETY: what the caller promises is above.
    unsafe fn spread<const EACH: bool>(values: &[Self], at: usize, placed: u32) -> [Self; WIDTH] {
        let mut v = [Self::ZERO; WIDTH];
        let places = &PLACES[placed as usize];
        for l in 0..WIDTH {
            let place = if EACH || placed == ALL {
                l
            } else {
                places[l] as usize
            };
            // SAFETY: `place` counts fewer than the rows of `placed`.
            v[l] = unsafe { *values.get_unchecked(at + place) };
        }
        v
    }
    /// `x` at the columns of the rows of `placed`, not 0, whose differences to `base` follow each
    /// other from `d` on; to a row that lacks it, a neighbour's. Every row is among them where `EACH`.
    ///
    /// # Safety
    /// All of the differences lie in `differences`, all of their columns in each `x`.
    #[inline(always)]
    // SAFETY: what the caller promises is above.
    unsafe fn gather<D: Difference, const X: usize, const EACH: bool>(
        x: [&[Self]; X],
        base: u32,
        differences: &[D],
        d: usize,
        placed: u32,
    ) -> [[Self; WIDTH]; X] {
        let mut xs = [[Self::ZERO; WIDTH]; X];
        let places = &PLACES[placed as usize];
        for l in 0..WIDTH {
            let place = if EACH || placed == ALL {
                l
            } else {
                places[l] as usize
            };
            // SAFETY: as in `spread`.
            let difference: u32 = unsafe { *differences.get_unchecked(d + place) }.into();
            let j = base.wrapping_add(difference) as usize;
            for k in 0..X {
                // SAFETY: the caller's promise.
                xs[k][l] = unsafe { *x[k].get_unchecked(j) };
            }
        }
        xs
    }
}

macro_rules! real {
    ($t:ty, $bits:ty, $cl:literal, $name:literal) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const EPSILON: f64 = <$t>::EPSILON as f64;
            const LEAST: f64 = <$t>::MIN_POSITIVE as f64;
            const CL: &'static str = $cl;
            const NAME: &'static str = $name;
            const PAIRED: bool = size_of::<Self>() < size_of::<f64>();
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn max(self, b: Self) -> Self {
                <$t>::max(self, b)
            }
            #[inline(always)]
            fn or(self, mask: u32, l: usize, other: Self) -> Self {
                // Bits as wide as the numbers: a vector of them is a vector of masks.
                if mask as $bits & (1 << l) != 0 {
                    self
                } else {
                    other
                }
            }
        }
    };
}

real!(f64, u64, "double", "fp64");
real!(f32, u32, "float", "fp32");
