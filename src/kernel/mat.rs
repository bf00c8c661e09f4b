//! A compressed sliced-ELLPACK matrix as CPU code reads it; `cl/matrix.cl` is its twin. The
//! format is described at [`Sell`](crate::sparse::Sell).
//!
//! A slice's steps are decoded once, and its sums are kept in the first-level cache: one pass
//! over columns rather than rows.

use super::affine::{fit, sums_of, whole, within};
use super::group::{Group, WIDTH};
use super::reading::Reading;
use super::steps::{copied, fetch_edge, is_long, steps};
use super::{MAX_PLANES, Real};

/// Rows per slice: bits of a step's mask.
pub const SLICE: usize = u32::BITS as usize;
/// Groups per slice.
pub const GROUPS: usize = SLICE / WIDTH;
/// Flag in the fourth word of a slice: every step takes an entry of every row.
pub(crate) const FULL: u32 = 1 << 31;
/// The same: rows without an entry have no place in a step.
pub(crate) const PACKED: u32 = 1 << 30;
/// The same: its steps are at the distances that most slices have. Devices alone look at it.
pub(crate) const USUAL: u32 = 1 << 29;
/// The same: some columns are too far apart for 16 bits, in vectors that are asked for ahead for their
/// size. The CPU alone looks at it.
pub(crate) const FAR: u32 = 1 << 28;
/// The same: it has some of the [`USUAL`] steps alone. Devices alone look at it.
pub(crate) const LACKING: u32 = 1 << 27;
/// The same: these steps' values are those that devices are given.
pub(crate) const GIVEN: u32 = 1 << 26;
/// All of these; the rest of the word is a number of steps.
pub(crate) const FLAGS: u32 = FULL | PACKED | USUAL | FAR | LACKING | GIVEN;

/// A matrix for reading. Made only from a [`Sell`](crate::sparse::Sell), which guarantees that
/// every value of a step lies in every plane, every difference in its index block, and every
/// column that a row has below `cols`, without a wrap where its difference has 16 bits. One that is
/// given values by a kernel has those of one slice alone.
#[derive(Clone, Copy)]
pub struct Mat<'a, T> {
    /// Number of columns.
    pub(crate) cols: usize,
    /// Four words of each slice, and of one that would follow the last.
    pub(crate) slices: &'a [[u32; 4]],
    /// Index blocks.
    pub(crate) index: &'a [u32],
    /// The same memory, as halves of words.
    pub(crate) halves: &'a [u16],
    /// How values are asked for, where there are paths for it: on x86-64.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(crate) reading: Reading,
    /// Values of each plane, from this one on.
    pub(crate) from: usize,
    /// See `from`.
    pub(crate) planes: [&'a [T]; MAX_PLANES],
}

impl<T> Default for Mat<'_, T> {
    fn default() -> Self {
        Self {
            cols: 0,
            slices: &[],
            index: &[],
            halves: &[],
            reading: Reading::Near,
            from: 0,
            planes: [&[]; MAX_PLANES],
        }
    }
}

/// `S` sums of each row of a slice, by groups.
pub type Sums<T, const S: usize> = [[Group<T>; S]; GROUPS];

/// `S` sums of 0.
#[inline(always)]
pub fn zero<T: Real, const S: usize>() -> Sums<T, S> {
    [[Group::ZERO; S]; GROUPS]
}

/// The groups of the slice that begins with row `i`: their first rows and their parts. Not by value:
/// an array that is taken apart so is copied first, by stores whose ends the loads behind them straddle.
#[inline(always)]
pub fn parts<S>(i: usize, s: &[S; GROUPS]) -> impl Iterator<Item = (usize, &S)> {
    (i..).step_by(WIDTH).zip(s)
}

/// Rows `i .. i + SLICE` of the vectors `x`.
#[inline(always)]
pub fn loaded<T: Real, const S: usize>(x: [&[T]; S], i: usize) -> Sums<T, S> {
    let mut s = zero();
    for g in 0..GROUPS {
        for k in 0..S {
            s[g][k] = Group::load(x[k], i + g * WIDTH);
        }
    }
    s
}

/// What terms are computed with: a row's number, or those of a group.
pub trait Entry<T>: Copy {
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
}

impl<T: Real> Entry<T> for T {
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Real::fma(self, b, c)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Real::abs(self)
    }
}

impl<T: Real> Entry<T> for Group<T> {
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Group::fma(self, b, c)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Group::abs(self)
    }
}

/// What an entry adds to its row's sums.
pub trait Terms<T: Real, const P: usize, const X: usize, const S: usize> {
    /// `s` with the terms of one entry, of a row or of each row of a group: its values `v` in each
    /// plane, and each gathered vector `x` at its column. What a row of a group becomes that lacks the
    /// entry is left out.
    fn add<E: Entry<T>>(v: [E; P], x: [E; X], s: [E; S]) -> [E; S];
}

/// `s_k += v_k x_k`; a single value or vector stands in every product.
pub struct Products;

impl<T: Real, const P: usize, const X: usize, const S: usize> Terms<T, P, X, S> for Products {
    #[inline(always)]
    fn add<E: Entry<T>>(v: [E; P], x: [E; X], mut s: [E; S]) -> [E; S] {
        for k in 0..S {
            s[k] = v[k % P].fma(x[k % X], s[k]);
        }
        s
    }
}

/// The steps of a slice: their numbers, cumulated, and where things are.
pub(super) struct Block<'a> {
    pub(super) affine: usize,
    pub(super) ones: usize,
    pub(super) short: usize,
    /// Every step takes an entry of every row.
    pub(super) full: bool,
    /// Rows without an entry have no place in a step.
    pub(super) packed: bool,
    /// Some columns are to be asked for ahead: see [`FAR`].
    pub(super) far: bool,
    /// Mask and base of each step.
    pub(super) steps: &'a [[u32; 2]],
    /// First value.
    pub(super) value: usize,
    /// First difference, in words.
    pub(super) differences: usize,
}

impl<'a, T: Real> Mat<'a, T> {
    /// The slice of row `i`.
    #[inline(always)]
    pub(super) fn block(&self, i: usize) -> Block<'a> {
        let [value, at, counts, wide] = self.slices[i / SLICE];
        let affine = (counts & 0xff) as usize;
        let ones = affine + (counts >> 8 & 0xff) as usize;
        let short = ones + (counts >> 16) as usize;
        let steps = short + (wide & !FLAGS) as usize;
        let steps = &self.index[at as usize..at as usize + 2 * steps];
        Block {
            affine,
            ones,
            short,
            full: wide & FULL != 0,
            packed: wide & PACKED != 0,
            far: wide & FAR != 0,
            steps: bytemuck::cast_slice(steps),
            value: value as usize - self.from,
            differences: at as usize + steps.len(),
        }
    }

    /// `s` with the terms of every entry of the rows `i .. i + SLICE` in the given planes and at
    /// the columns of the vectors `x`; `i` is a multiple of [`SLICE`].
    #[inline(always)]
    pub fn sums<Q: Terms<T, P, X, S>, const P: usize, const X: usize, const S: usize>(
        &self,
        _: Q,
        planes: [usize; P],
        x: [&[T]; X],
        i: usize,
        s: Sums<T, S>,
    ) -> Sums<T, S> {
        if !T::SOFT {
            return self.own_sums::<Q, P, X, S>(planes, x, i, s);
        }
        let mut sums = copied(&s);
        for g in 0..GROUPS {
            sums[g] = self.any_steps::<Q, P, X, S>(planes, x, i, g, sums[g]);
        }
        sums
    }

    #[inline(always)]
    fn own_sums<Q: Terms<T, P, X, S>, const P: usize, const X: usize, const S: usize>(
        &self,
        planes: [usize; P],
        x: [&[T]; X],
        i: usize,
        mut s: Sums<T, S>,
    ) -> Sums<T, S> {
        for x in x {
            assert!(x.len() >= self.cols);
        }
        let mut v = [&[][..]; P];
        for p in 0..P {
            v[p] = self.planes[planes[p]];
        }
        if !T::WIDE
            && fit::<T, S>()
            && let Some((ones, value)) = self.ones_alone(i)
        {
            // SAFETY: every row has its entry in every step.
            return unsafe { whole::<T, Q, P, X, S>(ones, i, v, value, x, s) };
        }
        let b = self.block(i);
        let (packed, mut d) = (b.packed, 2 * b.differences);
        let (regular_steps, rest) = b.steps.split_at(b.ones);
        let (affine, ones) = regular_steps.split_at(b.affine);
        let (short, wide) = rest.split_at(b.short - b.ones);
        // `scattered` asks for columns itself.
        let scattered = (T::ONCE || T::WIDE && X == 1) && b.far && !packed;
        if !scattered {
            self.fetch_scattered(i, x);
        }
        if !b.full && !within(regular_steps, i, x) {
            return self.row_by_row::<Q, P, X, S>(planes, x, i, &s);
        }
        if affine.is_empty() && rest.is_empty() {
            fetch_edge(ones, i, x);
        }
        let mut value;
        // SAFETY: every row has its entry in every step, or as checked.
        (s, value) = unsafe {
            if T::FAR || T::AVX2 && rest.is_empty() {
                sums_of::<T, Q, P, X, S, true>(&b, affine, ones, i, v, x, s)
            } else {
                sums_of::<T, Q, P, X, S, false>(&b, affine, ones, i, v, x, s)
            }
        };
        if wide.is_empty() && is_long::<T>(short.len(), packed) {
            fetch_edge(short, i, x);
            let (halves, value) = (self.halves, &mut value);
            s = steps::<T, Q, u16, P, X, S, true>(short, false, halves, &mut d, i, v, value, x, &s);
        } else if short.len() + wide.len() > 0 {
            s = steps::<T, Q, u16, P, X, S, false>(
                short,
                packed,
                self.halves,
                &mut d,
                i,
                v,
                &mut value,
                x,
                &s,
            );
            d = d.div_ceil(2);
            if scattered {
                return self.scattered::<Q, P, X, S>(wide, d, i, v, value, x, &s);
            }
            s = steps::<T, Q, u32, P, X, S, false>(
                wide, packed, self.index, &mut d, i, v, &mut value, x, &s,
            );
        }
        s
    }
}
