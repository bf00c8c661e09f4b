//! What a kernel's CPU code sees: a range of rows of each operand.

use super::{
    LANES, MAX_GATHER, MAX_INOUT, MAX_MATS, MAX_OUT, MAX_OWN, MAX_PLANES, MAX_REDUCTIONS, Real,
    Reduce,
};
use crate::node::BLOCK;

/// Rows that CPU paths handle at once.
pub const WIDTH: usize = 8;

/// A sliced-ELLPACK matrix for reading. Made only from a checked [`Sell`](crate::sparse::Sell).
#[derive(Clone, Copy)]
pub struct Mat<'a, T> {
    /// Rows per slice, a multiple of [`WIDTH`].
    pub(crate) slice: usize,
    /// Number of columns; every index in `col` is below.
    pub(crate) cols: usize,
    /// First element of each slice, and the end.
    pub(crate) slice_ptr: &'a [u32],
    /// Columns.
    pub(crate) col: &'a [u32],
    /// Values of each plane.
    pub(crate) planes: [&'a [T]; MAX_PLANES],
}

impl<T> Default for Mat<'_, T> {
    fn default() -> Self {
        Self {
            slice: WIDTH,
            cols: 0,
            slice_ptr: &[],
            col: &[],
            planes: [&[]; MAX_PLANES],
        }
    }
}

impl<'a, T: Real> Mat<'a, T> {
    /// Elements of row `i`, padding included, as positions in `col` and the planes.
    #[inline(always)]
    pub fn entries(&self, i: usize) -> impl Iterator<Item = usize> + use<T> {
        let s = i / self.slice;
        let (from, to) = (self.slice_ptr[s] as usize, self.slice_ptr[s + 1] as usize);
        (from + i % self.slice..to).step_by(self.slice)
    }

    /// The columns of elements `e .. e + WIDTH`.
    #[inline(always)]
    pub fn columns(&self, e: usize) -> &'a [u32; WIDTH] {
        chunk(self.col, e)
    }

    /// The values of elements `e .. e + WIDTH` in plane `p`.
    #[inline(always)]
    pub fn values(&self, p: usize, e: usize) -> &'a [T; WIDTH] {
        chunk(self.planes[p], e)
    }

    /// `x` at the columns of elements `e .. e + WIDTH`.
    #[inline(always)]
    pub fn gather(&self, x: &[T], e: usize) -> [T; WIDTH] {
        assert!(x.len() >= self.cols);
        let j = self.columns(e);
        // SAFETY: every column index is below `cols` (checked when the matrix was made, and the
        // index array is private to it), and `x` was just seen to be as long.
        std::array::from_fn(|l| unsafe { *x.get_unchecked(j[l] as usize) })
    }
}

/// `x[at .. at + WIDTH]`.
#[inline(always)]
pub fn chunk<X>(x: &[X], at: usize) -> &[X; WIDTH] {
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

/// Operands restricted to `n` rows from `first` on (both multiples of [`BLOCK`]); unused roles
/// are empty.
pub struct Rows<'a, T: Real> {
    /// Global number of row 0.
    pub first: usize,
    /// Number of rows.
    pub n: usize,
    /// Written: index 0 is row `first`.
    pub out: [&'a mut [T]; MAX_OUT],
    /// Read and written: index 0 is row `first`.
    pub inout: [&'a mut [T]; MAX_INOUT],
    /// Partial results, one per block of the range.
    pub partial: [&'a mut [T]; MAX_REDUCTIONS],
    /// Read: index 0 is row `first`.
    pub own: [&'a [T]; MAX_OWN],
    /// Read at any row: index 0 is row 0.
    pub gather: [&'a [T]; MAX_GATHER],
    /// Matrices, rows by global number.
    pub mats: [Mat<'a, T>; MAX_MATS],
    /// Scalars.
    pub scalars: &'a [T],
}

/// `a x + y` of each row, rounded once.
#[inline(always)]
pub fn fma<T: Real>(a: &[T; WIDTH], x: &[T; WIDTH], y: &[T; WIDTH]) -> [T; WIDTH] {
    std::array::from_fn(|l| a[l].fma(x[l], y[l]))
}

/// Calls `f(i)` for the first row of each group of [`WIDTH`] rows below `n`.
#[inline(always)]
pub fn each(n: usize, mut f: impl FnMut(usize)) {
    for i in (0..n).step_by(WIDTH) {
        f(i);
    }
}

/// The `K` reductions of one block, given the terms of each group of [`WIDTH`] rows: `term(i)`
/// for the local row `i`. The order of operations is that of `cl/common.cl`.
#[inline(always)]
pub fn reduce<T: Real, const K: usize>(
    kinds: [Reduce; K],
    partial: &mut [&mut [T]; MAX_REDUCTIONS],
    n: usize,
    mut term: impl FnMut(usize) -> [[T; WIDTH]; K],
) {
    for block in 0..n / BLOCK {
        let mut acc = [[T::ZERO; LANES]; K];
        for lanes in (0..BLOCK).step_by(LANES) {
            for group in (0..LANES).step_by(WIDTH) {
                let t = term(block * BLOCK + lanes + group);
                for k in 0..K {
                    for l in 0..WIDTH {
                        acc[k][group + l] = combine(kinds[k], acc[k][group + l], t[k][l]);
                    }
                }
            }
        }
        for ((acc, kind), partial) in acc.iter_mut().zip(kinds).zip(partial.iter_mut()) {
            let mut w = LANES / 2;
            while w > 0 {
                for l in 0..w {
                    acc[l] = combine(kind, acc[l], acc[l + w]);
                }
                w /= 2;
            }
            partial[block] = acc[0];
        }
    }
}

/// One step of a reduction.
#[inline(always)]
pub fn combine<T: Real>(kind: Reduce, a: T, b: T) -> T {
    match kind {
        Reduce::Sum => a + b,
        Reduce::Max => a.max(b),
    }
}
