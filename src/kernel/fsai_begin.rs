//! `p <- G t + k q`, or `G t` where k is 0, `z <- 0`, `|G t|^2`: the start of a solve behind the factor G, or
//! the direction that follows `q` with another residual (as `pcg_begin`). 2 flops per entry and 4 per row;
//! 12 bytes per entry and 32 per row (fp64).

use super::group::{Group, Lanes, slices};
use super::mat::{Products, parts, zero};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out z, p; reductions |G t|^2; own q; gather t; matrix G; scalars k.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "fsai_begin",
        formula: "p <- G t + k q; z <- 0; |G t|^2",
        source: include_str!("../../cl/fsai_begin.cl"),
        shape: Shape {
            out: 2,
            reduce: &[Reduce::Sum],
            own: 1,
            gather: 1,
            mats: &[1],
            scalars: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 4.0,
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
            r.out[1][i] = if k == T::ZERO {
                s
            } else {
                k.fma(r.own[0][i], s)
            };
            r.out[0][i] = T::ZERO;
            r.partial[0][b] = r.partial[0][b] + s * s;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (g, t, q, [z, p, ..]) = (r.mats[0], r.gather[0], r.own[0], &mut r.out);
    let (k, anew) = (Group::splat(r.scalars[0]), r.scalars[0] == T::ZERO);
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            let sums = g.sums(Products, [0], [t], r.first + i, zero());
            for (i, &[s]) in parts(i, &sums) {
                (if anew { s } else { k.fma(Group::load(q, i), s) }).store(p, i);
                Group::ZERO.store(z, i);
                sum.add(i, s * s);
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

crate::simd!(fp64 body);
