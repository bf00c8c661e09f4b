//! One entry of each row of a group: packed values, and the three ways to store columns.
//!
//! What a row lacks is not read: its value is -0 and its entry of a vector 0, whose product adds
//! nothing. Plain loops without branches, so that they become vector instructions.

use super::Real;
use super::group::{Group, WIDTH};
use super::mat::SLICE;
use super::stream::{AHEAD_BYTES, prefetch};

/// Every row of a group.
pub(super) const ALL: u32 = u32::MAX >> (SLICE - WIDTH);

/// Of what follows each other for the rows of a mask, which belongs to each row; to a row that
/// lacks it, a neighbour's.
static PLACES: [[u8; WIDTH]; 1 << WIDTH] = {
    let mut places = [[0; WIDTH]; 1 << WIDTH];
    let mut mask = 0;
    while mask < 1 << WIDTH {
        let (mut place, mut l) = (0, 0);
        while l < WIDTH {
            places[mask][l] = place;
            if mask >> l & 1 == 1 && mask >> (l + 1) != 0 {
                place += 1;
            }
            l += 1;
        }
        mask += 1;
    }
    places
};

/// `v` where `mask` has a bit, else `other`.
#[inline(always)]
fn or<T: Real>(mut v: Group<T>, mask: u32, other: T) -> Group<T> {
    for l in 0..WIDTH {
        v.0[l] = if mask >> l & 1 == 1 { v.0[l] } else { other };
    }
    v
}

/// The values that follow each other from `at` on for the rows of `mask`, not 0; -0 elsewhere.
#[inline(always)]
pub(super) fn packed<T: Real, const P: usize>(
    planes: [&[T]; P],
    at: usize,
    mask: u32,
) -> [Group<T>; P] {
    let mut v = [Group::ZERO; P];
    let places = &PLACES[mask as usize];
    for p in 0..P {
        prefetch(planes[p], at + AHEAD_BYTES / size_of::<T>());
        for l in 0..WIDTH {
            let place = if mask == ALL { l } else { places[l] as usize };
            // SAFETY: `place` counts fewer than the entries of the mask, all of which have their
            // values in the plane (see `Mat`).
            v[p].0[l] = unsafe { *planes[p].get_unchecked(at + place) };
        }
        if mask != ALL {
            v[p] = or(v[p], mask, -T::ZERO);
        }
    }
    v
}

/// The value at `at` for the rows of `mask`; -0 elsewhere.
#[inline(always)]
pub(super) fn one<T: Real, const P: usize>(
    planes: [&[T]; P],
    at: usize,
    mask: u32,
) -> [Group<T>; P] {
    let mut v = [Group::ZERO; P];
    for p in 0..P {
        v[p] = or(Group::splat(planes[p][at]), mask, -T::ZERO);
    }
    v
}

/// How a kind of step stores its columns.
pub(super) trait Columns<T: Real>: Sized {
    /// `x` at the columns of the rows of group `g` that `mask`, not 0, has; 0 elsewhere. Their
    /// differences to `base` follow each other from `d` on.
    fn gather<const X: usize>(
        x: [&[T]; X],
        base: u32,
        differences: &[Self],
        d: usize,
        g: usize,
        mask: u32,
    ) -> [Group<T>; X];
}

/// Neighbouring rows have neighbouring columns, from the base on.
pub(super) struct Affine;

impl<T: Real> Columns<T> for Affine {
    #[inline(always)]
    fn gather<const X: usize>(
        x: [&[T]; X],
        base: u32,
        _: &[Self],
        _: usize,
        g: usize,
        mask: u32,
    ) -> [Group<T>; X] {
        let mut xs = [Group::ZERO; X];
        let column = base.wrapping_add((g * WIDTH) as u32);
        let some = mask.trailing_zeros();
        for k in 0..X {
            for l in 0..WIDTH as u32 {
                let row = if mask == ALL || mask >> l & 1 == 1 {
                    l
                } else {
                    some
                };
                let j = if mask == ALL {
                    column as usize + l as usize
                } else {
                    column.wrapping_add(row) as usize
                };
                // SAFETY: `row` is one that has the entry, so its column is below `cols` (see
                // `Mat`), and `x` is as long (asserted by `sums`).
                xs[k].0[l as usize] = unsafe { *x[k].get_unchecked(j) };
            }
            if mask != ALL {
                xs[k] = or(xs[k], mask, T::ZERO);
            }
        }
        xs
    }
}

macro_rules! differences {
    ($t:ty) => {
        impl<T: Real> Columns<T> for $t {
            #[inline(always)]
            fn gather<const X: usize>(
                x: [&[T]; X],
                base: u32,
                differences: &[Self],
                d: usize,
                _: usize,
                mask: u32,
            ) -> [Group<T>; X] {
                let mut xs = [Group::ZERO; X];
                let places = &PLACES[mask as usize];
                for l in 0..WIDTH {
                    let place = if mask == ALL { l } else { places[l] as usize };
                    // SAFETY: as in `packed`, of the index block.
                    let difference = unsafe { *differences.get_unchecked(d + place) };
                    let j = base.wrapping_add(difference as u32) as usize;
                    for k in 0..X {
                        // SAFETY: as for `Affine`; a place is that of a row that has the entry.
                        xs[k].0[l] = unsafe { *x[k].get_unchecked(j) };
                    }
                }
                if mask != ALL {
                    for k in 0..X {
                        xs[k] = or(xs[k], mask, T::ZERO);
                    }
                }
                xs
            }
        }
    };
}

differences!(u16);
differences!(u32);
