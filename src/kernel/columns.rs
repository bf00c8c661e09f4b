//! One entry of each row of a group: values, packed or not, and the three ways to store columns.
//!
//! A row that lacks the entry has any number of either, and its sum is left as it was by who adds.
//! Plain loops without branches, so that they become vector instructions.

use super::Real;
use super::group::{Group, WIDTH};
use super::mat::SLICE;
use super::stream::{AHEAD_BYTES, prefetch, prefetch_once, prefetch_second};

/// Every row of a group.
pub(super) const ALL: u32 = u32::MAX >> (SLICE - WIDTH);

/// Of what follows each other for the rows of a mask, which belongs to each row; to a row that
/// lacks it, a neighbour's.
pub(super) static PLACES: [[u8; WIDTH]; 1 << WIDTH] = {
    let mut places = [[0; WIDTH]; 1 << WIDTH];
    let mut mask = 0;
    while mask < 1 << WIDTH {
        let (mut place, mut l) = (0, 0);
        while l < WIDTH {
            places[mask][l] = place;
            if mask >> l & 1 == 1 && mask >> (l + 1) != 0 {
                place += 1;
            }
            l += 1;
        }
        mask += 1;
    }
    places
};

/// Values that are asked for ahead of time. What has AVX-512 or AVX2 gets through a slice so fast
/// that it has to ask earlier (4.1M rows of a grid, Zen 5 by AVX-512: 10.1 -> 8.7 ms; Zen 4 by
/// AVX2, `couloir bench spmv --matrix tet:1600000 --order rcm --where cpu --device none --threads 1`:
/// a slice is 1280 bytes, and asking for 1024 ahead takes 6.1 ms, for 4096 5.7 ms).
pub(super) const fn ahead<T: Real>() -> usize {
    AHEAD_BYTES * if T::WIDE || T::AVX2 { 4 } else { 1 } / size_of::<T>()
}

/// How far ahead they are asked for into the second-level cache, in bytes: in a slice whose columns all
/// follow each other, values are all that it reads from memory, in one stream, and more of it can be
/// under way to that cache than to the first one. Zen 4, `couloir bench spmv --where cpu --device none
/// --threads 1`, medians in turns. By AVX2: `--matrix grid:160` 17.2 -> 14.4 ms, `grid:100 --flush`
/// 6.3 -> 3.6 ms (beside neighbours at work); where columns are stored, too, it gains nothing (`--matrix
/// tet:1600000 --order rcm`) or loses 13 % (`nodes:1000000`). By AVX-512: see `far.rs`.
const fn far_bytes<T: Real>() -> usize {
    AHEAD_BYTES * if T::WIDE { 16 } else { 8 }
}

/// The values of the rows of `placed`, not 0, which follow each other from `at` on; `EACH` row is among
/// these. Later ones are asked for ahead, into the first cache, or `FAR` ahead, into the second; numbers
/// of `far.rs` are else asked for in both.
#[inline(always)]
pub(super) fn values<T: Real, const P: usize, const EACH: bool, const FAR: bool>(
    planes: [&[T]; P],
    at: usize,
    placed: u32,
) -> [Group<T>; P] {
    let mut v = [Group::ZERO; P];
    for p in 0..P {
        if T::ONCE {
            prefetch_once(planes[p], at + ahead::<T>());
        } else {
            if !FAR {
                prefetch(planes[p], at + ahead::<T>());
            }
            if FAR || T::FAR {
                prefetch_second(planes[p], at + far_bytes::<T>() / size_of::<T>());
            }
        }
        // SAFETY: all rows of `placed` have their values in the plane (see `Mat`).
        v[p] = Group(unsafe { T::spread::<EACH>(planes[p], at, placed) });
    }
    v
}

/// As [`values`], of every row, asked for into the second cache, so many bytes ahead.
#[inline(always)]
pub(super) fn second_values<T: Real, const P: usize>(
    planes: [&[T]; P],
    at: usize,
    ahead_bytes: usize,
) -> [Group<T>; P] {
    let mut v = [Group::ZERO; P];
    for p in 0..P {
        prefetch_second(planes[p], at + ahead_bytes / size_of::<T>());
        // SAFETY: all rows have their values in the plane (see `Mat`).
        v[p] = Group(unsafe { T::spread::<true>(planes[p], at, ALL) });
    }
    v
}

/// The value at `at`, for all rows.
#[inline(always)]
pub(super) fn one<T: Real, const P: usize>(planes: [&[T]; P], at: usize) -> [Group<T>; P] {
    let mut v = [Group::ZERO; P];
    for p in 0..P {
        // SAFETY: every value of a step lies in the plane (see `Mat`).
        v[p] = Group::splat(unsafe { *planes[p].get_unchecked(at) });
    }
    v
}

/// `x[at .. at + WIDTH]`.
///
/// # Safety
/// All of it lies in `x`.
#[inline(always)]
pub(super) unsafe fn window<T: Real, const X: usize>(x: [&[T]; X], at: usize) -> [Group<T>; X] {
    let mut xs = [Group::ZERO; X];
    for k in 0..X {
        debug_assert!(at + WIDTH <= x[k].len());
        // SAFETY: the caller's promise.
        xs[k] = Group(unsafe { *x[k].as_ptr().add(at).cast() });
    }
    xs
}

/// How a step that is not affine stores its columns: as differences of 16 or 32 bits.
pub trait Difference: Copy + Into<u32> {
    /// The column that is `difference` beyond `base`.
    fn column(base: u32, difference: u32) -> usize;
}

/// The base is the lowest column of a step, so that an address is computed by the load itself.
impl Difference for u16 {
    #[inline(always)]
    fn column(base: u32, difference: u32) -> usize {
        base as usize + difference as usize
    }
}

/// The base is the slice's first row, and columns may lie before it.
impl Difference for u32 {
    #[inline(always)]
    fn column(base: u32, difference: u32) -> usize {
        base.wrapping_add(difference) as usize
    }
}

/// `x` at the columns of the rows of `placed`, not 0, whose differences to `base` follow each other from
/// `d` on; `EACH` row is among these.
#[inline(always)]
pub(super) fn gather<T: Real, D: Difference, const X: usize, const EACH: bool>(
    x: [&[T]; X],
    base: u32,
    differences: &[D],
    d: usize,
    placed: u32,
) -> [Group<T>; X] {
    // SAFETY: every difference of a step lies in the index block; a column that a row has is below
    // `cols` (see `Mat`), and `x` is as long (asserted by `sums`).
    let xs = unsafe { T::gather::<D, X, EACH>(x, base, differences, d, placed) };
    let mut groups = [Group::ZERO; X];
    for k in 0..X {
        groups[k] = Group(xs[k]);
    }
    groups
}
