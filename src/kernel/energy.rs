//! `sum <- sum_c w_c (a_c . b_c)` of two vector fields: 7 flops and 48 bytes per row (fp64).

use super::group::{Group, Lanes, groups, slice_at, slices};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// reductions the sum; own a_0, a_1, a_2, b_0, b_1, b_2; repeated w (volumes).
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "energy",
        formula: "sum w (a . b)",
        source: include_str!("../../cl/energy.cl"),
        shape: Shape {
            reduce: &[Reduce::Sum],
            own: 6,
            repeated: 1,
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
    let [a0, a1, a2, b0, b1, b2, ..] = r.own;
    for (b, sum) in r.partial[0].iter_mut().enumerate() {
        *sum = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            *sum = *sum + r.repeated[0].row(r.first + i) * a2[i].fma(b2[i], a1[i].fma(b1[i], a0[i] * b0[i]));
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([a0, a1, a2, b0, b1, b2, ..], [w, ..]) = (r.own, r.repeated);
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            let w = w.slice(r.first + i);
            let [a0, a1, a2] = [slice_at(a0, i), slice_at(a1, i), slice_at(a2, i)];
            let [b0, b1, b2] = [slice_at(b0, i), slice_at(b1, i), slice_at(b2, i)];
            for g in groups() {
                let t = Group::load(a0, g) * Group::load(b0, g);
                let t = Group::load(a1, g).fma(Group::load(b1, g), t);
                let t = Group::load(a2, g).fma(Group::load(b2, g), t);
                sum.add(g, Group::load(w, g) * t);
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

crate::simd!(fp64 body);
