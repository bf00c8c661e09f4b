//! `d <- y - d`, `e <- e - t`, `d . e`, `d . e0`, `d . e1`: how far a solve went, from what
//! [`guess_add`](super::guess_add) left, and A times that (see [`guess`](crate::linear::guess)).
//! 8 flops and 64 bytes per row (fp64).

use super::group::{Group, Lanes, groups, slice_at, slice_at_mut, slices};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// inout d, e; reductions d.e, d.e0, d.e1; own y, t, e0, e1.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "guess_learn",
        formula: "d <- y - d; e <- e - t; d . e; d . e0; d . e1",
        source: include_str!("../../cl/guess_learn.cl"),
        shape: Shape {
            inout: 2,
            reduce: &[Reduce::Sum; 3],
            own: 4,
            ..Shape::NONE
        },
        flops: Flops {
            row: 8.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for b in 0..r.n / BLOCK {
        (0..3).for_each(|k| r.partial[k][b] = T::ZERO);
        for i in b * BLOCK..(b + 1) * BLOCK {
            let d = r.own[0][i] - r.inout[0][i];
            let e = r.inout[1][i] - r.own[1][i];
            (r.inout[0][i], r.inout[1][i]) = (d, e);
            for (k, e) in [e, r.own[2][i], r.own[3][i]].into_iter().enumerate() {
                r.partial[k][b] = r.partial[k][b] + d * e;
            }
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([y, t, e0, e1, ..], [d, e, ..]) = (r.own, &mut r.inout);
    for block in 0..r.n / BLOCK {
        let mut sums = [Lanes::ZERO; 3];
        for i in slices(block) {
            let [y, t, e0, e1] = [y, t, e0, e1].map(|v| slice_at(v, i));
            let (d, e) = (slice_at_mut(d, i), slice_at_mut(e, i));
            for g in groups() {
                let v = Group::load(y, g) - Group::load(d, g);
                let w = Group::load(e, g) - Group::load(t, g);
                v.store(d, g);
                w.store(e, g);
                let rest = [w, Group::load(e0, g), Group::load(e1, g)];
                for k in 0..3 {
                    sums[k].add(g, v * rest[k]);
                }
            }
        }
        for (partial, sum) in r.partial.iter_mut().zip(sums) {
            partial[block] = sum.sum();
        }
    }
}

crate::simd!(body);
