//! `x <- s k y`: out of the system scaled to unit diagonal. 2 flops and 16 bytes per row (fp64).

use super::group::{Group, groups, slice_at, slice_at_mut, slices};
use super::{Flops, Kernel, Real, Rows, Shape};
use crate::node::BLOCK;

/// out x; own y; repeated s; scalars k.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_leave",
        formula: "x <- s k y",
        source: include_str!("../../cl/pcg_leave.cl"),
        shape: Shape {
            out: 1,
            own: 1,
            repeated: 1,
            scalars: 1,
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
    for i in 0..r.n {
        r.out[0][i] = r.repeated[0].row(r.first + i) * (r.scalars[0] * r.own[0][i]);
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([y, ..], [s, ..], x) = (r.own, r.repeated, &mut *r.out[0]);
    let k = Group::splat(r.scalars[0]);
    for b in 0..r.n / BLOCK {
        for i in slices(b) {
            let (y, x) = (slice_at(y, i), slice_at_mut(x, i));
            let s = s.slice(r.first + i);
            for g in groups() {
                (Group::load(s, g) * (k * Group::load(y, g))).store(x, g);
            }
        }
    }
}

crate::simd!(body);
