//! `r <- G t`, `p <- r`, `z <- 0`, `r . r`: the start of a solve behind the factor G. 2 flops per
//! entry and 2 per row; 12 bytes per entry and 32 per row (fp64).

use super::group::{Group, Lanes, slices};
use super::mat::{Products, parts, zero};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out r, p, z; reductions r.r; gather t; matrix G.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "fsai_begin",
        formula: "r <- G t; p <- r; z <- 0; r . r",
        source: include_str!("../../cl/fsai_begin.cl"),
        shape: Shape {
            out: 3,
            reduce: &[Reduce::Sum],
            gather: 1,
            mats: &[1],
            ..Shape::NONE
        },
        flops: Flops {
            row: 2.0,
            entry: [2.0, 0.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let g = r.mats[0];
    for b in 0..r.n / BLOCK {
        r.partial[0][b] = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            let mut s = T::ZERO;
            for (e, j) in g.row(r.first + i) {
                s = g.planes[0][e].fma(r.gather[0][j], s);
            }
            (r.out[0][i], r.out[1][i], r.out[2][i]) = (s, s, T::ZERO);
            r.partial[0][b] = r.partial[0][b] + s * s;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (g, t, [out, p, z, ..]) = (r.mats[0], r.gather[0], &mut r.out);
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            let sums = g.sums(Products, [0], [t], r.first + i, zero());
            for (i, [s]) in parts(i, sums) {
                s.store(out, i);
                s.store(p, i);
                Group::ZERO.store(z, i);
                sum.add(i, s * s);
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

crate::simd!(fp64 body);
