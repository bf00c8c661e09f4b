//! What follows from a call's sums: a few scalars that the next calls read. A solver's recurrences
//! are computed on the device where its calls run there wholly, so that nothing waits for the
//! host, and by the same operations on the host elsewhere.

use super::rows::combine;
use super::{Real, Reduce, pcg_scalars};

/// Partial results that are added in turn; then these are added pairwise.
pub const TOTAL_LANES: usize = 1024;

/// Operations on sums.
#[derive(Clone, Copy)]
pub struct Scalars<T: Real> {
    /// Stem of its files; the device function is `<name>_kernel`: state, sums' parts, blocks.
    pub name: &'static str,
    /// Its device source.
    pub source: &'static str,
    /// Sums that it needs.
    pub sums: usize,
    /// Length of the state.
    pub length: usize,
    /// `state <- f(sums, state)`.
    pub host: fn(&[T], &mut [T]),
}

/// Every one of them.
pub fn list<T: Real>() -> Vec<Scalars<T>> {
    vec![pcg_scalars::scalars()]
}

/// All of `parts`: part `b` belongs to lane `b % TOTAL_LANES`, which adds its parts in ascending
/// order; lanes are added pairwise. `cl/common.cl` does the same.
pub fn total<T: Real>(kind: Reduce, parts: [&[T]; 2]) -> T {
    let mut lanes = [T::ZERO; TOTAL_LANES];
    add(kind, &mut lanes, 0, parts[0]);
    total_from(kind, &lanes, parts[0].len(), parts[1])
}

/// As [`total`], where the lanes have taken the first `count` parts already.
pub fn total_from<T: Real>(kind: Reduce, before: &[T], count: usize, parts: &[T]) -> T {
    let mut lanes = [T::ZERO; TOTAL_LANES];
    for (lane, b) in lanes.iter_mut().zip(before) {
        *lane = *b;
    }
    add(kind, &mut lanes, count, parts);
    // Lanes without parts add nothing.
    let filled = count + parts.len();
    let mut w = filled.next_power_of_two().min(TOTAL_LANES) / 2;
    while w > 0 {
        for l in 0..w {
            lanes[l] = combine(kind, lanes[l], lanes[l + w]);
        }
        w /= 2;
    }
    lanes[0]
}

/// Adds `parts`, the first of which has the number `at`, to their lanes.
fn add<T: Real>(kind: Reduce, lanes: &mut [T; TOTAL_LANES], at: usize, parts: &[T]) {
    let mut at = at % TOTAL_LANES;
    for &p in parts {
        lanes[at] = combine(kind, lanes[at], p);
        at = (at + 1) % TOTAL_LANES;
    }
}
