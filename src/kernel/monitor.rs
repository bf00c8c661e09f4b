//! Courant rates `rate_c = w_c/2 sum_f |m_cf phi_f|` and divergences `w_c |sum_f m_cf phi_f|` of the
//! cells, for the log: 4 flops and 12 bytes per entry, 4 flops per row (fp64). Those of a step's fluxes
//! are found by [`gradient_correct`](super::gradient_correct).

use super::group::{Group, Lanes, slices};
use super::mat::{Entry, Terms, parts, zero};
use super::repeats::Repeats;
use super::{Flops, Kernel, Mat, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// reductions sum of rates, largest rate, sum of `|M phi|` (not divided by volumes), largest
/// divergence; repeated w (inverse volumes, not negative); gather phi (fluxes); matrix M (entries +1,
/// -1).
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "monitor",
        formula: "rate = w/2 |M| |phi|, div = |M phi|: sum, max of rate; sum of div, max of w div",
        source: include_str!("../../cl/monitor.cl"),
        shape: Shape {
            reduce: &[Reduce::Sum, Reduce::Max, Reduce::Sum, Reduce::Max],
            repeated: 1,
            gather: 1,
            mats: &[1],
            ..Shape::NONE
        },
        flops: Flops {
            row: 4.0,
            entry: &[4.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let (m, phi, w) = (r.mats[0], r.gather[0], r.repeated[0]);
    for b in 0..r.n / BLOCK {
        let found = plainly(m, phi, w, r.first + b * BLOCK);
        for (partial, x) in r.partial.iter_mut().zip(found) {
            partial[b] = x;
        }
    }
}

/// The partial results of the block that begins with row `first`.
pub(super) fn plainly<T: Real>(
    m: Mat<'_, T>,
    phi: &[T],
    w: Repeats<'_, T>,
    first: usize,
) -> [T; 4] {
    let [mut sum, mut largest, mut residual, mut divergence] = [T::ZERO; 4];
    for i in first..first + BLOCK {
        let (mut through, mut net) = (T::ZERO, T::ZERO);
        for (e, j) in m.row(i) {
            let (v, phi) = (m.planes[0][e], phi[j]);
            through = v.abs().fma(phi.abs(), through);
            net = v.fma(phi, net);
        }
        let w = w.row(i);
        let rate = w * (T::of(0.5) * through);
        sum = sum + rate;
        largest = largest.max(rate);
        residual = residual + net.abs();
        divergence = divergence.max(w * net.abs());
    }
    [sum, largest, residual, divergence]
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (m, phi, w) = (r.mats[0], r.gather[0], r.repeated[0]);
    for b in 0..r.n / BLOCK {
        let found = of_block(m, phi, w, r.first + b * BLOCK);
        for k in 0..found.len() {
            r.partial[k][b] = found[k];
        }
    }
}

/// As [`plainly`].
#[inline(always)]
pub(super) fn of_block<T: Real>(
    m: Mat<'_, T>,
    phi: &[T],
    w: Repeats<'_, T>,
    first: usize,
) -> [T; 4] {
    let half = Group::splat(T::of(0.5));
    let (mut sum, mut largest) = (Lanes::ZERO, Lanes::ZERO);
    let (mut residual, mut divergence) = (Lanes::ZERO, Lanes::ZERO);
    for i in slices(0) {
        let sums = m.sums(ThroughAndNet, [0], [phi], first + i, zero());
        let w = w.slice(first + i);
        for (g, [through, net]) in parts(0, sums) {
            let w = Group::load(w, g);
            let rate = w * (half * through);
            sum.add(g, rate);
            largest.maximum(g, rate);
            residual.add(g, net.abs());
            divergence.maximum(g, w * net.abs());
        }
    }
    [sum.sum(), largest.largest(), residual.sum(), divergence.largest()]
}

/// `s_0 += |v| |x|`, `s_1 += v x`.
struct ThroughAndNet;

impl<T: Real> Terms<T, 1, 1, 2> for ThroughAndNet {
    #[inline(always)]
    fn add<E: Entry<T>>([v]: [E; 1], [x]: [E; 1], s: [E; 2]) -> [E; 2] {
        [v.abs().fma(x.abs(), s[0]), v.fma(x, s[1])]
    }
}

crate::simd!(fp64 body);
