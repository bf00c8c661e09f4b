//! `y_k <- b_k + A' x_k`, k = 0, 1, 2, where element e of `A'` is `a_e + (C phi)_e`: convection and
//! diffusion (thesis section 2.3, equation 2.10) by a matrix that is never stored; and what
//! [`predict`](super::predict) makes of it, `s_k <- u_k + c1 y_k + c0 o_k`, `v_k <- s_k - dt g_k`. C has a
//! row for each element of A: see [`Sell::by_element`](crate::sparse::Sell::by_element). 7 flops per entry
//! of A, 2 of C, 18 flops and 144 bytes per row (fp64; 48 less than with a kernel for the prediction), phi, C
//! and the repeated vectors as they are stored: of like cells next to nothing, else 8 bytes of each entry of
//! A and 24 of a row. A product that stores `A'` and one that reads it move 16 bytes more of each element:
//! 112 of a row of a box.

use super::elements::ELEMENTS;
use super::group::{Group, groups, slice_at};
use super::mat::{Products, parts, zero};
use super::repeats::repeated;
use super::stream::prefetch_second;
use super::{Flops, Kernel, Real, Rows, SLICE, Shape};

/// out y_k, s_k, v_k; own u_k (velocity: as x_k), o_k (y_k of the step before), g_k (pressure gradient);
/// repeated b_0, b_1, b_2, a (by element); gather x_0, x_1, x_2, phi; matrices A (without values), C; scalars
/// c1, c0, dt.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "convect",
        formula: "y_k <- b_k + (A + C phi) x_k; s_k <- u_k + c1 y_k + c0 o_k; v_k <- s_k - dt g_k",
        source: include_str!("../../cl/convect.cl"),
        shape: Shape {
            out: 9,
            own: 9,
            repeated: 4,
            gather: 4,
            mats: &[0, 1],
            by_element: true,
            scalars: 3,
            ..Shape::NONE
        },
        flops: Flops {
            row: 18.0,
            entry: [7.0, 2.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let [a, c] = r.mats;
    for i in 0..r.n {
        let mut s: [T; 3] = std::array::from_fn(|k| r.repeated[k].row(r.first + i));
        for (e, j) in a.row(r.first + i) {
            let mut t = T::ZERO;
            for (f, face) in c.row(e) {
                t = c.planes[0][f].fma(r.gather[3][face], t);
            }
            let v = r.repeated[3].row(e) + t;
            for k in 0..3 {
                s[k] = v.fma(r.gather[k][j], s[k]);
            }
        }
        let [c1, c0, dt] = [r.scalars[0], r.scalars[1], r.scalars[2]];
        for (k, y) in s.into_iter().enumerate() {
            let s = c0.fma(r.own[3 + k][i], c1.fma(y, r.own[k][i]));
            r.out[k][i] = y;
            r.out[3 + k][i] = s;
            r.out[6 + k][i] = (-dt).fma(r.own[6 + k][i], s);
        }
    }
}

/// Elements whose values are asked for ahead. `couloir run` of a box of 100^3, six steps by one thread, on a
/// Zen 4, this kernel's time without and with, in turns, when each element had a value of its own: 101, 110,
/// 100, 135 and 84, 97, 107, 117 ms.
const AHEAD: usize = 512;

/// Of a slice; groups lie in whole lines of the cache.
#[repr(align(64))]
struct Values<T>([T; ELEMENTS]);

/// Rows that are asked for ahead into the second cache, by AVX-512 and AVX2: of phi, of u where a row reaches
/// furthest ahead, and of what each row has for itself. The arithmetic of a slice keeps the core so long that few
/// of its next loads are under way. `couloir run` of a box of 100^3 on a Zen 4, this kernel's time a step by samples
/// of `perf record`, ms by one thread, two runs of trial builds each: 20.6, 20.0 without; slices of one step
/// written out, nothing asked for 19.8, 19.9; phi 256, 512, 1024, 2048 ahead 19.2, 17.6; 18.2, 17.2; 18.2,
/// 16.9; 20.0, 17.8; with the others, too, 15.9, 16.3. By AVX2 on a Zen 3, a trial program, 48^3, least of
/// seven runs 3.27 -> 3.00 (medians 3.96 -> 3.68), 100^3, of five, 24.8 -> 22.7 (36.5 -> 31.1).
const PHI_AHEAD: usize = 1024;
/// See [`PHI_AHEAD`].
const EDGE_AHEAD: usize = 512;
/// See [`PHI_AHEAD`].
const OWN_AHEAD: usize = 256;

/// Asks for `x[i .. i + WIDTH]`, where that pays: a group at a time, where the kernel reads the like, so that
/// this goes on over all of a slice. At once it takes all of what keeps account of loads under way, and what the
/// second cache has waits, too. A trial program, 100^3, ns a row and call, least of five runs and median of their
/// medians, in turns. Zen 3, one thread: all at the start of a slice, but phi by each of its slices, 22.2, 30.6;
/// what each row has for itself by groups 18.5, 23.4; u, too, 17.2, 24.4, in another series 18.8, 25.7; all 20.2,
/// 24.9. A Xeon (AVX-512), three runs, the last of these beside the first, without `ask_steps`: 10.3, 11.0
/// beside 11.9, 12.6; by two threads 5.2, 6.3 beside 6.1, 6.6.
#[inline(always)]
fn ask<T: Real>(x: &[T], i: usize) {
    if T::WIDE || T::AVX2 {
        prefetch_second(x, i);
    }
}

/// The values of a slice stay in the first cache.
#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([a, c], [b0, b1, b2, own]) = (r.mats, r.repeated);
    let [x0, x1, x2, phi, ..] = r.gather;
    let [c1, c0, minus_dt] = [r.scalars[0], r.scalars[1], -r.scalars[2]].map(Group::splat);
    let mut values = Values([T::ZERO; ELEMENTS]);
    for i in (0..r.n).step_by(SLICE) {
        // From a row, by its number in the range, to what is asked for of u.
        let edge = a.edge(r.first + i).unwrap_or(i);
        let edge = edge.wrapping_sub(i).wrapping_add(EDGE_AHEAD);
        let elements = a.elements(r.first + i);
        c.ask_steps(elements.start);
        for e in elements.clone().step_by(SLICE) {
            let constant = own.slice(e);
            // Most slices are such of a box, and what any slice needs takes longer than its sums.
            if !T::SOFT && let Some((factor, column)) = c.single(e) {
                let (factor, faces) = (Group::splat(factor), slice_at(phi, column));
                for g in groups() {
                    ask(phi, column + g + PHI_AHEAD);
                    let s = factor.fma(Group::load(faces, g), Group::ZERO);
                    (Group::load(constant, g) + s).store(&mut values.0, e - elements.start + g);
                }
                continue;
            }
            own.fetch(e + AHEAD);
            let sums = c.sums(Products, [0], [phi], e, zero());
            for (at, &[s]) in parts(e, &sums) {
                let v = Group::load(constant, at - e) + s;
                v.store(&mut values.0, at - elements.start);
            }
        }
        // SAFETY: the engine gives the kernel matrices of such slices alone (`fits` of split/call.rs), and
        // the rows that are read below are this slice's.
        let a = unsafe { a.with(&values.0, r.first + i) };
        let base = repeated([b0, b1, b2], r.first + i);
        let sums = a.sums(Products, [0], [x0, x1, x2], r.first + i, base);
        for (i, s) in parts(i, &sums) {
            for k in 0..3 {
                let y = s[k];
                let [u, o, g] = [0, 3, 6].map(|role| Group::load(r.own[role + k], i));
                ask(r.gather[k], i.wrapping_add(edge));
                ask(r.own[3 + k], i + OWN_AHEAD);
                ask(r.own[6 + k], i + OWN_AHEAD);
                let s = c0.fma(o, c1.fma(y, u));
                y.put(r.out[k], i, r.stream);
                s.put(r.out[3 + k], i, r.stream);
                minus_dt.fma(g, s).put(r.out[6 + k], i, r.stream);
            }
        }
    }
}

crate::simd!(fp64 body);
