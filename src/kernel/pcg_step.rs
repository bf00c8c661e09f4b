//! `y <- y + alpha p`, `r <- r - alpha s`, `o <- r + beta p`, `r . r`, `o` the direction before `p`: the
//! pointwise half of an iteration, after which `o` and `p` change places. 8 flops of the method and 48
//! bytes per row (fp64), or 32 where `y` is left to the next step, which then adds both: see
//! [`pcg_scalars`](super::pcg_scalars).
//!
//! `r` is in no vector: it is `p - kept o`, in the beginning and in the sum. In the first step of a solve
//! `kept` is 0 and `o` whatever the last one has left, numbers all: no step follows from sums that are none.
//!
//! What is saved is a write, 8 bytes of a row. A processor whose caches take what is written gains nothing by
//! it and may lose: `couloir bench pcg --where cpu --device none --threads 1` on a Xeon with 480 MiB of last
//! cache, medians of runs in turns, without the prefetching told of below, grid:160 13.3 and 13.4 ms, 13.5 and
//! 13.8 (by two threads 6.26 and 6.60), grid:100 2.15 and 2.21, `tet:1600000 --order rcm` 5.43 and 5.70. For a
//! device see `cl/pcg_step.cl`.
//!
//! In single precision the rows of `r` take turns between the two numbers next to the exact `alpha`:
//! see [`pcg_scalars`](super::pcg_scalars).
//!
//! A device that runs ahead is given calls after the last one of a solve. They change nothing, on
//! either side, but that `y` is given what it may still be owed; and leave the sum, whatever part of the
//! rows each side has by then, where `o` and `p` are in their places.

use super::group::{Group, Lanes, WIDTH, groups, slice_at, slice_at_mut, slices};
use super::pcg_scalars::{ALPHA, BETA, KEPT, LATER, LENGTH, OWED, PATTERN, STOP, step_length};
use super::stream::prefetch;
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// Bytes that the path runs ahead that prefetches. A Xeon (AVX-512, 480 MiB of last cache), `cargo run
/// --release --example pcg -- 160 none 0 THREADS 1e-4 2`, the step of three runs in turns: by one thread
/// 6.62, 6.76 and 6.57 ms without, 5.89, 6.39 and 5.81 so, 6.12, 6.21 and 6.19 with twice as much; by two
/// 3.06, 3.12 and 3.07, 2.80, 3.32 and 2.73, 2.86, 2.76 and 2.84. With half of it `220 none 0 1 1e-3 2` loses
/// (20.8 and 20.2 to 22.3 and 22.1), with three times `220 none 0 2 1e-3 1` does (9.4 to 10.0). Trial builds.
const AHEAD_BYTES: usize = 2048;

/// inout y, o; reductions r.r of the new r; own p, s; state of the solve.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_step",
        formula: "y <- y + alpha p; r = p - kept o - alpha s; o <- r + beta p; r . r",
        source: include_str!("../../cl/pcg_step.cl"),
        shape: Shape {
            inout: 2,
            reduce: &[Reduce::Sum],
            own: 2,
            state: LENGTH,
            ..Shape::NONE
        },
        flops: Flops {
            row: 8.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let (alpha, beta, over) = (r.state[ALPHA], r.state[BETA], r.state[STOP] > T::of(1.0));
    let (later, owed, kept) = (r.state[LATER] > T::ZERO, r.state[OWED], r.state[KEPT]);
    for b in 0..r.n / BLOCK {
        r.partial[0][b] = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            let (y, old, p) = (r.inout[0][i], r.inout[1][i], r.own[0][i]);
            let mut residual = (-kept).fma(old, p);
            if over && owed != T::ZERO || !over && !later {
                r.inout[0][i] = owed.fma(old, y);
            }
            if !over {
                if !later {
                    r.inout[0][i] = alpha.fma(p, r.inout[0][i]);
                }
                let own = step_length(r.state, r.first + i);
                let next = beta.fma(p, (-own).fma(r.own[1][i], residual));
                r.inout[1][i] = next;
                residual = (-beta).fma(p, next);
            }
            r.partial[0][b] = r.partial[0][b] + residual * residual;
        }
    }
}

/// The CPU paths: plain, and one that prefetches.
pub fn paths<T: Real>() -> [fn(&mut Rows<'_, T>); 2] {
    [host, ahead::host]
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    blocks::<T, false>(r);
}

#[inline(always)]
fn blocks<T: Real, const AHEAD: bool>(r: &mut Rows<'_, T>) {
    if r.state[STOP] > T::of(1.0) {
        return after::<T>(r);
    }
    if r.state[LATER] > T::ZERO {
        steps::<T, true, AHEAD>(r);
    } else {
        steps::<T, false, AHEAD>(r);
    }
}

/// The step; all but `y` where that is done `LATER`.
#[inline(always)]
fn steps<T: Real, const LATER: bool, const AHEAD: bool>(r: &mut Rows<'_, T>) {
    let line = AHEAD_BYTES / size_of::<T>();
    let ([p, s, ..], [y, old, ..]) = (r.own, &mut r.inout);
    let (alpha, beta) = (Group::splat(r.state[ALPHA]), Group::splat(r.state[BETA]));
    let (owed, kept) = (Group::splat(r.state[OWED]), Group::splat(r.state[KEPT]));
    // Blocks begin with row 0 of the pattern.
    let mut lengths = [-alpha; PATTERN / WIDTH];
    if T::PAIRED {
        for (g, length) in lengths.iter_mut().enumerate() {
            for (l, own) in length.0.iter_mut().enumerate() {
                *own = -step_length(r.state, g * WIDTH + l);
            }
        }
    }
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            if AHEAD {
                for at in groups().map(|g| i + g + line) {
                    for x in [p, s, &**old] {
                        prefetch(x, at);
                    }
                    if !LATER {
                        prefetch(y, at);
                    }
                }
            }
            let (p, s) = (slice_at(p, i), slice_at(s, i));
            let (y, old) = (slice_at_mut(y, i), slice_at_mut(old, i));
            for g in groups() {
                let minus = lengths[g / WIDTH % lengths.len()];
                let (o, q) = (Group::load(old, g), Group::load(p, g));
                let residual = minus.fma(Group::load(s, g), (-kept).fma(o, q));
                if !LATER {
                    alpha.fma(q, owed.fma(o, Group::load(y, g))).store(y, g);
                }
                let next = beta.fma(q, residual);
                next.store(old, g);
                let residual = (-beta).fma(q, next);
                sum.add(g, residual * residual);
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

/// Calls after the last step.
#[inline(always)]
fn after<T: Real>(r: &mut Rows<'_, T>) {
    let ([p, ..], [y, old, ..]) = (r.own, &mut r.inout);
    let (owed, kept) = (Group::splat(r.state[OWED]), Group::splat(r.state[KEPT]));
    let owes = r.state[OWED] != T::ZERO;
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            let (p, y, old) = (slice_at(p, i), slice_at_mut(y, i), slice_at(old, i));
            for g in groups() {
                let o = Group::load(old, g);
                if owes {
                    owed.fma(o, Group::load(y, g)).store(y, g);
                }
                let residual = (-kept).fma(o, Group::load(p, g));
                sum.add(g, residual * residual);
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

crate::simd!(body);

mod ahead {
    #[inline(always)]
    fn body<T: crate::kernel::Real>(r: &mut crate::kernel::Rows<'_, T>) {
        super::blocks::<T, true>(r);
    }
    crate::simd!(body);
}
