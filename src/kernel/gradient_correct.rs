//! `g_k <- base_k + A_k p + B_k q`, `u_k <- s_k - dt g_k`, k = 0, 1, 2: pressure gradient from cells
//! and nodes, and the velocity it corrects; `sum w |u|^2` and `max |u|^2` of that, as
//! [`kinetic`](super::kinetic) finds them. 6 flops and 28 bytes per entry, 14 flops and 72 bytes per
//! row (fp64).

use super::group::{Group, Lanes, slices};
use super::mat::{Products, parts};
use super::repeats::repeated;
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out u_0, u_1, u_2, g_0, g_1, g_2; reductions w u.u, max u.u; own s_0, s_1, s_2; repeated
/// base_0, base_1, base_2, w (volumes); gather p, q; matrices A (3 planes, with p), B (3 planes, with
/// q); scalars dt.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "gradient_correct",
        formula: "g_k <- base_k + A_k p + B_k q; u_k <- s_k - dt g_k; w . |u|^2, max |u|^2",
        source: include_str!("../../cl/gradient_correct.cl"),
        shape: Shape {
            out: 6,
            reduce: &[Reduce::Sum, Reduce::Max],
            own: 3,
            repeated: 4,
            gather: 2,
            mats: &[3, 3],
            scalars: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 14.0,
            entry: [6.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for k in 0..3 {
        for i in 0..r.n {
            let mut g = r.repeated[k].row(r.first + i);
            for (a, x) in r.mats.iter().zip(r.gather) {
                for (e, j) in a.row(r.first + i) {
                    g = a.planes[k][e].fma(x[j], g);
                }
            }
            r.out[3 + k][i] = g;
            r.out[k][i] = (-r.scalars[0]).fma(g, r.own[k][i]);
        }
    }
    for i in 0..r.n {
        let [a, b, c] = [0, 1, 2].map(|k| r.out[k][i]);
        let q = a.fma(a, b.fma(b, c * c));
        let (sum, max) = (r.partial[0][i / BLOCK], r.partial[1][i / BLOCK]);
        r.partial[0][i / BLOCK] = sum + r.repeated[3].row(r.first + i) * q;
        r.partial[1][i / BLOCK] = max.max(q);
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([a, b], [p, q, ..]) = (r.mats, r.gather);
    let [base0, base1, base2, w] = r.repeated;
    let minus_dt = Group::splat(-r.scalars[0]);
    for block in 0..r.n / BLOCK {
        let (mut sum, mut largest) = (Lanes::ZERO, Lanes::ZERO);
        for i in slices(block) {
            let base = repeated([base0, base1, base2], r.first + i);
            let (w, first) = (w.slice(r.first + i), i);
            let cells = a.sums(Products, [0, 1, 2], [p], r.first + i, base);
            let sums = b.sums(Products, [0, 1, 2], [q], r.first + i, cells);
            for (i, &gradient) in parts(i, &sums) {
                let mut u = gradient;
                for k in 0..3 {
                    gradient[k].put(r.out[3 + k], i, r.stream);
                    u[k] = minus_dt.fma(gradient[k], Group::load(r.own[k], i));
                    u[k].put(r.out[k], i, r.stream);
                }
                let square = u[0].fma(u[0], u[1].fma(u[1], u[2] * u[2]));
                sum.add(i, Group::load(w, i - first) * square);
                largest.maximum(i, square);
            }
        }
        r.partial[0][block] = sum.sum();
        r.partial[1][block] = largest.largest();
    }
}

crate::simd!(body);
