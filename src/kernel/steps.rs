//! The steps of a slice that store differences of columns.

use super::Real;
use super::affine::fit;
use super::columns::{ALL, Difference, ahead, gather, values};
use super::group::{Group, WIDTH};
use super::mat::{GROUPS, SLICE, Sums, Terms, zero};
use super::medium_steps;
use super::stream::{prefetch, prefetch_once};

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

/// Whether to ask ahead of time for what rows of so many `steps` read beside their values: by
/// AVX-512, where there are many. Where there are few, values are nearly all that is read, and come
/// later if more is asked for. Zen 4, `couloir bench spmv --where cpu --device none --threads 1`,
/// medians in turns: `--matrix nodes:1000000 --order rcm` (15 entries a row) 8.54 -> 7.23 ms; where few
/// steps asked, too, `tet:1600000 --order rcm` (5) 2.93 -> 3.25. By AVX2 nodes 9.7 -> 9.2 and
/// tetrahedra 4.98 -> 5.22. Packed slices: not measured by itself.
#[inline(always)]
pub(super) fn is_long<T: Real>(steps: usize, is_packed: bool) -> bool {
    T::WIDE && !is_packed && steps >= LONG
}

/// Steps of long rows.
pub(super) const LONG: usize = 8;

/// Asks for `x` where the last of these steps, of the slice of row `i`, will be eight slices on: rows
/// that are numbered along a front have there what no row before has read.
///
/// Slices that store neither values nor columns read nothing else from memory. The products of a solve,
/// on a Xeon (AVX-512, 480 MiB of last cache), `cargo run --release --example pcg -- 160 none 0 1 1e-4 2`,
/// two runs each: 5.94 and 5.82 ms, so asked for 4.21 and 4.72; two slices on 4.82 and 5.21, 16 slices
/// 4.25 and 4.46; by AVX2 6.69 and 6.52, 5.08 and 4.97; of `220 none 0 1 1e-3 2` 16.6 and 16.9, 12.9 and
/// 12.8, of `100 none 0 1 1e-7 6` the same. Trial builds. Not measured on ARM.
#[inline(always)]
pub(super) fn fetch_edge<T: Real, const X: usize>(steps: &[[u32; 2]], i: usize, x: [&[T]; X]) {
    let Some(&[_, base]) = steps.last() else {
        return;
    };
    let edge = (i as u32).wrapping_add(base) as usize + 8 * SLICE;
    for x in x {
        for row in (0..SLICE).step_by(WIDTH) {
            prefetch(x, edge + row);
        }
    }
}

/// Bytes of a line of the caches.
pub(super) const LINE_BYTES: usize = 64;

/// Takes the steps of one kind, whose values begin at `value` and differences at `d`.
/// Later differences are asked for `AHEAD`.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn steps<
    T: Real,
    Q: Terms<T, P, X, S>,
    D: Difference,
    const P: usize,
    const X: usize,
    const S: usize,
    const AHEAD: bool,
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
    // More sums than fit into registers take longer there (`gspmv`, `tet:100000 --order rcm`, least times in two
    // series: 721 us here, 913 with full steps there; a build before both 833 and 784).
    if T::AVX2 && (is_packed || fit::<T, S>()) {
        return medium_steps::steps::<T, Q, D, P, X, S>(
            steps,
            is_packed,
            differences,
            d,
            i,
            planes,
            value,
            x,
            before,
        );
    }
    let mut s = copied(before);
    for &[mask, base] in steps {
        let base = (i as u32).wrapping_add(base);
        if mask == u32::MAX {
            let later = *d + ahead::<T>() * size_of::<T>() / size_of::<D>();
            if T::ONCE {
                for row in (0..SLICE).step_by(LINE_BYTES / size_of::<D>()) {
                    prefetch_once(differences, later + row);
                }
            } else if AHEAD {
                prefetch(differences, later);
            }
            for g in 0..GROUPS {
                let v = values::<T, P, true, false>(planes, *value + g * WIDTH, ALL);
                let x = gather::<T, D, X, true>(x, base, differences, *d + g * WIDTH, ALL);
                s[g] = Q::add(v, x, s[g]);
            }
            *value += SLICE;
            *d += SLICE;
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
    if has != 0 && is_packed {
        let v = values::<T, P, false, false>(planes, *value, placed);
        let x = gather::<T, D, X, false>(x, base, differences, *d, placed);
        s = or(has, Q::add(v, x, s), s);
    } else if has != 0 {
        let v = values::<T, P, true, false>(planes, *value, ALL);
        let x = gather::<T, D, X, true>(x, base, differences, *d, ALL);
        s = or(has, Q::add(v, x, s), s);
    }
    *value += placed.count_ones() as usize;
    *d += placed.count_ones() as usize;
    s
}
