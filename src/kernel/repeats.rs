//! A vector of which like slices are stored once, as CPU code reads it; `REPEAT` of `cl/matrix.cl` is its
//! twin. See [`Repeated`](crate::sparse::Repeated).

use super::group::{Group, WIDTH, slice_at};
use super::mat::{GROUPS, Sums, zero};
use super::stream::prefetch;
use super::{Real, SLICE};

/// Such a vector for reading, rows by global number. Made only from a
/// [`Repeated`](crate::sparse::Repeated), of whose slices each begins within the values.
#[derive(Clone, Copy)]
pub struct Repeats<'a, T> {
    /// Where the values of each slice begin.
    pub(crate) at: &'a [u32],
    /// Those of the slices that differ.
    pub(crate) values: &'a [T],
}

impl<T> Default for Repeats<'_, T> {
    fn default() -> Self {
        Self {
            at: &[],
            values: &[],
        }
    }
}

impl<'a, T: Real> Repeats<'a, T> {
    /// The slice that begins with row `i`.
    #[inline(always)]
    pub fn slice(&self, i: usize) -> &'a [T; SLICE] {
        slice_at(self.values, self.at[i / SLICE] as usize)
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> T {
        self.slice(i / SLICE * SLICE)[i % SLICE]
    }

    /// Asks for the slice of row `i`, if there is one, ahead.
    #[inline(always)]
    pub fn fetch(&self, i: usize) {
        if let Some(&at) = self.at.get(i / SLICE) {
            for l in (0..SLICE).step_by(WIDTH) {
                prefetch(self.values, at as usize + l);
            }
        }
    }
}

/// Rows `i .. i + SLICE` of the vectors `x`.
#[inline(always)]
pub fn repeated<T: Real, const S: usize>(x: [Repeats<'_, T>; S], i: usize) -> Sums<T, S> {
    let mut s = zero();
    for k in 0..S {
        let slice = x[k].slice(i);
        for g in 0..GROUPS {
            s[g][k] = Group::load(slice, g * WIDTH);
        }
    }
    s
}
