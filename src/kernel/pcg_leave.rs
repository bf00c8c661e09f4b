//! `x <- s y`: out of the system scaled to unit diagonal. 1 flop and 24 bytes per row (fp64).

use super::group::{Group, groups};
use super::{Flops, Kernel, Real, Rows, Shape};
use crate::node::BLOCK;

/// out x; own y, s.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_leave",
        formula: "x <- s y",
        source: include_str!("../../cl/pcg_leave.cl"),
        shape: Shape {
            out: 1,
            own: 2,
            ..Shape::NONE
        },
        flops: Flops {
            row: 1.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for i in 0..r.n {
        r.out[0][i] = r.own[1][i] * r.own[0][i];
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([y, s, ..], x) = (r.own, &mut *r.out[0]);
    for b in 0..r.n / BLOCK {
        for i in groups(b) {
            (Group::load(s, i) * Group::load(y, i)).store(x, i);
        }
    }
}

crate::simd!(body);
