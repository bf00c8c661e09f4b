//! `y_k <- b_k + A x_k`, k = 0, 1, 2: three right-hand sides in one pass over the matrix, 6 flops
//! and 12 bytes per entry, 72 bytes per row (fp64).

use super::group::{Group, WIDTH};
use super::{Flops, Kernel, Real, Rows, Shape};

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
            for e in a.entries(r.first + i) {
                s = a.planes[0][e].fma(r.gather[k][a.col[e] as usize], s);
            }
            r.out[k][i] = s;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (a, [x0, x1, x2, ..]) = (r.mats[0], r.gather);
    for i in (0..r.n).step_by(WIDTH) {
        let mut s0 = Group::load(r.own[0], i);
        let mut s1 = Group::load(r.own[1], i);
        let mut s2 = Group::load(r.own[2], i);
        for e in a.entries(r.first + i) {
            let v = a.value(0, e);
            s0 = v.fma(a.gather(x0, e), s0);
            s1 = v.fma(a.gather(x1, e), s1);
            s2 = v.fma(a.gather(x2, e), s2);
        }
        s0.store(r.out[0], i);
        s1.store(r.out[1], i);
        s2.store(r.out[2], i);
    }
}

crate::simd!(body);
