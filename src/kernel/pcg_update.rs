//! `x <- x + alpha p`, `r <- r - alpha q`, `r . d r` and `r . r` of the new r: 9 flops and 56 bytes
//! per row (fp64).

use super::group::{Group, Lanes, groups};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// inout x, r; reductions r.z with z = d r, r.r; own p, q, d (inverse of the diagonal); scalars
/// alpha.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_update",
        formula: "x <- x + alpha p; r <- r - alpha q; r . d r; r . r",
        source: include_str!("../../cl/pcg_update.cl"),
        shape: Shape {
            inout: 2,
            reduce: &[Reduce::Sum, Reduce::Sum],
            own: 3,
            scalars: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 9.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let alpha = r.scalars[0];
    for b in 0..r.n / BLOCK {
        let (mut rz, mut rr) = (T::ZERO, T::ZERO);
        for i in b * BLOCK..(b + 1) * BLOCK {
            r.inout[0][i] = alpha.fma(r.own[0][i], r.inout[0][i]);
            let new = (-alpha).fma(r.own[1][i], r.inout[1][i]);
            r.inout[1][i] = new;
            rz = rz + new * (r.own[2][i] * new);
            rr = rr + new * new;
        }
        r.partial[0][b] = rz;
        r.partial[1][b] = rr;
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([p, q, d, ..], [x, residual, ..]) = (r.own, &mut r.inout);
    let (plus, minus) = (Group::splat(r.scalars[0]), Group::splat(-r.scalars[0]));
    for b in 0..r.n / BLOCK {
        let (mut rz, mut rr) = (Lanes::ZERO, Lanes::ZERO);
        for i in groups(b) {
            plus.fma(Group::load(p, i), Group::load(x, i)).store(x, i);
            let new = minus.fma(Group::load(q, i), Group::load(residual, i));
            new.store(residual, i);
            rz.add(i, new * (Group::load(d, i) * new));
            rr.add(i, new * new);
        }
        r.partial[0][b] = rz.sum();
        r.partial[1][b] = rr.sum();
    }
}

crate::simd!(body);
