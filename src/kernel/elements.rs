//! A slice whose values a kernel computes for itself.

use std::ops::Range;

use super::mat::{FLAGS, FULL, Mat, SLICE};
use super::steps::LINE_BYTES;
use super::stream::prefetch;
use super::{MAX_PLANES, Real};

/// Elements of such a slice, at most: nine steps, and rows of seven entries (a cell of six faces, and its
/// neighbours) never take more. They would if steps of affine columns cost the CPU less: see `diagonals`
/// of `sparse/sell/encode/offsets.rs`; a test of `sparse/sell/elements.rs` tells.
pub const ELEMENTS: usize = 9 * SLICE;

/// Slices ahead whose words are asked for, seven of which are those of one slice of elements of a box; and whose
/// steps are, which those words lead to.
const WORDS_AHEAD: usize = 64;
/// See [`WORDS_AHEAD`].
const STEPS_AHEAD: usize = 32;
/// Lines of the caches of each that are asked for at once.
const LINES: usize = 2;

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

    /// Asks, by AVX-512 and AVX2, for what tells the steps of later elements than `e`, as much as those of a
    /// slice have: where each element's row has a step of its own, this is a stream that is read a few bytes at a
    /// time, among many. Zen 3, convection of 100^3 by one thread, a trial program, ns a row and call, least and
    /// median of medians of four runs in turns, in two series: 26.5, 33.7 -> 21.3, 26.8 and 22.2, 29.2 -> 20.8,
    /// 26.2.
    #[inline(always)]
    pub(super) fn ask_steps(&self, e: usize) {
        if !T::WIDE && !T::AVX2 {
            return;
        }
        let (now, line) = (e / SLICE, LINE_BYTES / size_of::<[u32; 4]>());
        for k in 0..LINES {
            prefetch(self.slices, now + WORDS_AHEAD + k * line);
        }
        if let Some(&[_, at, ..]) = self.slices.get(now + STEPS_AHEAD) {
            let line = LINE_BYTES / size_of::<u32>();
            for k in 0..LINES {
                prefetch(self.index, at as usize + k * line);
            }
        }
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
