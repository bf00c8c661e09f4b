//! A slice whose values a kernel computes for itself.

use std::ops::Range;

use super::mat::{FLAGS, FULL, Mat, SLICE};
use super::{MAX_PLANES, Real};

/// Elements of such a slice, at most: nine steps, and rows of seven entries (a cell of six faces, and its
/// neighbours) never take more. They would if steps of affine columns cost the CPU less: see `diagonals`
/// of `sparse/sell/encode/offsets.rs`; a test of `sparse/sell/elements.rs` tells.
pub const ELEMENTS: usize = 9 * SLICE;

impl<'a, T: Real> Mat<'a, T> {
    /// The elements of the slice of row `i`, of a matrix whose slices have each its own.
    #[inline(always)]
    pub(super) fn elements(&self, i: usize) -> Range<usize> {
        let start = |s: usize| self.slices[s][0] as usize;
        start(i / SLICE)..start(i / SLICE + 1)
    }

    /// Of a slice of one step, in which each row has an entry and all have one value in the first plane: that,
    /// and the column of the slice's first row; the other rows' columns follow.
    #[inline(always)]
    pub(crate) fn single(&self, i: usize) -> Option<(T, usize)> {
        const ONE: u32 = 1 << 8;
        let [value, at, counts, wide] = self.slices[i / SLICE];
        if counts != ONE || wide & FULL == 0 || wide & !FLAGS != 0 {
            return None;
        }
        let base = self.index[at as usize + 1];
        let column = (i as u32).wrapping_add(base) as usize;
        Some((self.planes[0][value as usize - self.from], column))
    }

    /// The first column of the last step of the slice of row `i`, which reaches furthest ahead.
    #[inline(always)]
    pub(super) fn edge(&self, i: usize) -> Option<usize> {
        let &[_, base] = self.block(i).steps.last()?;
        Some((i as u32).wrapping_add(base) as usize)
    }

    /// The matrix with these as the values of the [`elements`](Self::elements) of the slice of row `i`, and
    /// no others.
    ///
    /// # Safety
    /// The matrix's slices have each its own elements, [`ELEMENTS`] at most, and no row of another slice is
    /// read.
    #[inline(always)]
    // SAFETY: what the caller promises is above.
    pub(super) unsafe fn with<'b>(&self, values: &'b [T; ELEMENTS], i: usize) -> Mat<'b, T>
    where
        'a: 'b,
    {
        let mut planes = [&[][..]; MAX_PLANES];
        planes[0] = values;
        Mat {
            from: self.elements(i).start,
            planes,
            ..*self
        }
    }
}
