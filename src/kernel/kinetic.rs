//! `sum w |u|^2` and `max |u|^2`: 8 flops and 24 bytes per row (fp64).

use super::group::{Group, Lanes, groups, slice_at, slices};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

const KINDS: [Reduce; 2] = [Reduce::Sum, Reduce::Max];

/// reductions w u.u, max u.u; own u0, u1, u2; repeated w.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "kinetic",
        formula: "w . |u|^2, max |u|^2",
        source: include_str!("../../cl/kinetic.cl"),
        shape: Shape {
            reduce: &KINDS,
            own: 3,
            repeated: 1,
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
    let [a, b, c, ..] = r.own;
    for i in 0..r.n {
        let q = a[i].fma(a[i], b[i].fma(b[i], c[i] * c[i]));
        let (sum, max) = (r.partial[0][i / BLOCK], r.partial[1][i / BLOCK]);
        r.partial[0][i / BLOCK] = sum + r.repeated[0].row(r.first + i) * q;
        r.partial[1][i / BLOCK] = max.max(q);
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([a, b, c, ..], [w, ..]) = (r.own, r.repeated);
    for block in 0..r.n / BLOCK {
        let (mut sum, mut largest) = (Lanes::ZERO, Lanes::ZERO);
        for i in slices(block) {
            let ([a, b, c], w) = ([a, b, c].map(|v| slice_at(v, i)), w.slice(r.first + i));
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
