//! `s <- c p + A x`, `p . s`, `s . s`: the product of an iteration. With x = p, c = 1 and A the
//! entries beside a unit diagonal: 2 flops per entry and 5 per row; 12 bytes per entry and 16 per
//! row (fp64).

use super::group::{Group, Lanes, WIDTH, slice_at, slice_at_mut, slices};
use super::mat::{GROUPS, Products, loaded};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use super::pcg_scalars::LENGTH;
use crate::node::BLOCK;

/// out s; reductions p.s, s.s; own p; gather x; matrix A; scalars c; state of the solve.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_product",
        formula: "s <- c p + A x; p . s; s . s",
        source: include_str!("../../cl/pcg_product.cl"),
        shape: Shape {
            out: 1,
            reduce: &[Reduce::Sum, Reduce::Sum],
            own: 1,
            gather: 1,
            mats: &[1],
            scalars: 1,
            state: LENGTH,
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
    let (a, c) = (r.mats[0], r.scalars[0]);
    for b in 0..r.n / BLOCK {
        (r.partial[0][b], r.partial[1][b]) = (T::ZERO, T::ZERO);
        for i in b * BLOCK..(b + 1) * BLOCK {
            let mut s = c * r.own[0][i];
            for (e, j) in a.row(r.first + i) {
                s = a.planes[0][e].fma(r.gather[0][j], s);
            }
            r.out[0][i] = s;
            r.partial[0][b] = r.partial[0][b] + r.own[0][i] * s;
            r.partial[1][b] = r.partial[1][b] + s * s;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (a, x, p, out) = (r.mats[0], r.gather[0], r.own[0], &mut *r.out[0]);
    let c = Group::splat(r.scalars[0]);
    for b in 0..r.n / BLOCK {
        let (mut ps, mut ss) = (Lanes::ZERO, Lanes::ZERO);
        for i in slices(b) {
            let (p, out) = (slice_at(p, i), slice_at_mut(out, i));
            let mut start = loaded([p], 0);
            for [s] in &mut start {
                *s = c * *s;
            }
            let sums = a.sums(Products, [0], [x], r.first + i, start);
            for g in 0..GROUPS {
                let (at, [s]) = (g * WIDTH, sums[g]);
                s.put(out, at, r.stream);
                ps.add(at, Group::load(p, at) * s);
                ss.add(at, s * s);
            }
        }
        r.partial[0][b] = ps.sum();
        r.partial[1][b] = ss.sum();
    }
}

crate::simd!(readings fp64 body);
