//! A slice of a matrix read group by group, its sums in registers all the while: for kernels that
//! have so many sums per row that all groups' do not fit at once.

use super::Real;
use super::affine::within;
use super::columns::{ALL, Difference, gather, one, values, window};
use super::group::{Group, WIDTH};
use super::mat::{Block, Mat, Terms};
use super::steps::{or, places};

/// A slice of a matrix, and the vectors that its columns gather.
pub struct Slice<'a, T, const X: usize> {
    mat: Mat<'a, T>,
    block: Block<'a>,
    x: [&'a [T]; X],
    i: usize,
    /// No step reaches beyond the ends of the vectors.
    inside: bool,
}

impl<'a, T: Real, const X: usize> Slice<'a, T, X> {
    /// Rows `i .. i + SLICE`; `i` is a multiple of [`SLICE`](super::SLICE).
    #[inline(always)]
    pub fn new(mat: Mat<'a, T>, x: [&'a [T]; X], i: usize) -> Self {
        for x in x {
            assert!(x.len() >= mat.cols);
        }
        mat.fetch_scattered(i, x);
        let block = mat.block(i);
        Self {
            inside: block.full || within(&block.steps[..block.ones], i, x),
            mat,
            block,
            x,
            i,
        }
    }

    /// `s` with the terms of every entry of the rows of group `g` in the given planes and at the
    /// columns of the given vectors.
    #[inline(always)]
    pub fn group<Q: Terms<T, P, K, S>, const P: usize, const K: usize, const S: usize>(
        &self,
        _: Q,
        planes: [usize; P],
        x: [usize; K],
        g: usize,
        s: [Group<T>; S],
    ) -> [Group<T>; S] {
        if !T::SOFT {
            return self.own::<Q, P, K, S>(planes, x, g, s);
        }
        let xs = x.map(|k| self.x[k]);
        let mat = &self.mat;
        mat.any_steps::<Q, P, K, S>(planes, xs, self.i, g, s)
    }

    #[inline(always)]
    fn own<Q: Terms<T, P, K, S>, const P: usize, const K: usize, const S: usize>(
        &self,
        planes: [usize; P],
        x: [usize; K],
        g: usize,
        mut s: [Group<T>; S],
    ) -> [Group<T>; S] {
        let (mut v, mut xs) = ([&[][..]; P], [&[][..]; K]);
        for p in 0..P {
            v[p] = self.mat.planes[planes[p]];
        }
        for k in 0..K {
            xs[k] = self.x[x[k]];
        }
        let (b, row, shift) = (&self.block, self.i as u32, g * WIDTH);
        let first = row + shift as u32;
        let lower = (1 << shift) - 1;
        let mut value = b.value;
        let (affine, rest) = b.steps.split_at(b.affine);
        for &[mask, base] in affine {
            let column = first.wrapping_add(base) as usize;
            let at = value + before(mask, b.packed, lower);
            let has = mask >> shift & ALL;
            // SAFETY: as checked, or every row has its entry in every step.
            let x = unsafe { window_of(xs, column, self.inside) };
            if !b.packed || has == ALL {
                let new = Q::add(values::<T, P, true, false>(v, at, ALL), x, s);
                s = if mask == u32::MAX {
                    new
                } else {
                    or(has, new, s)
                };
            } else if has != 0 {
                s = or(
                    has,
                    Q::add(values::<T, P, false, false>(v, at, has), x, s),
                    s,
                );
            }
            value += places(mask, b.packed);
        }
        let (ones, rest) = rest.split_at(b.ones - b.affine);
        for &[mask, base] in ones {
            let column = first.wrapping_add(base) as usize;
            // SAFETY: as above.
            let x = unsafe { window_of(xs, column, self.inside) };
            s = or(mask >> shift, Q::add(one(v, value), x, s), s);
            value += 1;
        }
        let (short, wide) = rest.split_at(b.short - b.ones);
        let mut d = 2 * b.differences;
        for &[mask, base] in short {
            let skip = before(mask, b.packed, lower);
            let base = row.wrapping_add(base);
            s = gathered::<T, Q, u16, P, K, S>(
                mask,
                b.packed,
                base,
                g,
                self.mat.halves,
                d + skip,
                v,
                value + skip,
                xs,
                s,
            );
            value += places(mask, b.packed);
            d += places(mask, b.packed);
        }
        d = d.div_ceil(2);
        for &[mask, base] in wide {
            let skip = before(mask, b.packed, lower);
            let base = row.wrapping_add(base);
            s = gathered::<T, Q, u32, P, K, S>(
                mask,
                b.packed,
                base,
                g,
                self.mat.index,
                d + skip,
                v,
                value + skip,
                xs,
                s,
            );
            value += places(mask, b.packed);
            d += places(mask, b.packed);
        }
        s
    }
}

/// `x[at .. at + WIDTH]`; 0 beyond the ends of `x`, unless `inside`.
///
/// # Safety
/// Where `inside`, all of it lies in `x`.
#[inline(always)]
// SAFETY: what the caller promises is above.
unsafe fn window_of<T: Real, const X: usize>(
    x: [&[T]; X],
    at: usize,
    inside: bool,
) -> [Group<T>; X] {
    if inside {
        // SAFETY: the caller's promise.
        return unsafe { window(x, at) };
    }
    let mut xs = [Group::ZERO; X];
    for k in 0..X {
        xs[k] = edge(x[k], at as u32);
    }
    xs
}

/// Columns before the first one are large numbers.
#[inline(never)]
fn edge<T: Real>(x: &[T], at: u32) -> Group<T> {
    let mut xs = Group::ZERO;
    for (l, to) in (0..).zip(&mut xs.0) {
        if let Some(&x) = x.get(at.wrapping_add(l) as usize) {
            *to = x;
        }
    }
    xs
}

/// Places of a step that belong to the rows of `lower`.
#[inline(always)]
fn before(mask: u32, packed: bool, lower: u32) -> usize {
    (if packed { mask } else { u32::MAX } & lower).count_ones() as usize
}

/// One step whose columns are stored, for the rows of group `g`.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn gathered<
    T: Real,
    Q: Terms<T, P, X, S>,
    D: Difference,
    const P: usize,
    const X: usize,
    const S: usize,
>(
    mask: u32,
    packed: bool,
    base: u32,
    g: usize,
    differences: &[D],
    d: usize,
    planes: [&[T]; P],
    value: usize,
    x: [&[T]; X],
    s: [Group<T>; S],
) -> [Group<T>; S] {
    let has = mask >> (g * WIDTH) & ALL;
    if !packed || has == ALL {
        let v = values::<T, P, true, false>(planes, value, ALL);
        let new = Q::add(v, gather::<T, D, X, true>(x, base, differences, d, ALL), s);
        return if mask == u32::MAX {
            new
        } else {
            or(has, new, s)
        };
    }
    if has == 0 {
        return s;
    }
    let v = values::<T, P, false, false>(planes, value, has);
    or(
        has,
        Q::add(v, gather::<T, D, X, false>(x, base, differences, d, has), s),
        s,
    )
}
