//! `psi <- base + sum_k A_k u_k + sum_k B_k n_k`: the flux of a velocity through faces, from cells
//! and nodes. 6 flops and 28 bytes per entry, 16 bytes per row (fp64).

use super::group::{Group, WIDTH};
use super::rows::Mat;
use super::{Flops, Kernel, Real, Rows, Shape};

/// out psi; own base; gather u_0, u_1, u_2, n_0, n_1, n_2; matrices A (3 planes, with u), B (3
/// planes, with n).
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "face_flux",
        formula: "psi <- base + sum_k A_k u_k + sum_k B_k n_k",
        source: include_str!("../../cl/face_flux.cl"),
        shape: Shape {
            out: 1,
            own: 1,
            gather: 6,
            mats: &[3, 3],
            ..Shape::NONE
        },
        flops: Flops {
            row: 0.0,
            entry: [6.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for i in 0..r.n {
        let mut s = r.own[0][i];
        for (a, x) in r.mats.iter().zip(r.gather.chunks(3)) {
            for e in a.entries(r.first + i) {
                for (plane, x) in a.planes.iter().zip(x) {
                    s = plane[e].fma(x[a.col[e] as usize], s);
                }
            }
        }
        r.out[0][i] = s;
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([a, b], [u0, u1, u2, n0, n1, n2]) = (r.mats, r.gather);
    for i in (0..r.n).step_by(WIDTH) {
        let base = Group::load(r.own[0], i);
        let cells = products(&a, [u0, u1, u2], r.first + i, base);
        products(&b, [n0, n1, n2], r.first + i, cells).store(r.out[0], i);
    }
}

/// `s` plus plane k of `m` times `x[k]` for each k, for the rows from the global row `row` on.
#[inline(always)]
fn products<T: Real>(m: &Mat<'_, T>, x: [&[T]; 3], row: usize, mut s: Group<T>) -> Group<T> {
    for e in m.entries(row) {
        for (k, x) in x.into_iter().enumerate() {
            s = m.value(k, e).fma(m.gather(x, e), s);
        }
    }
    s
}

crate::simd!(body);
