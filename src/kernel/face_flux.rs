//! `psi <- base + sum_k A_k u_k + sum_k B_k n_k`: the flux of a velocity through faces, from cells
//! and nodes. 6 flops and 28 bytes per entry, 8 bytes per row (fp64).

use super::mat::{Entry, Terms, parts};
use super::repeats::repeated;
use super::{Flops, Kernel, Real, Rows, SLICE, Shape};

/// out psi; repeated base; gather u_0, u_1, u_2, n_0, n_1, n_2; matrices A (3 planes, with u), B (3
/// planes, with n).
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "face_flux",
        formula: "psi <- base + sum_k A_k u_k + sum_k B_k n_k",
        source: include_str!("../../cl/face_flux.cl"),
        shape: Shape {
            out: 1,
            repeated: 1,
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
        let mut s = r.repeated[0].row(r.first + i);
        for (a, x) in r.mats.iter().zip(r.gather.chunks(3)) {
            for (e, j) in a.row(r.first + i) {
                for (plane, x) in a.planes.iter().zip(x) {
                    s = plane[e].fma(x[j], s);
                }
            }
        }
        r.out[0][i] = s;
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([a, b], [u0, u1, u2, n0, n1, n2]) = (r.mats, r.gather);
    for i in (0..r.n).step_by(SLICE) {
        let base = repeated([r.repeated[0]], r.first + i);
        let cells = a.sums(Through, [0, 1, 2], [u0, u1, u2], r.first + i, base);
        let sums = b.sums(Through, [0, 1, 2], [n0, n1, n2], r.first + i, cells);
        for (i, &[s]) in parts(i, &sums) {
            s.put(r.out[0], i, r.stream);
        }
    }
}

/// `s += v_k x_k`, one k after the other.
struct Through;

impl<T: Real> Terms<T, 3, 3, 1> for Through {
    #[inline(always)]
    fn add<E: Entry<T>>(v: [E; 3], x: [E; 3], [mut s]: [E; 1]) -> [E; 1] {
        for k in 0..3 {
            s = v[k].fma(x[k], s);
        }
        [s]
    }
}

crate::simd!(fp64 body);
