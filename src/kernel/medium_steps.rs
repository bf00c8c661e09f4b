//! Steps that store differences, as AVX2 takes them: those that all rows have in a loop of their own, the
//! others in a function of their own.
//!
//! Full steps come first: in a slice that counts positions in the row, each step's rows are among those of the one
//! before. In one loop with the others, a compiler puts what full steps need on the stack (Zen 3, `couloir bench
//! spmv --matrix nodes:30000 --order rcm --where cpu --device none --threads 1`, which the last cache holds, least
//! times in turns: 246 -> 220 us with a loop of their own and bases added by loads, which alone took 255; 200 with
//! differences read four at a time, too, 192 with the others in a function of its own). Trial builds.

use super::Real;
use super::columns::{ALL, Difference, ahead, gather, values};
use super::group::WIDTH;
use super::mat::{GROUPS, SLICE, Sums, Terms};
use super::steps::{copied, or};
use super::stream::prefetch;

/// See [`steps`](super::steps::steps).
///
/// What the functions that are not inlined get the address of are copies: the originals of the caller,
/// whose loop takes full steps, stay in registers.
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
    let (mut v, mut e, mut full) = (*value, *d, 0);
    for &[mask, base] in steps {
        if mask != u32::MAX {
            break;
        }
        let base = (i as u32).wrapping_add(base);
        for g in 0..GROUPS {
            let values = values::<T, P, true, false>(planes, v + g * WIDTH, ALL);
            let x = gather::<T, D, X, true>(x, base, differences, e + g * WIDTH, ALL);
            s[g] = Q::add(values, x, s[g]);
        }
        v += SLICE;
        e += SLICE;
        full += 1;
    }
    (*value, *d) = (v, e);
    let rest = &steps[full..];
    if rest.is_empty() {
        return s;
    }
    let (planes, x, mut sums) = (each(planes), each(x), copied(&s));
    // SAFETY: AVX2 numbers, which alone come here, are where the processor has the instructions.
    let taken = unsafe {
        if is_packed {
            packed::<T, Q, D, P, X, S>(rest, differences, [i, v, e], &planes, &x, &mut sums)
        } else {
            apart::<T, Q, D, P, X, S>(rest, differences, [i, v, e], &planes, &x, &mut sums)
        }
    };
    *value += taken;
    *d += taken;
    copied(&sums)
}

/// As [`copied`], of vectors: what is assigned as a whole may be the caller's own.
#[inline(always)]
#[allow(clippy::manual_memcpy)]
fn each<T, const N: usize>(vectors: [&[T]; N]) -> [&[T]; N] {
    let mut copies = [&[][..]; N];
    for k in 0..N {
        copies[k] = vectors[k];
    }
    copies
}

/// Takes steps in which rows without an entry have a place, too, group by group; groups without an entry are
/// left out (the same, in the order given, trial builds: 276 us with all taken in the function of the full ones,
/// 251 so). Values and differences begin at `v` and `e` of `[i, v, e]`; returns how many there are of either.
///
/// # Safety
/// The processor has the instructions.
#[inline(never)]
#[cfg_attr(
    target_arch = "x86_64",
    target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")
)]
// SAFETY: what the caller promises is above.
unsafe fn apart<
    T: Real,
    Q: Terms<T, P, X, S>,
    D: Difference,
    const P: usize,
    const X: usize,
    const S: usize,
>(
    steps: &[[u32; 2]],
    differences: &[D],
    [i, v, e]: [usize; 3],
    planes: &[&[T]; P],
    x: &[&[T]; X],
    s: &mut Sums<T, S>,
) -> usize {
    let (planes, x, mut sums) = (*planes, *x, copied(s));
    let mut taken = 0;
    for &[mask, base] in steps {
        let base = (i as u32).wrapping_add(base);
        for g in 0..GROUPS {
            let (has, at) = (mask >> (g * WIDTH) & ALL, taken + g * WIDTH);
            if has != 0 {
                let v = values::<T, P, true, false>(planes, v + at, ALL);
                let x = gather::<T, D, X, true>(x, base, differences, e + at, ALL);
                sums[g] = or(has, Q::add(v, x, sums[g]), sums[g]);
            }
        }
        taken += SLICE;
    }
    *s = sums;
    taken
}

/// The same of packed steps, entry by entry. A processor without masks in registers of their own needs
/// more instructions to put packed numbers in place and to leave rows out than there are entries (a Zen 4
/// by AVX2, least times of rounds in turns, `couloir bench spmv --matrix nodes:1000000 --where cpu --device
/// none --threads 1 --flush`: 17.2 -> 13.2 ms). In one function with the loop of full steps it would leave
/// that one other registers, and make it slower by 3 to 10 % (the same command, `--matrix tet:1600000
/// --order rcm`).
///
/// # Safety
/// The processor has the instructions.
#[inline(never)]
#[cfg_attr(
    target_arch = "x86_64",
    target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")
)]
// SAFETY: what the caller promises is above.
unsafe fn packed<
    T: Real,
    Q: Terms<T, P, X, S>,
    D: Difference,
    const P: usize,
    const X: usize,
    const S: usize,
>(
    steps: &[[u32; 2]],
    differences: &[D],
    [i, value, d]: [usize; 3],
    planes: &[&[T]; P],
    x: &[&[T]; X],
    s: &mut Sums<T, S>,
) -> usize {
    let (planes, x) = (*planes, *x);
    let mut entry = 0;
    for &[mask, base] in steps {
        for p in 0..P {
            for g in 0..GROUPS {
                prefetch(planes[p], value + entry + g * WIDTH + ahead::<T>());
            }
        }
        let base = (i as u32).wrapping_add(base);
        let mut rows = mask;
        while rows != 0 {
            let row = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            let (mut v, mut xs, mut old) = ([T::ZERO; P], [T::ZERO; X], [T::ZERO; S]);
            for p in 0..P {
                // SAFETY: every value of a step is in each plane (see `Mat`).
                v[p] = unsafe { *planes[p].get_unchecked(value + entry) };
            }
            // SAFETY: every difference of a step is in the index block.
            let difference = unsafe { *differences.get_unchecked(d + entry) };
            let column = D::column(base, difference.into());
            for k in 0..X {
                // SAFETY: a column that a row has is below `cols` (see `Mat`), and `x` is as long
                // (asserted by `sums`).
                xs[k] = unsafe { *x[k].get_unchecked(column) };
            }
            let (group, lane) = (row / WIDTH, row % WIDTH);
            for k in 0..S {
                old[k] = s[group][k].0[lane];
            }
            let new = Q::add(v, xs, old);
            for k in 0..S {
                s[group][k].0[lane] = new[k];
            }
            entry += 1;
        }
    }
    entry
}
