//! `x <- x + alpha p`, `r <- r - alpha q`, `r . d r` and `r . r` of the new r: 9 flops and 56 bytes
//! per row (fp64).

use super::rows::{WIDTH, chunk, chunk_mut, fma, reduce};
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
    let ([p, q, d, ..], alpha) = (r.own, r.scalars[0]);
    let [x, residual, ..] = &mut r.inout;
    let (plus, minus) = ([alpha; WIDTH], [-alpha; WIDTH]);
    reduce([Reduce::Sum; 2], &mut r.partial, r.n, |i| {
        let x = chunk_mut(x, i);
        *x = fma(&plus, chunk(p, i), x);
        let old = chunk_mut(residual, i);
        let new = fma(&minus, chunk(q, i), old);
        *old = new;
        let d = chunk(d, i);
        [
            std::array::from_fn(|l| new[l] * (d[l] * new[l])),
            std::array::from_fn(|l| new[l] * new[l]),
        ]
    });
}

crate::simd!(body);
