//! `sum <- x . y`: 2 flops and 16 bytes per row (fp64).

use super::group::{Group, Lanes, groups, slice_at, slices};
use super::stream::{AHEAD_BYTES, prefetch};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// reductions x.y; own x, y.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "dot",
        formula: "x . y",
        source: include_str!("../../cl/dot.cl"),
        shape: Shape {
            reduce: &[Reduce::Sum],
            own: 2,
            ..Shape::NONE
        },
        flops: Flops {
            row: 2.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for (b, sum) in r.partial[0].iter_mut().enumerate() {
        *sum = T::ZERO;
        for i in b * BLOCK..(b + 1) * BLOCK {
            *sum = *sum + r.own[0][i] * r.own[1][i];
        }
    }
}

/// The CPU paths: plain, and one that prefetches.
pub fn paths<T: Real>() -> [fn(&mut Rows<'_, T>); 2] {
    [host, ahead::host]
}

#[inline(always)]
fn blocks<T: Real, const AHEAD: bool>(r: &mut Rows<'_, T>) {
    let ([x, y, ..], line) = (r.own, AHEAD_BYTES / size_of::<T>());
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            let (u, v) = (slice_at(x, i), slice_at(y, i));
            for g in groups() {
                if AHEAD {
                    prefetch(x, i + g + line);
                    prefetch(y, i + g + line);
                }
                sum.add(g, Group::load(u, g) * Group::load(v, g));
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    blocks::<T, false>(r);
}

crate::simd!(body);

mod ahead {
    #[inline(always)]
    fn body<T: crate::kernel::Real>(r: &mut crate::kernel::Rows<'_, T>) {
        super::blocks::<T, true>(r);
    }
    crate::simd!(body);
}
