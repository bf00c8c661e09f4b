//! The steps of a slice whose columns follow each other.

use super::Real;
use super::columns::{ALL, one, values, window};
use super::group::{Group, WIDTH};
use super::mat::{Block, FLAGS, FULL, GROUPS, Mat, SLICE, Sums, Terms};
use super::steps::{fetch_edge, or, places};

/// Whether all rows' columns by the affine steps of the slice of row `i`, also of rows that lack
/// the entry, lie within the vectors.
#[inline(always)]
pub(super) fn within<T, const X: usize>(affine: &[[u32; 2]], i: usize, x: [&[T]; X]) -> bool {
    let mut least = usize::MAX;
    for k in 0..X {
        least = least.min(x[k].len());
    }
    // Columns before the first one are large numbers: what is added to them may wrap.
    let Some(last) = least.checked_sub(SLICE) else {
        return false;
    };
    // The diagonal comes first, if it does, perhaps cut by its values; the others ascend.
    let ([first, ..], [.., end]) = (affine, affine) else {
        return true;
    };
    let second = affine.iter().find(|s| s[1] != first[1]).unwrap_or(first);
    let inside = |&[_, base]: &[u32; 2]| (i as u32).wrapping_add(base) as usize <= last;
    let within = inside(first) & inside(second) & inside(end);
    debug_assert!(!within || affine.iter().all(inside));
    within
}

/// Whether `S` sums of all groups fit into the registers at once, beside the masks of rows that lack entries.
/// AVX-512 has twice as many. Three a row, velocity correction of 1M hexahedra by one thread of a Zen 4, ms a
/// step by samples of `perf record`, in turns: 6.4, 8.1, 6.5, 6.3 -> 5.4, 6.6, 5.2, 5.6; a noisier series: 8.9,
/// 7.2, 6.1 -> 7.2, 8.9, 6.6.
pub(super) const fn fit<T: Real, const S: usize>() -> bool {
    S * size_of::<T>() <= if T::WIDE { 24 } else { 8 }
}

impl<'a, T> Mat<'a, T> {
    /// The steps of the slice of row `i`, and its first value, if every row has its entry in every step, and
    /// each step has one value for all: most slices of a box, which need not ask for steps of other kinds. Of the
    /// flow of [`Medium`](super::medium::Medium)'s figures, the product of PCG 0.165 -> 0.156 ms. Not by AVX-512: a
    /// Xeon, with the test for whole groups left out of steps that lack rows, too, 0.147 -> 0.159 ms.
    #[inline(always)]
    pub(super) fn ones_alone(&self, i: usize) -> Option<(&'a [[u32; 2]], usize)> {
        const ONES: u32 = 0xff << 8;
        let [value, at, counts, wide] = self.slices[i / SLICE];
        if counts & !ONES != 0 || wide & (FULL | !FLAGS) != FULL {
            return None;
        }
        let words = 2 * (counts >> 8) as usize;
        let steps = &self.index[at as usize..at as usize + words];
        Some((bytemuck::cast_slice(steps), value as usize - self.from))
    }
}

/// All groups of the slice of row `i` through steps of one value each, which begin at `value`.
///
/// # Safety
/// Every row has its entry in every step.
#[inline(always)]
// SAFETY: what the caller promises is above.
pub(super) unsafe fn whole<
    T: Real,
    Q: Terms<T, P, X, S>,
    const P: usize,
    const X: usize,
    const S: usize,
>(
    ones: &[[u32; 2]],
    i: usize,
    v: [&[T]; P],
    value: usize,
    x: [&[T]; X],
    s: Sums<T, S>,
) -> Sums<T, S> {
    fetch_edge(ones, i, x);
    // SAFETY: the caller's promise.
    unsafe {
        regular::<T, Q, P, X, S, GROUPS, true, false>(&[], ones, false, i, 0, v, value, x, s).0
    }
}

/// All groups of the slice `b` of row `i` through these steps, and the place of the next step's values;
/// they are asked for [`FAR`](values) ahead or not.
///
/// # Safety
/// Every row has its entry in every step, or [`within`] is true.
#[inline(always)]
// SAFETY: what the caller promises is above.
pub(super) unsafe fn sums_of<
    T: Real,
    Q: Terms<T, P, X, S>,
    const P: usize,
    const X: usize,
    const S: usize,
    const FAR: bool,
>(
    b: &Block<'_>,
    affine: &[[u32; 2]],
    ones: &[[u32; 2]],
    i: usize,
    v: [&[T]; P],
    x: [&[T]; X],
    mut s: Sums<T, S>,
) -> (Sums<T, S>, usize) {
    let (packed, mut value) = (b.packed, b.value);
    if b.full && fit::<T, S>() {
        // SAFETY: every row has its entry in every step.
        (s, value) = unsafe {
            regular::<T, Q, P, X, S, GROUPS, true, FAR>(affine, ones, packed, i, 0, v, value, x, s)
        };
    } else if fit::<T, S>() && (T::WIDE || T::AVX2) {
        // SAFETY: as checked.
        (s, value) = unsafe {
            regular::<T, Q, P, X, S, GROUPS, false, FAR>(affine, ones, packed, i, 0, v, value, x, s)
        };
    } else if T::AVX2 && P > 1 && S * size_of::<T>() > 16 {
        // Values of several planes take registers, too: a group at a time (Zen 4, velocity correction,
        // least of three runs 9.8 -> 6.5 ms: `couloir run cases/taylor-green.toml --steps 3 --threads 1
        // --device none --set "mesh.box.cells=[96,96,96]" --set poisson.tolerance=1e-2`).
        for g in 0..GROUPS {
            // SAFETY: as above, or as checked.
            let ([sums], next) = unsafe {
                regular::<T, Q, P, X, S, 1, false, FAR>(
                    affine,
                    ones,
                    packed,
                    i,
                    g,
                    v,
                    b.value,
                    x,
                    [s[g]],
                )
            };
            (s[g], value) = (sums, next);
        }
    } else {
        let (low, high) = ([s[0], s[1]], [s[2], s[3]]);
        // SAFETY: as above, or as checked.
        let (low, _) = unsafe {
            regular::<T, Q, P, X, S, 2, false, FAR>(affine, ones, packed, i, 0, v, value, x, low)
        };
        // SAFETY: as above.
        let (high, next) = unsafe {
            regular::<T, Q, P, X, S, 2, false, FAR>(affine, ones, packed, i, 2, v, value, x, high)
        };
        (s, value) = ([low[0], low[1], high[0], high[1]], next);
    }
    (s, value)
}

/// `N` groups of a slice, from the group `g` on, through its affine steps, whose values begin at
/// `value`; with the place of the next step's.
///
/// # Safety
/// [`within`] is true; where `FULL`, every row has every entry.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
// SAFETY: what the caller promises is above.
pub(super) unsafe fn regular<
    T: Real,
    Q: Terms<T, P, X, S>,
    const P: usize,
    const X: usize,
    const S: usize,
    const N: usize,
    const FULL: bool,
    const FAR: bool,
>(
    affine: &[[u32; 2]],
    ones: &[[u32; 2]],
    is_packed: bool,
    i: usize,
    g: usize,
    planes: [&[T]; P],
    mut value: usize,
    x: [&[T]; X],
    mut s: [[Group<T>; S]; N],
) -> ([[Group<T>; S]; N], usize) {
    let shift = g * WIDTH;
    let first = (i + shift) as u32;
    for &[mask, base] in affine {
        let before = if is_packed { mask } else { u32::MAX } & ((1 << shift) - 1);
        let mut at = value + before.count_ones() as usize;
        value += places(mask, is_packed);
        let column = first.wrapping_add(base) as usize;
        if FULL || mask == u32::MAX {
            for n in 0..N {
                // SAFETY: the caller's promise.
                let xs = unsafe { window(x, column + n * WIDTH) };
                let v = values::<T, P, true, FAR>(planes, at + n * WIDTH, ALL);
                s[n] = Q::add(v, xs, s[n]);
            }
            continue;
        }
        if !T::WIDE && !is_packed {
            for n in 0..N {
                // SAFETY: the caller's promise.
                let xs = unsafe { window(x, column + n * WIDTH) };
                let v = values::<T, P, true, FAR>(planes, at + n * WIDTH, ALL);
                s[n] = or(mask >> (shift + n * WIDTH), Q::add(v, xs, s[n]), s[n]);
            }
            continue;
        }
        for n in 0..N {
            // SAFETY: the caller's promise.
            let xs = unsafe { window(x, column + n * WIDTH) };
            let mine = mask >> (shift + n * WIDTH) & ALL;
            let placed = if is_packed { mine } else { ALL };
            if mine != 0 {
                let v = values::<T, P, false, FAR>(planes, at, placed);
                s[n] = or(mine, Q::add(v, xs, s[n]), s[n]);
            }
            at += placed.count_ones() as usize;
        }
    }
    for &[mask, base] in ones {
        let v = one(planes, value);
        value += 1;
        let column = first.wrapping_add(base) as usize;
        if FULL || mask == u32::MAX {
            for n in 0..N {
                // SAFETY: the caller's promise.
                let xs = unsafe { window(x, column + n * WIDTH) };
                s[n] = Q::add(v, xs, s[n]);
            }
        } else {
            for n in 0..N {
                // SAFETY: the caller's promise.
                let xs = unsafe { window(x, column + n * WIDTH) };
                s[n] = or(mask >> (shift + n * WIDTH), Q::add(v, xs, s[n]), s[n]);
            }
        }
    }
    (s, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where the diagonal is more than one step, for it has several values: the step after those
    /// reaches furthest back.
    #[test]
    fn steps_beyond_the_ends_are_noticed() {
        let x = [0.0; 2 * SLICE + 8];
        let back = 8u32.wrapping_neg();
        let rest = [[0xff00, back], [0xff, 8]];
        for diagonal in [&[[0xffff, 0]][..], &[[0xff, 0], [0xff00, 0]]] {
            let steps = [diagonal, &rest].concat();
            let inside = |i| within(&steps, i, [&x[..]]);
            assert_eq!(
                [0, 8, SLICE, SLICE + 8].map(inside),
                [false, true, true, false]
            );
            assert!(within(diagonal, 0, [&x[..]]) && !within(&steps, 0, [&x[..SLICE - 1]]));
        }
        assert!(within(&[], 0, [&x[..]]));
    }
}
