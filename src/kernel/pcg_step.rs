//! `y <- y + alpha p`, `r <- r - alpha s`, `p <- r + beta p`, `r . r`: the pointwise half of an
//! iteration. 8 flops and 56 bytes per row (fp64), or 40 where `y` is left to the next step, which
//! then adds both: see [`pcg_scalars`](super::pcg_scalars).
//!
//! In single precision the rows of `r` take turns between the two numbers next to the exact `alpha`:
//! see [`pcg_scalars`](super::pcg_scalars).
//!
//! A device that runs ahead is given calls after the last one of a solve. They change nothing, on
//! either side, and leave the sum, whatever part of the rows each side has by then; `y` is given
//! what it may still be owed.

use super::group::{Group, Lanes, WIDTH, groups, slice_at, slice_at_mut, slices};
use super::pcg_scalars::{ALPHA, BETA, LATER, LENGTH, OWED, PATTERN, STOP, step_length};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// inout y, r, p; reductions r.r of the new r; own s; state of the solve.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_step",
        formula: "y <- y + alpha p; r <- r - alpha s; p <- r + beta p; r . r",
        source: include_str!("../../cl/pcg_step.cl"),
        shape: Shape {
            inout: 3,
            reduce: &[Reduce::Sum],
            own: 1,
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
    let (later, owed) = (r.state[LATER] > T::ZERO, r.state[OWED]);
    for b in 0..r.n / BLOCK {
        r.partial[0][b] = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            let (y, old, p) = (r.inout[0][i], r.inout[1][i], r.inout[2][i]);
            let mut new = old;
            if over && owed != T::ZERO || !over && !later {
                r.inout[0][i] = owed.fma(p - old, y);
            }
            if !over {
                let own = step_length(r.state, r.first + i);
                new = (-own).fma(r.own[0][i], old);
                if !later {
                    r.inout[0][i] = alpha.fma(p, r.inout[0][i]);
                }
                r.inout[1][i] = new;
                r.inout[2][i] = beta.fma(p, new);
            }
            r.partial[0][b] = r.partial[0][b] + new * new;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    if r.state[STOP] > T::of(1.0) {
        return after::<T>(r);
    }
    if r.state[LATER] > T::ZERO {
        steps::<T, true>(r);
    } else {
        steps::<T, false>(r);
    }
}

/// The step; all but `y` where that is done `LATER`.
#[inline(always)]
fn steps<T: Real, const LATER: bool>(r: &mut Rows<'_, T>) {
    let (s, [y, residual, p, ..]) = (r.own[0], &mut r.inout);
    let (alpha, beta) = (Group::splat(r.state[ALPHA]), Group::splat(r.state[BETA]));
    let owed = Group::splat(r.state[OWED]);
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
            let (s, y, p) = (slice_at(s, i), slice_at_mut(y, i), slice_at_mut(p, i));
            let residual = slice_at_mut(residual, i);
            for g in groups() {
                let minus = lengths[g / WIDTH % lengths.len()];
                let (old, q) = (Group::load(residual, g), Group::load(p, g));
                let new = minus.fma(Group::load(s, g), old);
                if !LATER {
                    let before = owed.fma(q - old, Group::load(y, g));
                    alpha.fma(q, before).store(y, g);
                }
                new.store(residual, g);
                beta.fma(q, new).store(p, g);
                sum.add(g, new * new);
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

/// Calls after the last step.
#[inline(always)]
fn after<T: Real>(r: &mut Rows<'_, T>) {
    let [y, residual, p, ..] = &mut r.inout;
    let (owed, owes) = (Group::splat(r.state[OWED]), r.state[OWED] != T::ZERO);
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            let (y, p) = (slice_at_mut(y, i), slice_at(p, i));
            let residual = slice_at(residual, i);
            for g in groups() {
                let same = Group::load(residual, g);
                if owes {
                    let left = Group::load(p, g) - same;
                    owed.fma(left, Group::load(y, g)).store(y, g);
                }
                sum.add(g, same * same);
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

crate::simd!(body);
