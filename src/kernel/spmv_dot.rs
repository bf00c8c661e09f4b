//! `q <- A p`, `sum <- p . q`: 2 flops per entry and 2 per row; 12 bytes per entry and 16 per row
//! (fp64).

use super::group::{Group, Lanes, groups};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out q; reductions p.q; own p; gather p (the same buffer); matrix A.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "spmv_dot",
        formula: "q <- A p; p . q",
        source: include_str!("../../cl/spmv_dot.cl"),
        shape: Shape {
            out: 1,
            reduce: &[Reduce::Sum],
            own: 1,
            gather: 1,
            mats: &[1],
            ..Shape::NONE
        },
        flops: Flops {
            row: 2.0,
            entry: [2.0, 0.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let a = r.mats[0];
    for b in 0..r.n / BLOCK {
        r.partial[0][b] = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            let mut s = T::ZERO;
            for e in a.entries(r.first + i) {
                s = a.planes[0][e].fma(r.gather[0][a.col[e] as usize], s);
            }
            r.out[0][i] = s;
            r.partial[0][b] = r.partial[0][b] + r.own[0][i] * s;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (a, x, p, q) = (r.mats[0], r.gather[0], r.own[0], &mut *r.out[0]);
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in groups(b) {
            let mut s = Group::ZERO;
            for e in a.entries(r.first + i) {
                s = a.value(0, e).fma(a.gather(x, e), s);
            }
            s.store(q, i);
            sum.add(i, Group::load(p, i) * s);
        }
        r.partial[0][b] = sum.sum();
    }
}

crate::simd!(body);
