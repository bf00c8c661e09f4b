//! A compressed sliced-ELLPACK matrix as CPU code reads it; `cl/matrix.cl` is its twin. The
//! format is described at [`Sell`](crate::sparse::Sell).
//!
//! A slice's steps are decoded once, and its sums are kept in the first-level cache: one pass
//! over columns rather than rows.

use super::columns::{ALL, Affine, Columns, one, packed};
use super::group::{Group, WIDTH};
use super::{MAX_PLANES, Real};

/// Rows per slice: bits of a step's mask.
pub const SLICE: usize = u32::BITS as usize;
/// Groups per slice.
pub const GROUPS: usize = SLICE / WIDTH;
/// Flag in the second word of an index block: every step takes an entry of every row.
pub(crate) const FULL: u32 = 1 << 31;

/// A matrix for reading. Made only from a [`Sell`](crate::sparse::Sell), which guarantees that
/// every value of a step lies in every plane, every difference in its index block, and every
/// column that a row has below `cols`.
#[derive(Clone, Copy)]
pub struct Mat<'a, T> {
    /// Number of columns.
    pub(crate) cols: usize,
    /// Of each slice, where its values and where its index block begin.
    pub(crate) slices: &'a [[u32; 2]],
    /// Index blocks.
    pub(crate) index: &'a [u32],
    /// The same memory, as halves of words.
    pub(crate) halves: &'a [u16],
    /// Values of each plane.
    pub(crate) planes: [&'a [T]; MAX_PLANES],
}

impl<T> Default for Mat<'_, T> {
    fn default() -> Self {
        Self {
            cols: 0,
            slices: &[],
            index: &[],
            halves: &[],
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

/// The groups of the slice that begins with row `i`: their first rows and their parts.
#[inline(always)]
pub fn parts<S>(i: usize, s: [S; GROUPS]) -> impl Iterator<Item = (usize, S)> {
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

/// What an entry adds to its row's sums.
pub trait Terms<T: Real, const P: usize, const X: usize, const S: usize> {
    /// `s` with the terms of one entry of each row of a group: its values `v` in each plane, and
    /// each gathered vector `x` at its column. Where a row lacks the entry they are -0 and 0,
    /// whose product adds nothing.
    fn add(v: [Group<T>; P], x: [Group<T>; X], s: [Group<T>; S]) -> [Group<T>; S];
}

/// `s_k += v_k x_k`; a single value or vector stands in every product.
pub struct Products;

impl<T: Real, const P: usize, const X: usize, const S: usize> Terms<T, P, X, S> for Products {
    #[inline(always)]
    fn add(v: [Group<T>; P], x: [Group<T>; X], mut s: [Group<T>; S]) -> [Group<T>; S] {
        for k in 0..S {
            s[k] = v[k % P].fma(x[k % X], s[k]);
        }
        s
    }
}

/// An index block: numbers of steps, cumulated, and where things are.
struct Block<'a> {
    affine: usize,
    ones: usize,
    short: usize,
    /// Mask and base of each step.
    steps: &'a [[u32; 2]],
    /// First difference, in words.
    differences: usize,
}

impl<'a, T: Real> Mat<'a, T> {
    #[inline(always)]
    fn block(&self, at: usize) -> Block<'a> {
        let (counts, wide) = (self.index[at], self.index[at + 1] & !FULL);
        let affine = (counts & 0xff) as usize;
        let ones = affine + (counts >> 8 & 0xff) as usize;
        let short = ones + (counts >> 16) as usize;
        let steps = &self.index[at + 2..at + 2 + 2 * (short + wide as usize)];
        Block {
            affine,
            ones,
            short,
            steps: bytemuck::cast_slice(steps),
            differences: at + 2 + steps.len(),
        }
    }

    /// Positions and columns of the entries of row `i`, in the order of its sum: the diagonal,
    /// then by ascending column.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let [value, at] = self.slices[i / SLICE];
        let b = self.block(at as usize);
        let (lane, first) = ((i % SLICE) as u32, (i - i % SLICE) as u32);
        let (mut value, mut difference) = (value as usize, 2 * b.differences);
        b.steps
            .iter()
            .enumerate()
            .filter_map(move |(k, &[mask, base])| {
                let (one, affine) = (k >= b.affine && k < b.ones, k < b.ones);
                if k == b.short {
                    difference = difference.div_ceil(2);
                }
                let before = (mask & ((1 << lane) - 1)).count_ones() as usize;
                let count = mask.count_ones() as usize;
                let (at, d) = (value + if one { 0 } else { before }, difference + before);
                value += if one { 1 } else { count };
                difference += if affine { 0 } else { count };
                let has = mask >> lane & 1 == 1;
                has.then(|| {
                    let d = match () {
                        () if affine => lane,
                        () if k < b.short => u32::from(self.halves[d]),
                        () => self.index[d],
                    };
                    (at, first.wrapping_add(base).wrapping_add(d) as usize)
                })
            })
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
        mut s: Sums<T, S>,
    ) -> Sums<T, S> {
        for x in x {
            assert!(x.len() >= self.cols);
        }
        let mut v = [&[][..]; P];
        for p in 0..P {
            v[p] = self.planes[planes[p]];
        }
        let [value, at] = self.slices[i / SLICE];
        let b = self.block(at as usize);
        let (mut value, mut d) = (value as usize, 2 * b.differences);
        let (affine, rest) = b.steps.split_at(b.ones);
        let (affine, ones) = affine.split_at(b.affine);
        let (short, wide) = rest.split_at(b.short - b.ones);
        steps::<T, Q, Affine, P, X, S>(affine, &[], &mut d.clone(), i, v, &mut value, x, &mut s);
        for &[mask, base] in ones {
            for g in 0..GROUPS {
                let mine = mask >> (g * WIDTH) & ALL;
                if mine != 0 {
                    let x = Affine::gather(x, (i as u32).wrapping_add(base), &[], 0, g, mine);
                    s[g] = Q::add(one(v, value, mine), x, s[g]);
                }
            }
            value += 1;
        }
        steps::<T, Q, u16, P, X, S>(short, self.halves, &mut d, i, v, &mut value, x, &mut s);
        d = d.div_ceil(2);
        steps::<T, Q, u32, P, X, S>(wide, self.index, &mut d, i, v, &mut value, x, &mut s);
        s
    }
}

/// Takes the steps of one kind, whose values begin at `value` and differences at `d`.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn steps<
    T: Real,
    Q: Terms<T, P, X, S>,
    C: Columns<T>,
    const P: usize,
    const X: usize,
    const S: usize,
>(
    steps: &[[u32; 2]],
    differences: &[C],
    d: &mut usize,
    i: usize,
    planes: [&[T]; P],
    value: &mut usize,
    x: [&[T]; X],
    s: &mut Sums<T, S>,
) {
    for &[mask, base] in steps {
        let base = (i as u32).wrapping_add(base);
        if mask == u32::MAX {
            for g in 0..GROUPS {
                let v = packed(planes, *value + g * WIDTH, ALL);
                let x = C::gather(x, base, differences, *d + g * WIDTH, g, ALL);
                s[g] = Q::add(v, x, s[g]);
            }
            *value += SLICE;
            *d += SLICE;
            continue;
        }
        for g in 0..GROUPS {
            let mine = mask >> (g * WIDTH) & ALL;
            if mine != 0 {
                let v = packed(planes, *value, mine);
                let x = C::gather(x, base, differences, *d, g, mine);
                s[g] = Q::add(v, x, s[g]);
                *value += mine.count_ones() as usize;
                *d += mine.count_ones() as usize;
            }
        }
    }
}
