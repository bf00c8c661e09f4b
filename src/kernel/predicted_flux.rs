//! `psi <- base + sum_k A_k u_k + c (A_3 p)`: the flux of a velocity through faces, and of the
//! pressure gradient that it was predicted with, to be replaced by the compact one. 8 flops and 36
//! bytes per entry, 2 flops and 8 bytes per row (fp64).

use super::group::Group;
use super::mat::{Entry, Terms, parts};
use super::repeats::repeated;
use super::{Flops, Kernel, Real, Rows, SLICE, Shape};

/// out psi; repeated base; gather u_0, u_1, u_2, p; matrix A (4 planes); scalars c.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "predicted_flux",
        formula: "psi <- base + sum_k A_k u_k + c (A_3 p)",
        source: include_str!("../../cl/predicted_flux.cl"),
        shape: Shape {
            out: 1,
            repeated: 1,
            gather: 4,
            mats: &[4],
            scalars: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 2.0,
            entry: [8.0, 0.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let ([a, ..], x) = (r.mats, r.gather);
    for i in 0..r.n {
        let (mut s, mut t) = (r.repeated[0].row(r.first + i), T::ZERO);
        for (e, j) in a.row(r.first + i) {
            for k in 0..3 {
                s = a.planes[k][e].fma(x[k][j], s);
            }
            t = a.planes[3][e].fma(x[3][j], t);
        }
        r.out[0][i] = r.scalars[0].fma(t, s);
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([a, ..], [base, ..]) = (r.mats, r.repeated);
    let [u0, u1, u2, p, ..] = r.gather;
    let c = Group::splat(r.scalars[0]);
    for i in (0..r.n).step_by(SLICE) {
        let mut start = repeated([base, base], r.first + i);
        for [_, t] in &mut start {
            *t = Group::ZERO;
        }
        let sums = a.sums(Both, [0, 1, 2, 3], [u0, u1, u2, p], r.first + i, start);
        for (i, &[s, t]) in parts(i, &sums) {
            c.fma(t, s).put(r.out[0], i, r.stream);
        }
    }
}

/// `s_0 += v_k x_k`, one k of three after the other, `s_1 += v_3 x_3`.
struct Both;

impl<T: Real> Terms<T, 4, 4, 2> for Both {
    #[inline(always)]
    fn add<E: Entry<T>>(v: [E; 4], x: [E; 4], [mut s, t]: [E; 2]) -> [E; 2] {
        for k in 0..3 {
            s = v[k].fma(x[k], s);
        }
        [s, v[3].fma(x[3], t)]
    }
}

crate::simd!(fp64 body);
