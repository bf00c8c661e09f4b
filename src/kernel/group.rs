//! A group of rows at once: to the CPU paths what `realv` (`cl/common.cl`) and the reductions
//! (`cl/reduce.cl`) are to the device.
//!
//! Everything here is plain loops in functions that are always inlined, never closures: a closure
//! that the compiler leaves outside of the function compiled for an instruction set (see
//! [`simd`](super::simd)) is compiled for the least one, where a fused multiply-add is a call.

use std::ops::{Add, Mul, Neg, Range, Sub};

use super::{LANES, Real, SLICE};
use crate::node::BLOCK;

/// Rows that CPU paths handle at once.
pub const WIDTH: usize = 8;

/// First rows of the slices of block `b`.
#[inline(always)]
pub fn slices(b: usize) -> std::iter::StepBy<Range<usize>> {
    (b * BLOCK..(b + 1) * BLOCK).step_by(SLICE)
}

/// First rows of the groups of a slice, counted from its own first row.
#[inline(always)]
pub fn groups() -> std::iter::StepBy<Range<usize>> {
    (0..SLICE).step_by(WIDTH)
}

/// `x[at .. at + WIDTH]`.
#[inline(always)]
fn chunk<X>(x: &[X], at: usize) -> &[X; WIDTH] {
    let Some(c) = x.get(at..).and_then(<[X]>::first_chunk) else {
        unreachable!("operands are whole blocks")
    };
    c
}

/// `x[at .. at + WIDTH]`, to write.
#[inline(always)]
pub fn chunk_mut<X>(x: &mut [X], at: usize) -> &mut [X; WIDTH] {
    let Some(c) = x.get_mut(at..).and_then(<[X]>::first_chunk_mut) else {
        unreachable!("operands are whole blocks")
    };
    c
}

/// The rows of the slice that begins with row `i`.
#[inline(always)]
pub fn slice_at<T>(x: &[T], i: usize) -> &[T; SLICE] {
    let Some(rows) = x.get(i..).and_then(<[T]>::first_chunk) else {
        unreachable!("operands are whole blocks")
    };
    rows
}

/// As [`slice_at`], to write.
#[inline(always)]
pub fn slice_at_mut<T>(x: &mut [T], i: usize) -> &mut [T; SLICE] {
    let Some(rows) = x.get_mut(i..).and_then(<[T]>::first_chunk_mut) else {
        unreachable!("operands are whole blocks")
    };
    rows
}

/// Makes what was [put](Group::put) past the caches visible to other cores in order.
pub(crate) fn flush_streams() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has this instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// One number of each row of a group, in a line of the caches of its own: where a group that the
/// compiler keeps on the stack lies across two pages, which the place of a process's stack decides, a
/// store of it takes some 250 cycles of a Zen 4.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Group<T>(pub [T; WIDTH]);

const _: () = assert!(align_of::<Group<f64>>() >= size_of::<[f64; WIDTH]>());

impl<T: Real> Group<T> {
    /// Zeros.
    pub const ZERO: Self = Self([T::ZERO; WIDTH]);

    /// `x` in each row.
    #[inline(always)]
    pub fn splat(x: T) -> Self {
        Self([x; WIDTH])
    }

    /// Rows `i .. i + WIDTH` of `x`.
    #[inline(always)]
    pub fn load(x: &[T], i: usize) -> Self {
        Self(*chunk(x, i))
    }

    /// Writes rows `i .. i + WIDTH` of `x`.
    #[inline(always)]
    pub fn store(self, x: &mut [T], i: usize) {
        *chunk_mut(x, i) = self.0;
    }

    /// As [`Group::store`]; past the caches where `stream`, for what is not read again soon.
    /// `flush_streams` ends a series of these.
    #[inline(always)]
    pub fn put(self, x: &mut [T], i: usize, stream: bool) {
        let to = chunk_mut(x, i);
        if stream {
            T::stream(&self.0, to);
        } else {
            *to = self.0;
        }
    }

    /// `self * b + c`, rounded once.
    #[inline(always)]
    pub fn fma(self, b: Self, mut c: Self) -> Self {
        T::fma_all(&self.0, &b.0, &mut c.0);
        c
    }

    /// Itself where `mask` has the row's bit, else `other`.
    #[inline(always)]
    pub fn or(mut self, mask: u32, other: Self) -> Self {
        T::or_all(&mut self.0, mask, &other.0);
        self
    }

    /// The larger ones; the other where one is not a number.
    #[inline(always)]
    pub fn max(mut self, b: Self) -> Self {
        T::max_all(&mut self.0, &b.0);
        self
    }

    /// Magnitudes.
    #[inline(always)]
    pub fn abs(mut self) -> Self {
        for x in &mut self.0 {
            *x = x.abs();
        }
        self
    }
}

macro_rules! operator {
    ($trait:ident, $f:ident, $op:tt) => {
        impl<T: Real> $trait for Group<T> {
            type Output = Self;
            #[inline(always)]
            fn $f(mut self, b: Self) -> Self {
                for l in 0..WIDTH {
                    self.0[l] = self.0[l] $op b.0[l];
                }
                self
            }
        }
    };
}

operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);

impl<T: Real> Neg for Group<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(mut self) -> Self {
        for x in &mut self.0 {
            *x = -*x;
        }
        self
    }
}

// A slice's first row is lane 0's.
const _: () = assert!(SLICE.is_multiple_of(LANES));

/// Partial results of one block; the order of operations is that of `cl/reduce.cl`.
///
/// Rows are added in one loop over [`slices`] around one over [`groups`], which is unrolled, so that
/// lanes are registers: in one loop over the groups of a block they are found by address, and each
/// sum waits for what was written there just before.
pub struct Lanes<T>([Group<T>; LANES / WIDTH]);

impl<T: Real> Lanes<T> {
    /// Before the first row.
    pub const ZERO: Self = Self([Group::ZERO; LANES / WIDTH]);

    /// Adds the terms of rows `i .. i + WIDTH`.
    #[inline(always)]
    pub fn add(&mut self, i: usize, term: Group<T>) {
        let lanes = &mut self.0[i / WIDTH % (LANES / WIDTH)];
        *lanes = *lanes + term;
    }

    /// Keeps the largest of the terms of rows `i .. i + WIDTH`, if any is above 0.
    #[inline(always)]
    pub fn maximum(&mut self, i: usize, term: Group<T>) {
        let lanes = &mut self.0[i / WIDTH % (LANES / WIDTH)];
        *lanes = lanes.max(term);
    }

    /// Sum of the lanes.
    #[inline(always)]
    pub fn sum(self) -> T {
        total::<T, false>(&{ self.0 })
    }

    /// Largest of the lanes.
    #[inline(always)]
    pub fn largest(self) -> T {
        total::<T, true>(&{ self.0 })
    }
}

/// Sum, or the largest, of one half of the lanes with the other, until one is left. Not inlined, and
/// given a copy: pairs of lanes are all that its end needs, and a compiler that sees it holds lanes
/// in pairs in the loop over the rows, too, whatever the instruction set has.
#[inline(never)]
fn total<T: Real, const LARGEST: bool>(groups: &[Group<T>; LANES / WIDTH]) -> T {
    let mut lanes = [T::ZERO; LANES];
    for (to, group) in lanes.chunks_exact_mut(WIDTH).zip(groups) {
        to.copy_from_slice(&group.0);
    }
    let mut w = LANES / 2;
    while w > 0 {
        for l in 0..w {
            let (a, b) = (lanes[l], lanes[l + w]);
            lanes[l] = if LARGEST { a.max(b) } else { a + b };
        }
        w /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes groups at places that are aligned and at others.
    fn streamed<T: Real>() {
        for at in 0..2 * WIDTH {
            let mut to = vec![T::ZERO; 3 * WIDTH];
            let mut group = Group::ZERO;
            for (l, x) in group.0.iter_mut().enumerate() {
                *x = T::of((1 + l) as f64);
            }
            group.put(&mut to, at, true);
            flush_streams();
            for (i, x) in to.into_iter().enumerate() {
                let wanted = if (at..at + WIDTH).contains(&i) {
                    1 + i - at
                } else {
                    0
                };
                assert_eq!(x.f64(), wanted as f64, "{} from {at}, at {i}", T::NAME);
            }
        }
    }

    /// Calls a function of each type that this machine computes with.
    macro_rules! of_each_type {
        ($f:ident) => {
            $f::<f64>();
            $f::<f32>();
            #[cfg(target_arch = "x86_64")]
            {
                use crate::kernel::{medium::Medium, simd, wide::Wide};
                if simd::has_v3() {
                    $f::<Medium<f64>>();
                    $f::<Medium<f32>>();
                }
                if simd::has_v4() {
                    $f::<Wide<f64>>();
                    $f::<Wide<f32>>();
                }
            }
        };
    }

    #[test]
    fn what_goes_past_the_caches_is_what_is_stored() {
        of_each_type!(streamed);
    }

    /// The larger ones of groups that lack numbers in different places.
    fn larger<T: Real>() {
        let [mut a, mut b] = [Group::ZERO; 2];
        for l in 0..WIDTH {
            let x = T::of(l as f64);
            a.0[l] = if l % 3 == 1 { T::of(f64::NAN) } else { x };
            b.0[l] = if l % 4 == 2 {
                T::of(f64::NAN)
            } else {
                T::of(3.0)
            };
        }
        for (l, x) in a.max(b).0.into_iter().enumerate() {
            let want = match l {
                1 | 4 | 7 => 3.0,
                2 | 6 => l as f64,
                _ => 3f64.max(l as f64),
            };
            assert_eq!(x.f64(), want, "{} at {l}", T::NAME);
        }
    }

    /// Chooses by every mask, beside other groups' bits.
    fn chosen<T: Real>() {
        let [mut a, mut b] = [Group::ZERO; 2];
        for l in 0..WIDTH {
            (a.0[l], b.0[l]) = (T::of(l as f64), T::of(-1.0));
        }
        for mask in 0..4u32 << WIDTH {
            for (l, x) in a.or(mask, b).0.into_iter().enumerate() {
                let want = if mask >> l & 1 == 1 { l as f64 } else { -1.0 };
                assert_eq!(x.f64(), want, "{} of {mask:#b} at {l}", T::NAME);
            }
        }
    }

    #[test]
    fn rows_of_a_mask_are_chosen() {
        of_each_type!(chosen);
    }

    #[test]
    fn the_larger_one_is_a_number_if_either_is() {
        of_each_type!(larger);
    }
}
