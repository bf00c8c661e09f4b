//! `p <- r + k q`, or `r` where k is 0, `r . r`: the first direction of a solve, or that which follows `q`
//! with `r` in the place of the residual it was made of (reliable updates). 4 flops and 24 bytes per row
//! (fp64).

use super::group::{Group, Lanes, groups, slice_at, slice_at_mut, slices};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out p; reductions r.r; own r, q; scalars k.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_begin",
        formula: "p <- r + k q; r . r",
        source: include_str!("../../cl/pcg_begin.cl"),
        shape: Shape {
            out: 1,
            reduce: &[Reduce::Sum],
            own: 2,
            scalars: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 4.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let k = r.scalars[0];
    for b in 0..r.n / BLOCK {
        r.partial[0][b] = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            let new = r.own[0][i];
            r.out[0][i] = if k == T::ZERO {
                new
            } else {
                k.fma(r.own[1][i], new)
            };
            r.partial[0][b] = r.partial[0][b] + new * new;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([new, old, ..], p) = (r.own, &mut *r.out[0]);
    let (k, anew) = (Group::splat(r.scalars[0]), r.scalars[0] == T::ZERO);
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            let (new, old, p) = (slice_at(new, i), slice_at(old, i), slice_at_mut(p, i));
            for g in groups() {
                let v = Group::load(new, g);
                (if anew { v } else { k.fma(Group::load(old, g), v) }).store(p, g);
                sum.add(g, v * v);
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

crate::simd!(body);
