//! `sum <- sum_c w_c (a_c . b_c)` of two vector fields: 7 flops and 56 bytes per row (fp64).

use super::rows::{chunk, reduce};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// reductions the sum; own w (volumes), a_0, a_1, a_2, b_0, b_1, b_2.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "energy",
        formula: "sum w (a . b)",
        source: include_str!("../../cl/energy.cl"),
        shape: Shape {
            reduce: &[Reduce::Sum],
            own: 7,
            ..Shape::NONE
        },
        flops: Flops {
            row: 7.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let [w, a0, a1, a2, b0, b1, b2, ..] = r.own;
    for (b, sum) in r.partial[0].iter_mut().enumerate() {
        *sum = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            *sum = *sum + w[i] * a2[i].fma(b2[i], a1[i].fma(b1[i], a0[i] * b0[i]));
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let own = r.own;
    reduce([Reduce::Sum], &mut r.partial, r.n, |i| {
        let [w, a0, a1, a2, b0, b1, b2] = std::array::from_fn(|o| chunk(own[o], i));
        [std::array::from_fn(|l| {
            w[l] * a2[l].fma(b2[l], a1[l].fma(b1[l], a0[l] * b0[l]))
        })]
    });
}

crate::simd!(body);
