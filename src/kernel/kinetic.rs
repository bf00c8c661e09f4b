//! `sum w |u|^2` and `max |u|^2`: 8 flops and 32 bytes per row (fp64).

use super::group::{Group, Lanes, groups, slice_at, slices};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

const KINDS: [Reduce; 2] = [Reduce::Sum, Reduce::Max];

/// reductions w u.u, max u.u; own w u0 u1 u2.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "kinetic",
        formula: "w . |u|^2, max |u|^2",
        source: include_str!("../../cl/kinetic.cl"),
        shape: Shape {
            reduce: &KINDS,
            own: 4,
            ..Shape::NONE
        },
        flops: Flops {
            row: 8.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let [w, a, b, c, ..] = r.own;
    for i in 0..r.n {
        let q = a[i].fma(a[i], b[i].fma(b[i], c[i] * c[i]));
        let (sum, max) = (r.partial[0][i / BLOCK], r.partial[1][i / BLOCK]);
        r.partial[0][i / BLOCK] = sum + w[i] * q;
        r.partial[1][i / BLOCK] = max.max(q);
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let [w, a, b, c, ..] = r.own;
    for block in 0..r.n / BLOCK {
        let (mut sum, mut largest) = (Lanes::ZERO, Lanes::ZERO);
        for i in slices(block) {
            let [w, a, b, c] = [slice_at(w, i), slice_at(a, i), slice_at(b, i), slice_at(c, i)];
            for g in groups() {
                let [a, b, c] = [Group::load(a, g), Group::load(b, g), Group::load(c, g)];
                let q = a.fma(a, b.fma(b, c * c));
                sum.add(g, Group::load(w, g) * q);
                largest.maximum(g, q);
            }
        }
        r.partial[0][block] = sum.sum();
        r.partial[1][block] = largest.largest();
    }
}

crate::simd!(fp64 body);
