//! `g_k <- base_k + A_k p + B_k q`, `u_k <- s_k - dt g_k`, k = 0, 1, 2: pressure gradient from cells
//! and nodes, and the velocity it corrects. 6 flops and 28 bytes per entry, 6 flops and 96 bytes
//! per row (fp64).

use super::group::Group;
use super::mat::{Products, loaded, parts};
use super::{Flops, Kernel, Real, Rows, SLICE, Shape};

/// out u_0, u_1, u_2, g_0, g_1, g_2; own s_0, s_1, s_2, base_0, base_1, base_2; gather p, q;
/// matrices A (3 planes, with p), B (3 planes, with q); scalars dt.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "gradient_correct",
        formula: "g_k <- base_k + A_k p + B_k q; u_k <- s_k - dt g_k",
        source: include_str!("../../cl/gradient_correct.cl"),
        shape: Shape {
            out: 6,
            own: 6,
            gather: 2,
            mats: &[3, 3],
            scalars: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 6.0,
            entry: [6.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for k in 0..3 {
        for i in 0..r.n {
            let mut g = r.own[3 + k][i];
            for (a, x) in r.mats.iter().zip(r.gather) {
                for (e, j) in a.row(r.first + i) {
                    g = a.planes[k][e].fma(x[j], g);
                }
            }
            r.out[3 + k][i] = g;
            r.out[k][i] = (-r.scalars[0]).fma(g, r.own[k][i]);
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([a, b], [p, q, ..]) = (r.mats, r.gather);
    let [_, _, _, base0, base1, base2, ..] = r.own;
    let minus_dt = Group::splat(-r.scalars[0]);
    for i in (0..r.n).step_by(SLICE) {
        let base = loaded([base0, base1, base2], i);
        let cells = a.sums(Products, [0, 1, 2], [p], r.first + i, base);
        let sums = b.sums(Products, [0, 1, 2], [q], r.first + i, cells);
        for (i, gradient) in parts(i, sums) {
            for (k, g) in gradient.into_iter().enumerate() {
                g.put(r.out[3 + k], i, r.stream);
                let u = minus_dt.fma(g, Group::load(r.own[k], i));
                u.put(r.out[k], i, r.stream);
            }
        }
    }
}

crate::simd!(body);
