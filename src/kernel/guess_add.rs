//! `y <- y + c d + c0 d0 + c1 d1`, `t <- t - c e - c0 e0 - c1 e1`, `|k t|^2` and `|t|^2`; `d` and `e` become
//! what `y` and `t` were: a solve's first guess, its residual, and what they are to be compared with at
//! its end (see [`guess`](crate::linear::guess)). 17 flops and 96 bytes per row (fp64). The sums alone
//! where the state says so.

use super::group::{Group, Lanes, groups, slice_at, slice_at_mut, slices};
use super::guess_least::{ADDS, LENGTH};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// inout y, t, d, e; reductions k t . k t, t . t; own d0, e0, d1, e1; repeated k; state c0, c1, c, whether to add.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "guess_add",
        formula: "y <- y + sum c d; t <- t - sum c e; d, e <- y, t before; |k t|^2, |t|^2",
        source: include_str!("../../cl/guess_add.cl"),
        shape: Shape {
            inout: 4,
            reduce: &[Reduce::Sum; 2],
            own: 4,
            repeated: 1,
            state: LENGTH,
            ..Shape::NONE
        },
        flops: Flops {
            row: 17.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let [c0, c1, c] = [0, 1, 2].map(|k| r.state[k]);
    let adds = r.state[ADDS] != T::ZERO;
    for b in 0..r.n / BLOCK {
        (r.partial[0][b], r.partial[1][b]) = (T::ZERO, T::ZERO);
        for i in b * BLOCK..(b + 1) * BLOCK {
            let [y, t, d, e] = [0, 1, 2, 3].map(|k| r.inout[k][i]);
            let [d0, e0, d1, e1] = [0, 1, 2, 3].map(|k| r.own[k][i]);
            let k = r.repeated[0].row(r.first + i);
            if adds {
                r.inout[0][i] = c.fma(d, c0.fma(d0, c1.fma(d1, y)));
                r.inout[1][i] = (-c).fma(e, (-c0).fma(e0, (-c1).fma(e1, t)));
                (r.inout[2][i], r.inout[3][i]) = (y, t);
            }
            let t = r.inout[1][i];
            let q = k * t;
            r.partial[0][b] = r.partial[0][b] + q * q;
            r.partial[1][b] = r.partial[1][b] + t * t;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([d0, e0, d1, e1, ..], [k, ..]) = (r.own, r.repeated);
    let [y, t, d, e] = &mut r.inout;
    let c = [2, 0, 1].map(|k| Group::splat(r.state[k]));
    let minus = [2, 0, 1].map(|k| Group::splat(-r.state[k]));
    let adds = r.state[ADDS] != T::ZERO;
    for block in 0..r.n / BLOCK {
        let (mut sum, mut rr) = (Lanes::ZERO, Lanes::ZERO);
        for i in slices(block) {
            let [d0, e0, d1, e1] = [d0, e0, d1, e1].map(|v| slice_at(v, i));
            let k = k.slice(r.first + i);
            let (y, t) = (slice_at_mut(y, i), slice_at_mut(t, i));
            let (d, e) = (slice_at_mut(d, i), slice_at_mut(e, i));
            for g in groups() {
                let mut next = Group::load(t, g);
                if adds {
                    let (v, w) = (Group::load(y, g), next);
                    next = c[1].fma(Group::load(d0, g), c[2].fma(Group::load(d1, g), v));
                    c[0].fma(Group::load(d, g), next).store(y, g);
                    next = minus[1].fma(Group::load(e0, g), minus[2].fma(Group::load(e1, g), w));
                    next = minus[0].fma(Group::load(e, g), next);
                    next.store(t, g);
                    v.store(d, g);
                    w.store(e, g);
                }
                let q = Group::load(k, g) * next;
                sum.add(g, q * q);
                rr.add(g, next * next);
            }
        }
        r.partial[0][block] = sum.sum();
        r.partial[1][block] = rr.sum();
    }
}

crate::simd!(body);
