//! The steps of a slice that store differences of columns.

use super::Real;
use super::columns::{ALL, Difference, gather, values};
use super::group::{Group, WIDTH};
use super::mat::{GROUPS, SLICE, Sums, Terms, zero};
use super::single::singly;

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
                let v = values::<T, P, true, false>(planes, *value + g * WIDTH, ALL, ALL);
                let x = gather::<T, D, X, true>(x, base, differences, *d + g * WIDTH, ALL, ALL);
                s[g] = Q::add(v, x, s[g]);
            }
            *value += SLICE;
            *d += SLICE;
            continue;
        }
        if T::AVX2 && is_packed {
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
        let v = values::<T, P, false, false>(planes, *value, has, placed);
        let x = gather::<T, D, X, false>(x, base, differences, *d, has, placed);
        s = Q::add(v, x, s);
    }
    *value += placed.count_ones() as usize;
    *d += placed.count_ones() as usize;
    s
}
