//! `y <- a (A x)`: 2 flops per entry and 1 per row; 12 bytes per entry and 16 per row (fp64).

use super::group::Group;
use super::mat::{Products, parts, zero};
use super::{Flops, Kernel, Real, Rows, SLICE, Shape};

/// out y; gather x; matrix A; scalars a.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "spmv_times",
        formula: "y <- a (A x)",
        source: include_str!("../../cl/spmv_times.cl"),
        shape: Shape {
            out: 1,
            gather: 1,
            mats: &[1],
            scalars: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 1.0,
            entry: [2.0, 0.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let a = r.mats[0];
    for i in 0..r.n {
        let mut s = T::ZERO;
        for (e, j) in a.row(r.first + i) {
            s = a.planes[0][e].fma(r.gather[0][j], s);
        }
        r.out[0][i] = r.scalars[0] * s;
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (a, x, y) = (r.mats[0], r.gather[0], &mut *r.out[0]);
    let factor = Group::splat(r.scalars[0]);
    for i in (0..r.n).step_by(SLICE) {
        let sums = a.sums(Products, [0], [x], r.first + i, zero());
        for (i, &[s]) in parts(i, &sums) {
            (factor * s).put(y, i, r.stream);
        }
    }
}

crate::simd!(readings fp64 body);
