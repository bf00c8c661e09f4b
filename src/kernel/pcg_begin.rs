//! `p <- r`, `r . r`: the first direction of a solve. 2 flops and 16 bytes per row (fp64).

use super::group::{Group, Lanes, groups};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out p; reductions r.r; own r.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_begin",
        formula: "p <- r; r . r",
        source: include_str!("../../cl/pcg_begin.cl"),
        shape: Shape {
            out: 1,
            reduce: &[Reduce::Sum],
            own: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 2.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for b in 0..r.n / BLOCK {
        r.partial[0][b] = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            r.out[0][i] = r.own[0][i];
            r.partial[0][b] = r.partial[0][b] + r.own[0][i] * r.own[0][i];
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (residual, p) = (r.own[0], &mut *r.out[0]);
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in groups(b) {
            let v = Group::load(residual, i);
            v.store(p, i);
            sum.add(i, v * v);
        }
        r.partial[0][b] = sum.sum();
    }
}

crate::simd!(body);
