//! `F_k <- base_k - phi (a_0k + b_0k) + theta |phi| (a_1k + b_1k) + nu (a_2k + b_2k)` with `a_pk` =
//! plane p of A times `u_k`, `b_pk` = plane p of B times `n_k`, k = 0, 1, 2: convection, upwinding
//! and diffusion through faces. 18 flops and 28 bytes per entry, 38 flops and 32 bytes per row
//! (fp64).

use super::group::{Group, Lanes, WIDTH, slices};
use super::mat::{GROUPS, Products};
use super::slice::Slice;
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out F_0, F_1, F_2; reductions sum of `phi sum_k b_0k a_1k`, sum of `|phi| sum_k (a_1k + b_1k)
/// a_1k`; own phi; repeated base_0, base_1, base_2; gather u_0, u_1, u_2, n_0, n_1, n_2; matrices A (with
/// u), B (with n), planes 0 mean, 1 jump, 2 diffusion; scalars theta, nu.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "momentum_flux",
        formula: "F_k <- base_k - phi (A_0 u_k + B_0 n_k) + theta |phi| (A_1 u_k + B_1 n_k) + nu (A_2 u_k + B_2 n_k)",
        source: include_str!("../../cl/momentum_flux.cl"),
        shape: Shape {
            out: 3,
            reduce: &[Reduce::Sum, Reduce::Sum],
            own: 1,
            repeated: 3,
            gather: 6,
            mats: &[3, 3],
            scalars: 2,
            ..Shape::NONE
        },
        flops: Flops {
            row: 38.0,
            entry: [18.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let [theta, nu] = [r.scalars[0], r.scalars[1]];
    for block in 0..r.n / BLOCK {
        let (mut sum0, mut sum1) = (T::ZERO, T::ZERO);
        for i in block * BLOCK..(block + 1) * BLOCK {
            let phi = r.own[0][i];
            let (mut skew, mut jump) = (T::ZERO, T::ZERO);
            for k in 0..3 {
                // [matrix][plane]
                let mut c = [[T::ZERO; 3]; 2];
                for (m, a) in r.mats.iter().enumerate() {
                    // Diffusion is one sum over both matrices.
                    c[m][2] = c[0][2];
                    for (e, j) in a.row(r.first + i) {
                        let x = r.gather[3 * m + k][j];
                        for (c, plane) in c[m].iter_mut().zip(a.planes) {
                            *c = plane[e].fma(x, *c);
                        }
                    }
                }
                let [[a0, a1, _], [b0, b1, diffusion]] = c;
                let convection = (-phi).fma(a0 + b0, r.repeated[k].row(r.first + i));
                let upwind = (theta * phi.abs()).fma(a1 + b1, convection);
                r.out[k][i] = nu.fma(diffusion, upwind);
                skew = b0.fma(a1, skew);
                jump = (a1 + b1).fma(a1, jump);
            }
            sum0 = sum0 + phi * skew;
            sum1 = sum1 + phi.abs() * jump;
        }
        r.partial[0][block] = sum0;
        r.partial[1][block] = sum1;
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([a, b], [u0, u1, u2, n0, n1, n2], own) = (r.mats, r.gather, r.own);
    let [base0, base1, base2, ..] = r.repeated;
    let (theta, nu) = (Group::splat(r.scalars[0]), Group::splat(r.scalars[1]));
    let planes = [0, 1, 2];
    for block in 0..r.n / BLOCK {
        let (mut skews, mut jumps) = (Lanes::ZERO, Lanes::ZERO);
        for i in slices(block) {
            let (a, b) = (Slice::new(a, [u0, u1, u2], r.first + i), Slice::new(b, [n0, n1, n2], r.first + i));
            let base = [base0, base1, base2].map(|b| b.slice(r.first + i));
            for g in 0..GROUPS {
                let i = i + g * WIDTH;
                let phi = Group::load(own[0], i);
                let (mut skew, mut jump) = (Group::ZERO, Group::ZERO);
                // One component after the other, for the sake of registers; values come from the
                // first-level cache the second and third time.
                for k in 0..3 {
                    let [a0, a1, d] = a.group(Products, planes, [k], g, [Group::ZERO; 3]);
                    let [b0, b1, d] = b.group(Products, planes, [k], g, [Group::ZERO, Group::ZERO, d]);
                    let f = (-phi).fma(a0 + b0, Group::load(base[k], g * WIDTH));
                    let f = (theta * phi.abs()).fma(a1 + b1, f);
                    nu.fma(d, f).put(r.out[k], i, r.stream);
                    skew = b0.fma(a1, skew);
                    jump = (a1 + b1).fma(a1, jump);
                }
                skews.add(i, phi * skew);
                jumps.add(i, phi.abs() * jump);
            }
        }
        r.partial[0][block] = skews.sum();
        r.partial[1][block] = jumps.sum();
    }
}

crate::simd!(fp64 body);
