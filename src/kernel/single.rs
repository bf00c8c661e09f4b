//! Steps that store differences and that not all rows of a slice have, entry by entry. A processor
//! without masks in registers of their own needs more instructions to put packed numbers in place and
//! to leave rows out than there are entries (a Zen 4 by AVX2, least times of rounds in turns, `couloir
//! bench spmv --matrix nodes:1000000 --where cpu --device none --threads 1 --flush`: 17.2 -> 13.2 ms).

use super::Real;
use super::columns::{Difference, ahead};
use super::group::WIDTH;
use super::mat::{GROUPS, Sums, Terms};
use super::steps::copied;
use super::stream::prefetch;

/// Takes the first of `steps`, all that not all rows have, whose packed values begin at `value` and
/// differences at `d`; returns the sums and how many steps these were.
///
/// What the function that is not inlined gets the address of is a copy: the original of the caller,
/// whose loop takes full steps, stays in registers.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn singly<
    T: Real,
    Q: Terms<T, P, X, S>,
    D: Difference,
    const P: usize,
    const X: usize,
    const S: usize,
>(
    steps: &[[u32; 2]],
    differences: &[D],
    d: &mut usize,
    i: usize,
    planes: [&[T]; P],
    value: &mut usize,
    x: [&[T]; X],
    s: &Sums<T, S>,
) -> (Sums<T, S>, usize) {
    let (planes, x, mut sums) = (each(planes), each(x), copied(s));
    let at = [i, *value, *d];
    // SAFETY: AVX2 numbers, which alone come here, are where the processor has the instructions.
    let [taken, entries] =
        unsafe { apart::<T, Q, D, P, X, S>(steps, differences, at, &planes, &x, &mut sums) };
    *value += entries;
    *d += entries;
    (copied(&sums), taken)
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

/// See [`singly`]. In one function with the loop of full steps it would leave that one other registers,
/// and make it slower by 3 to 10 % (the same command, `--matrix tet:1600000 --order rcm`).
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
    [i, value, d]: [usize; 3],
    planes: &[&[T]; P],
    x: &[&[T]; X],
    s: &mut Sums<T, S>,
) -> [usize; 2] {
    let (planes, x) = (*planes, *x);
    let (mut taken, mut entry) = (0, 0);
    for &[mask, base] in steps {
        if mask == u32::MAX {
            break;
        }
        taken += 1;
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
            let difference: u32 = unsafe { *differences.get_unchecked(d + entry) }.into();
            let column = base.wrapping_add(difference) as usize;
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
    [taken, entry]
}
