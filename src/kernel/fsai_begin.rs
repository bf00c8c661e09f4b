//! `p <- G t + k (p - r)`, or `G t` where k is 0, `r <- G t`, `z <- 0`, `r . r`: the start of a solve
//! behind the factor G, or its old direction with another residual (as `pcg_begin`). 2 flops per
//! entry and 5 per row; 12 bytes per entry and 48 per row (fp64).

use super::group::{Group, Lanes, slices};
use super::mat::{Products, parts, zero};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out z; inout r, p; reductions r.r; gather t; matrix G; scalars k.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "fsai_begin",
        formula: "p <- G t + k (p - r); r <- G t; z <- 0; r . r",
        source: include_str!("../../cl/fsai_begin.cl"),
        shape: Shape {
            out: 1,
            inout: 2,
            reduce: &[Reduce::Sum],
            gather: 1,
            mats: &[1],
            scalars: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 5.0,
            entry: [2.0, 0.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let (g, k) = (r.mats[0], r.scalars[0]);
    for b in 0..r.n / BLOCK {
        r.partial[0][b] = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            let mut s = T::ZERO;
            for (e, j) in g.row(r.first + i) {
                s = g.planes[0][e].fma(r.gather[0][j], s);
            }
            let (old, p) = (r.inout[0][i], r.inout[1][i]);
            r.inout[1][i] = if k == T::ZERO {
                s
            } else {
                k.fma(p - old, s)
            };
            (r.inout[0][i], r.out[0][i]) = (s, T::ZERO);
            r.partial[0][b] = r.partial[0][b] + s * s;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (g, t, z, [residual, p, ..]) = (r.mats[0], r.gather[0], &mut *r.out[0], &mut r.inout);
    let (k, anew) = (Group::splat(r.scalars[0]), r.scalars[0] == T::ZERO);
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            let sums = g.sums(Products, [0], [t], r.first + i, zero());
            for (i, [s]) in parts(i, sums) {
                let kept = k.fma(Group::load(p, i) - Group::load(residual, i), s);
                (if anew { s } else { kept }).store(p, i);
                s.store(residual, i);
                Group::ZERO.store(z, i);
                sum.add(i, s * s);
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

crate::simd!(fp64 body);
