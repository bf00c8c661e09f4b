//! What follows from a call's sums: a few scalars that the next calls read. A solver's recurrences
//! are computed on the device where its calls run there wholly, so that nothing waits for the
//! host, and by the same operations on the host elsewhere.

use super::rows::combine;
use super::total::Total;
use super::{Real, Reduce, pcg_scalars};

/// Partial results that are added in turn; then these are added pairwise.
pub const TOTAL_LANES: usize = 1024;

/// Operations on sums.
#[derive(Clone, Copy)]
pub struct Scalars<T: Real> {
    /// Stem of its files; the device function takes state, sums' parts, blocks.
    pub name: &'static str,
    /// Name of the kernel whose first groups may compute them: see `cl/first.cl`.
    pub within: &'static str,
    /// Its device source.
    pub source: &'static str,
    /// Sums that it needs.
    pub sums: usize,
    /// Numbers of the state that it knows of, the first ones.
    pub length: usize,
    /// `state <- f(sums, state)`.
    pub host: fn(&[Total<T>], &mut [T]),
}

impl<T: Real> Scalars<T> {
    /// The device function of the kernel that they may be computed within.
    pub fn waiting(&self) -> String {
        format!("{}_waiting_kernel", self.within)
    }
}

/// Every one of them.
pub fn list<T: Real>() -> Vec<Scalars<T>> {
    vec![pcg_scalars::scalars()]
}

/// Lanes that few parts need: less to clear for the short lists of a small mesh.
const FEW: usize = 64;

/// Sums or maxima of parts, by lane; without rests where [`Total`] has none.
struct Lanes<'a, T> {
    values: &'a mut [T],
    rests: &'a mut [T],
}

/// Numbers that lanes take in memory: values, then rests where a [`Total`] has them.
pub const fn lanes_length<T: Real>() -> usize {
    TOTAL_LANES * if T::PAIRED { 2 } else { 1 }
}

/// All of `parts`: part `b` belongs to lane `b % TOTAL_LANES`, which adds its parts in ascending
/// order; lanes are added pairwise. `cl/total.cl` does the same.
pub fn total<T: Real>(kind: Reduce, parts: [&[T]; 2]) -> Total<T> {
    match parts[0].len() + parts[1].len() {
        0..=FEW => total_in::<T, FEW>(kind, parts),
        _ => total_in::<T, TOTAL_LANES>(kind, parts),
    }
}

/// See [`total`]; `N` lanes are enough for the parts.
fn total_in<T: Real, const N: usize>(kind: Reduce, [first, second]: [&[T]; 2]) -> Total<T> {
    let add_all = |mut lanes: Lanes<'_, T>| {
        add(kind, &mut lanes, 0, first);
        add(kind, &mut lanes, first.len(), second);
        pairwise(kind, &mut lanes, first.len() + second.len())
    };
    let values = &mut [T::ZERO; N];
    if T::PAIRED {
        let rests = &mut [T::ZERO; N];
        add_all(Lanes { values, rests })
    } else {
        let rests = &mut [];
        add_all(Lanes { values, rests })
    }
}

/// As [`total`], where the lanes have taken the first `count` parts already.
pub fn total_from<T: Real>(kind: Reduce, before: &[T], count: usize, parts: &[T]) -> Total<T> {
    let mut all = [T::ZERO; 2 * TOTAL_LANES];
    let length = lanes_length::<T>();
    for (lane, b) in all[..length].iter_mut().zip(before) {
        *lane = *b;
    }
    let (values, rests) = all[..length].split_at_mut(TOTAL_LANES);
    let mut lanes = Lanes { values, rests };
    add(kind, &mut lanes, count, parts);
    pairwise(kind, &mut lanes, count + parts.len())
}

/// Lanes without parts add nothing: `filled` have some.
fn pairwise<T: Real>(kind: Reduce, lanes: &mut Lanes<'_, T>, filled: usize) -> Total<T> {
    let mut w = filled.next_power_of_two().min(TOTAL_LANES) / 2;
    while w > 0 {
        let (low, high) = lanes.values.split_at_mut(w);
        if T::PAIRED {
            let (low_rests, high_rests) = lanes.rests.split_at_mut(w);
            let rests = low_rests.iter_mut().zip(high_rests);
            for ((a, b), (a_rest, b_rest)) in low.iter_mut().zip(high).zip(rests) {
                let [of_a, of_b] =
                    [(*a, *a_rest), (*b, *b_rest)].map(|(value, rest)| Total { value, rest });
                Total {
                    value: *a,
                    rest: *a_rest,
                } = of_a.and(kind, of_b);
            }
        } else {
            for (a, b) in low.iter_mut().zip(high) {
                *a = combine(kind, *a, *b);
            }
        }
        w /= 2;
    }
    let rest = lanes.rests.first().copied().unwrap_or(T::ZERO);
    let value = lanes.values[0];
    Total { value, rest }.settled()
}

/// Adds `parts`, the first of which has the number `at`, to their lanes.
fn add<T: Real>(kind: Reduce, lanes: &mut Lanes<'_, T>, at: usize, mut parts: &[T]) {
    let mut at = at % TOTAL_LANES;
    while !parts.is_empty() {
        let (now, later) = parts.split_at(parts.len().min(TOTAL_LANES - at));
        let values = lanes.values[at..].iter_mut().zip(now);
        if T::PAIRED {
            for ((value, &p), rest) in values.zip(&mut lanes.rests[at..]) {
                let lane = Total {
                    value: *value,
                    rest: *rest,
                };
                Total {
                    value: *value,
                    rest: *rest,
                } = lane.with(kind, p);
            }
        } else {
            for (value, &p) in values {
                *value = combine(kind, *value, p);
            }
        }
        (parts, at) = (later, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One part after the other, as the text says it.
    fn plain<T: Real>(kind: Reduce, parts: &[T]) -> Total<T> {
        let mut lanes = [Total::ZERO; TOTAL_LANES];
        for (b, p) in parts.iter().enumerate() {
            lanes[b % TOTAL_LANES] = lanes[b % TOTAL_LANES].with(kind, *p);
        }
        let mut w = TOTAL_LANES / 2;
        while w > 0 {
            for l in 0..w {
                lanes[l] = lanes[l].and(kind, lanes[l + w]);
            }
            w /= 2;
        }
        lanes[0].settled()
    }

    fn parts<T: Real>(n: usize) -> Vec<T> {
        let part = |i: usize| (i as f64 * 0.7).sin().exp() - 0.9;
        (0..n).map(|i| T::of(part(i))).collect()
    }

    fn wherever_cut<T: Real>() {
        for n in [0, 1, 2, 63, 64, 65, 1000, 1024, 1025, 5000] {
            let parts = parts::<T>(n);
            for kind in [Reduce::Sum, Reduce::Max] {
                let want = plain(kind, &parts);
                for cut in [0, n / 3, n] {
                    let (a, b) = parts.split_at(cut);
                    assert_eq!(total(kind, [a, b]), want, "{n} {cut}");
                    let mut before = vec![T::ZERO; lanes_length::<T>()];
                    let (values, rests) = before.split_at_mut(TOTAL_LANES);
                    add(kind, &mut Lanes { values, rests }, 0, a);
                    assert_eq!(total_from(kind, &before, cut, b), want, "{n} {cut}");
                }
            }
        }
    }

    #[test]
    fn totals_are_the_same_bits_wherever_the_parts_are_cut() {
        wherever_cut::<f64>();
        wherever_cut::<f32>();
    }

    #[test]
    fn totals_in_single_precision_are_those_in_double() {
        for n in [1, 2, 50, 5000, 300_000] {
            let parts = parts::<f32>(n);
            let all = parts.iter().map(|&p| f64::from(p));
            let (size, sum): (f64, f64) = (all.clone().map(f64::abs).sum(), all.sum());
            let got = total(Reduce::Sum, [&parts, &[]]);
            let error = (got.f64() - sum).abs() / size;
            assert!(error < 2f64.powi(-40), "{n}: {error:e}");
            // The value is the nearest number, and what it lacks is less than half of the next.
            assert_eq!(got.value, got.f64() as f32, "{n}");
            assert!(
                got.rest.abs() <= 0.5 * f32::EPSILON * got.value.abs(),
                "{n}"
            );
        }
    }
}
