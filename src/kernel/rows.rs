//! What a kernel's CPU code sees: a range of rows of each operand.

pub use super::group::WIDTH;
use super::group::{Group, chunk};
use super::{
    MAX_GATHER, MAX_INOUT, MAX_MATS, MAX_OUT, MAX_OWN, MAX_PLANES, MAX_REDUCTIONS, Real, Reduce,
};

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
    pub fn entries(&self, i: usize) -> Entries {
        // Slices divide a block, so their size is a power of two, and this costs no division.
        let s = i >> self.slice.trailing_zeros();
        Entries {
            at: self.slice_ptr[s] as usize + (i & (self.slice - 1)),
            to: self.slice_ptr[s + 1] as usize,
            step: self.slice,
        }
    }

    /// The values of elements `e .. e + WIDTH` in plane `p`.
    #[inline(always)]
    pub fn value(&self, p: usize, e: usize) -> Group<T> {
        Group::load(self.planes[p], e)
    }

    /// `x` at the columns of elements `e .. e + WIDTH`.
    #[inline(always)]
    pub fn gather(&self, x: &[T], e: usize) -> Group<T> {
        assert!(x.len() >= self.cols);
        let j = chunk(self.col, e);
        let mut v = [T::ZERO; WIDTH];
        for l in 0..WIDTH {
            // SAFETY: every column index is below `cols` (checked when the matrix was made, and
            // the index array is private to it), and `x` was just seen to be as long.
            v[l] = unsafe { *x.get_unchecked(j[l] as usize) };
        }
        Group(v)
    }
}

/// Positions of the elements of one row.
pub struct Entries {
    at: usize,
    to: usize,
    step: usize,
}

impl Iterator for Entries {
    type Item = usize;
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let e = self.at;
        self.at += self.step;
        (e < self.to).then_some(e)
    }
}

/// Operands restricted to `n` rows from `first` on (both multiples of [`BLOCK`](crate::node::BLOCK)); unused roles
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
    /// State of the solve.
    pub state: &'a [T],
}

/// One step of a reduction.
#[inline(always)]
pub fn combine<T: Real>(kind: Reduce, a: T, b: T) -> T {
    match kind {
        Reduce::Sum => a + b,
        Reduce::Max => a.max(b),
    }
}
