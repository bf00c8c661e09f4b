//! The steps of a slice: those whose columns follow each other, and those that store differences.

use super::Real;
use super::columns::{ALL, Difference, gather, one, values, window};
use super::group::{Group, WIDTH};
use super::mat::{GROUPS, SLICE, Sums, Terms, zero};
use super::single::singly;

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
    // The diagonal comes first, perhaps cut by its values, the others ascend.
    let ([first, ..], [.., end]) = (affine, affine) else {
        return true;
    };
    let second = affine.iter().find(|s| s[1] != first[1]).unwrap_or(first);
    let inside = |&[_, base]: &[u32; 2]| (i as u32).wrapping_add(base) as usize <= last;
    let within = inside(first) & inside(second) & inside(end);
    debug_assert!(!within || affine.iter().all(inside));
    within
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
        for n in 0..N {
            // SAFETY: the caller's promise.
            let xs = unsafe { window(x, column + n * WIDTH) };
            if FULL || mask == u32::MAX {
                s[n] = Q::add(values::<T, P, true>(planes, at, ALL, ALL), xs, s[n]);
                at += WIDTH;
                continue;
            }
            let mine = mask >> (shift + n * WIDTH) & ALL;
            let placed = if is_packed { mine } else { ALL };
            if mine != 0 {
                let v = values::<T, P, false>(planes, at, placed, placed);
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

/// Places of a step of that mask.
#[inline(always)]
pub(super) fn places(mask: u32, is_packed: bool) -> usize {
    if is_packed {
        mask.count_ones() as usize
    } else {
        SLICE
    }
}

/// A copy that may be indexed freely, so that the original can stay in registers.
#[inline(always)]
pub(super) fn copied<T: Real, const S: usize>(s: &Sums<T, S>) -> Sums<T, S> {
    let mut copy = zero();
    for g in 0..GROUPS {
        for k in 0..S {
            copy[g][k] = s[g][k];
        }
    }
    copy
}

/// `new` for the rows of `mask`, `old` for the others.
#[inline(always)]
pub(super) fn or<T: Real, const S: usize>(
    mask: u32,
    new: [Group<T>; S],
    mut old: [Group<T>; S],
) -> [Group<T>; S] {
    for k in 0..S {
        old[k] = new[k].or(mask, old[k]);
    }
    old
}

/// Takes the steps of one kind, whose values begin at `value` and differences at `d`.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn steps<
    T: Real,
    Q: Terms<T, P, X, S>,
    D: Difference,
    const P: usize,
    const X: usize,
    const S: usize,
>(
    steps: &[[u32; 2]],
    is_packed: bool,
    differences: &[D],
    d: &mut usize,
    i: usize,
    planes: [&[T]; P],
    value: &mut usize,
    x: [&[T]; X],
    before: &Sums<T, S>,
) -> Sums<T, S> {
    let mut s = copied(before);
    let mut k = 0;
    // By number: `singly` takes several at once.
    while k < steps.len() {
        let [mask, base] = steps[k];
        k += 1;
        let base = (i as u32).wrapping_add(base);
        if mask == u32::MAX {
            for g in 0..GROUPS {
                let v = values::<T, P, true>(planes, *value + g * WIDTH, ALL, ALL);
                let x = gather::<T, D, X, true>(x, base, differences, *d + g * WIDTH, ALL, ALL);
                s[g] = Q::add(v, x, s[g]);
            }
            *value += SLICE;
            *d += SLICE;
            continue;
        }
        if T::SINGLE && is_packed {
            let left = &steps[k - 1..];
            let taken;
            (s, taken) = singly::<T, Q, D, P, X, S>(left, differences, d, i, planes, value, x, &s);
            k += taken - 1;
            continue;
        }
        // No closure: see `group`.
        macro_rules! group {
            ($g:expr) => {
                s[$g] = some::<T, Q, D, P, X, S>(
                    mask >> ($g * WIDTH) & ALL,
                    is_packed,
                    base,
                    differences,
                    d,
                    planes,
                    value,
                    x,
                    s[$g],
                )
            };
        }
        if T::WIDE {
            // Written out, so that the sums stay in registers.
            const { assert!(GROUPS == 4) };
            group!(0);
            group!(1);
            group!(2);
            group!(3);
        } else {
            for g in 0..GROUPS {
                group!(g);
            }
        }
    }
    s
}

/// A group of which the rows of `has` have the entry.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn some<
    T: Real,
    Q: Terms<T, P, X, S>,
    D: Difference,
    const P: usize,
    const X: usize,
    const S: usize,
>(
    has: u32,
    is_packed: bool,
    base: u32,
    differences: &[D],
    d: &mut usize,
    planes: [&[T]; P],
    value: &mut usize,
    x: [&[T]; X],
    mut s: [Group<T>; S],
) -> [Group<T>; S] {
    let placed = if is_packed { has } else { ALL };
    if has != 0 {
        let v = values::<T, P, false>(planes, *value, has, placed);
        let x = gather::<T, D, X, false>(x, base, differences, *d, has, placed);
        s = Q::add(v, x, s);
    }
    *value += placed.count_ones() as usize;
    *d += placed.count_ones() as usize;
    s
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
