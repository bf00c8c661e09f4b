//! `y_k <- b_k + A x_k`, k = 0, 1, 2: three right-hand sides in one pass over the matrix, 6 flops
//! and 12 bytes per entry, 72 bytes per row (fp64).

use super::mat::{Products, loaded, parts};
use super::{Flops, Kernel, Real, Rows, SLICE, Shape};

/// out y_0, y_1, y_2; own b_0, b_1, b_2; gather x_0, x_1, x_2; matrix A.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "gspmv",
        formula: "y_k <- b_k + A x_k",
        source: include_str!("../../cl/gspmv.cl"),
        shape: Shape {
            out: 3,
            own: 3,
            gather: 3,
            mats: &[1],
            ..Shape::NONE
        },
        flops: Flops {
            row: 0.0,
            entry: [6.0, 0.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let a = r.mats[0];
    for k in 0..3 {
        for i in 0..r.n {
            let mut s = r.own[k][i];
            for (e, j) in a.row(r.first + i) {
                s = a.planes[0][e].fma(r.gather[k][j], s);
            }
            r.out[k][i] = s;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (a, [x0, x1, x2, ..], [b0, b1, b2, ..]) = (r.mats[0], r.gather, r.own);
    for i in (0..r.n).step_by(SLICE) {
        let base = loaded([b0, b1, b2], i);
        let sums = a.sums(Products, [0], [x0, x1, x2], r.first + i, base);
        for (i, s) in parts(i, &sums) {
            for k in 0..3 {
                s[k].put(r.out[k], i, r.stream);
            }
        }
    }
}

crate::simd!(readings fp64 body);
