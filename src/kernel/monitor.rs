//! Courant rates `rate_c = w_c/2 sum_f |m_cf phi_f|` and divergences `w_c |sum_f m_cf phi_f|` of the
//! cells, for the log: 4 flops and 12 bytes per entry, 4 flops per row (fp64).

use super::group::{Group, Lanes, slices};
use super::mat::{Entry, Terms, parts, zero};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
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
            entry: [4.0, 0.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let m = r.mats[0];
    for b in 0..r.n / BLOCK {
        let [mut sum, mut largest, mut residual, mut divergence] = [T::ZERO; 4];
        for i in b * BLOCK..(b + 1) * BLOCK {
            let (mut through, mut net) = (T::ZERO, T::ZERO);
            for (e, j) in m.row(r.first + i) {
                let (v, phi) = (m.planes[0][e], r.gather[0][j]);
                through = v.abs().fma(phi.abs(), through);
                net = v.fma(phi, net);
            }
            let w = r.repeated[0].row(r.first + i);
            let rate = w * (T::of(0.5) * through);
            sum = sum + rate;
            largest = largest.max(rate);
            residual = residual + net.abs();
            divergence = divergence.max(w * net.abs());
        }
        r.partial[0][b] = sum;
        r.partial[1][b] = largest;
        r.partial[2][b] = residual;
        r.partial[3][b] = divergence;
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (m, phi, w) = (r.mats[0], r.gather[0], r.repeated[0]);
    let half = Group::splat(T::of(0.5));
    for b in 0..r.n / BLOCK {
        let (mut sum, mut largest) = (Lanes::ZERO, Lanes::ZERO);
        let (mut residual, mut divergence) = (Lanes::ZERO, Lanes::ZERO);
        for i in slices(b) {
            let sums = m.sums(ThroughAndNet, [0], [phi], r.first + i, zero());
            let w = w.slice(r.first + i);
            for (g, &[through, net]) in parts(0, &sums) {
                let w = Group::load(w, g);
                let rate = w * (half * through);
                sum.add(g, rate);
                largest.maximum(g, rate);
                residual.add(g, net.abs());
                divergence.maximum(g, w * net.abs());
            }
        }
        r.partial[0][b] = sum.sum();
        r.partial[1][b] = largest.largest();
        r.partial[2][b] = residual.sum();
        r.partial[3][b] = divergence.largest();
    }
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
