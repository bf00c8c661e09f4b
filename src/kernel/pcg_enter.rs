//! `f <- s k (b - m)`, `y <- d k x`, `|d f|^2` and the sum of d f: into the system scaled to unit
//! diagonal, d the root of the diagonal, s = 1/d, and k a unit in which squares are numbers. 9 flops
//! and 32 bytes per row (fp64).

use super::group::{Group, Lanes, groups, slice_at, slice_at_mut, slices};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out f, y; reductions d f . d f, d f; own b, x; repeated s, d; scalars m, k.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_enter",
        formula: "f <- s k (b - m); y <- d k x; d f . d f, sum of d f",
        source: include_str!("../../cl/pcg_enter.cl"),
        shape: Shape {
            out: 2,
            reduce: &[Reduce::Sum, Reduce::Sum],
            own: 2,
            repeated: 2,
            scalars: 2,
            ..Shape::NONE
        },
        flops: Flops {
            row: 9.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let [m, k] = [r.scalars[0], r.scalars[1]];
    for b in 0..r.n / BLOCK {
        (r.partial[0][b], r.partial[1][b]) = (T::ZERO, T::ZERO);
        for i in b * BLOCK..(b + 1) * BLOCK {
            let [s, d] = [0, 1].map(|k| r.repeated[k].row(r.first + i));
            let f = s * (k * (r.own[0][i] - m));
            r.out[0][i] = f;
            r.out[1][i] = d * (k * r.own[1][i]);
            let w = d * f;
            r.partial[0][b] = r.partial[0][b] + w * w;
            r.partial[1][b] = r.partial[1][b] + w;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let ([b, x, ..], [s, d, ..], [f, y, ..]) = (r.own, r.repeated, &mut r.out);
    let (m, k) = (Group::splat(r.scalars[0]), Group::splat(r.scalars[1]));
    for block in 0..r.n / BLOCK {
        let (mut square, mut sum) = (Lanes::ZERO, Lanes::ZERO);
        for i in slices(block) {
            let (b, x) = (slice_at(b, i), slice_at(x, i));
            let (s, d) = (s.slice(r.first + i), d.slice(r.first + i));
            let (f, y) = (slice_at_mut(f, i), slice_at_mut(y, i));
            for g in groups() {
                let v = Group::load(s, g) * (k * (Group::load(b, g) - m));
                let w = Group::load(d, g) * v;
                v.store(f, g);
                (Group::load(d, g) * (k * Group::load(x, g))).store(y, g);
                square.add(g, w * w);
                sum.add(g, w);
            }
        }
        r.partial[0][block] = square.sum();
        r.partial[1][block] = sum.sum();
    }
}

crate::simd!(body);
