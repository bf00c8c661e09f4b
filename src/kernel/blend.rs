//! `psi <- psi + kappa (phi - old)`, `kappa = max(0, 1 - w (a + b w))`: 9 flops and 40 bytes per
//! row (fp64).

use super::{Flops, Kernel, Real, Rows, Shape};

/// inout psi; own phi, old, w (inverse of a length); scalars a, b.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "blend",
        formula: "psi <- psi + max(0, 1 - w (a + b w)) (phi - old)",
        source: include_str!("../../cl/blend.cl"),
        shape: Shape {
            inout: 1,
            own: 3,
            scalars: 2,
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
    let [a, b] = [r.scalars[0], r.scalars[1]];
    for i in 0..r.n {
        let w = r.own[2][i];
        let kappa = T::ZERO.max((-w).fma(b.fma(w, a), T::of(1.0)));
        r.inout[0][i] = kappa.fma(r.own[0][i] - r.own[1][i], r.inout[0][i]);
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let [a, b] = [r.scalars[0], r.scalars[1]];
    let inputs = r.own[0].iter().zip(r.own[1]).zip(r.own[2]);
    for (psi, ((&phi, &old), &w)) in r.inout[0].iter_mut().zip(inputs) {
        let kappa = T::ZERO.max((-w).fma(b.fma(w, a), T::of(1.0)));
        *psi = kappa.fma(phi - old, *psi);
    }
}

crate::simd!(fp64 body);
