//! `p <- d r + beta p`: 3 flops and 32 bytes per row (fp64).

use super::{Flops, Kernel, Real, Rows, Shape};

/// inout p; own r, d (inverse of the diagonal); scalars beta.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_direction",
        formula: "p <- d r + beta p",
        source: include_str!("../../cl/pcg_direction.cl"),
        shape: Shape {
            inout: 1,
            own: 2,
            scalars: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 3.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for i in 0..r.n {
        r.inout[0][i] = r.scalars[0].fma(r.inout[0][i], r.own[1][i] * r.own[0][i]);
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let beta = r.scalars[0];
    for ((p, &r), &d) in r.inout[0].iter_mut().zip(r.own[0]).zip(r.own[1]) {
        *p = beta.fma(*p, d * r);
    }
}

crate::simd!(body);
