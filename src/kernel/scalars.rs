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

/// Lanes that few parts need: less to clear for the short lists of a small mesh.
const FEW: usize = 64;

/// All of `parts`: part `b` belongs to lane `b % TOTAL_LANES`, which adds its parts in ascending
/// order; lanes are added pairwise. `cl/common.cl` does the same.
pub fn total<T: Real>(kind: Reduce, parts: [&[T]; 2]) -> T {
    match parts[0].len() + parts[1].len() {
        0..=FEW => total_in(kind, &mut [T::ZERO; FEW], parts),
        _ => total_in(kind, &mut [T::ZERO; TOTAL_LANES], parts),
    }
}

/// See [`total`]; `lanes` are 0, and enough for the parts.
fn total_in<T: Real>(kind: Reduce, lanes: &mut [T], [first, second]: [&[T]; 2]) -> T {
    add(kind, lanes, 0, first);
    add(kind, lanes, first.len(), second);
    pairwise(kind, lanes, first.len() + second.len())
}

/// As [`total`], where the lanes have taken the first `count` parts already.
pub fn total_from<T: Real>(kind: Reduce, before: &[T], count: usize, parts: &[T]) -> T {
    let mut lanes = [T::ZERO; TOTAL_LANES];
    for (lane, b) in lanes.iter_mut().zip(before) {
        *lane = *b;
    }
    add(kind, &mut lanes, count, parts);
    pairwise(kind, &mut lanes, count + parts.len())
}

/// Lanes without parts add nothing: `filled` have some.
fn pairwise<T: Real>(kind: Reduce, lanes: &mut [T], filled: usize) -> T {
    let mut w = filled.next_power_of_two().min(TOTAL_LANES) / 2;
    while w > 0 {
        let (low, high) = lanes.split_at_mut(w);
        for (a, b) in low.iter_mut().zip(high) {
            *a = combine(kind, *a, *b);
        }
        w /= 2;
    }
    lanes[0]
}

/// Adds `parts`, the first of which has the number `at`, to their lanes.
fn add<T: Real>(kind: Reduce, lanes: &mut [T], at: usize, mut parts: &[T]) {
    let mut at = at % TOTAL_LANES;
    while !parts.is_empty() {
        let (now, later) = parts.split_at(parts.len().min(TOTAL_LANES - at));
        for (lane, &p) in lanes[at..].iter_mut().zip(now) {
            *lane = combine(kind, *lane, p);
        }
        (parts, at) = (later, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One part after the other, as the text says it.
    fn plain(kind: Reduce, parts: &[f64]) -> f64 {
        let mut lanes = vec![0.0; TOTAL_LANES];
        for (b, p) in parts.iter().enumerate() {
            lanes[b % TOTAL_LANES] = combine(kind, lanes[b % TOTAL_LANES], *p);
        }
        let mut w = TOTAL_LANES / 2;
        while w > 0 {
            for l in 0..w {
                lanes[l] = combine(kind, lanes[l], lanes[l + w]);
            }
            w /= 2;
        }
        lanes[0]
    }

    #[test]
    fn totals_are_the_same_bits_wherever_the_parts_are_cut() {
        for n in [0, 1, 2, 63, 64, 65, 1000, 1024, 1025, 5000] {
            let parts: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin().exp() - 0.9).collect();
            for kind in [Reduce::Sum, Reduce::Max] {
                let want = plain(kind, &parts).to_bits();
                for cut in [0, n / 3, n] {
                    let (a, b) = parts.split_at(cut);
                    assert_eq!(total(kind, [a, b]).to_bits(), want, "{n} {cut}");
                    let mut lanes = [0.0; TOTAL_LANES];
                    add(kind, &mut lanes, 0, a);
                    assert_eq!(
                        total_from(kind, &lanes, cut, b).to_bits(),
                        want,
                        "{n} {cut}"
                    );
                }
            }
        }
    }
}
