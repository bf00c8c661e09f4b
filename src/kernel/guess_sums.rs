//! `t . d0`, `t . d1`, `t . d2`: what of a residual lies along steps of earlier solutions (see
//! [`guess`](crate::linear::guess)). 6 flops and 32 bytes per row (fp64).

use super::group::{Group, Lanes, groups, slice_at, slices};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// reductions t.d0, t.d1, t.d2; own t, d0, d1, d2.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "guess_sums",
        formula: "t . d0; t . d1; t . d2",
        source: include_str!("../../cl/guess_sums.cl"),
        shape: Shape {
            reduce: &[Reduce::Sum; 3],
            own: 4,
            ..Shape::NONE
        },
        flops: Flops {
            row: 6.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for b in 0..r.n / BLOCK {
        for (k, partial) in r.partial[..3].iter_mut().enumerate() {
            partial[b] = T::ZERO;
            for i in b * BLOCK..(b + 1) * BLOCK {
                partial[b] = partial[b] + r.own[0][i] * r.own[k + 1][i];
            }
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let [t, d0, d1, d2, ..] = r.own;
    for block in 0..r.n / BLOCK {
        let mut sums = [Lanes::ZERO; 3];
        for i in slices(block) {
            let (t, d) = (slice_at(t, i), [d0, d1, d2].map(|d| slice_at(d, i)));
            for g in groups() {
                let v = Group::load(t, g);
                for k in 0..3 {
                    sums[k].add(g, v * Group::load(d[k], g));
                }
            }
        }
        for (partial, sum) in r.partial.iter_mut().zip(sums) {
            partial[block] = sum.sum();
        }
    }
}

crate::simd!(body);
