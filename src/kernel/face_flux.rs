//! `psi <- base + sum_k A_k u_k + sum_k B_k n_k`: the flux of a velocity through faces, from cells
//! and nodes. 6 flops and 28 bytes per entry, 16 bytes per row (fp64).

use super::rows::{Mat, chunk, chunk_mut, each, fma};
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
    let (base, first) = (r.own[0], r.first);
    let [psi, ..] = &mut r.out;
    each(r.n, |i| {
        let mut s = *chunk(base, i);
        let mut add = |m: &Mat<'_, T>, x: [&[T]; 3]| {
            for e in m.entries(first + i) {
                for (k, x) in x.into_iter().enumerate() {
                    s = fma(m.values(k, e), &m.gather(x, e), &s);
                }
            }
        };
        add(&a, [u0, u1, u2]);
        add(&b, [n0, n1, n2]);
        *chunk_mut(psi, i) = s;
    });
}

crate::simd!(body);
