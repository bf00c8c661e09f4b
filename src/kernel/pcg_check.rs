//! `t <- f - (c y + A y)`, `|d t|^2` and `|d m|^2` as [`pcg_residual`](super::pcg_residual), and
//! `x <- s k y` as [`pcg_leave`](super::pcg_leave): the end of a solve, which most first looks at the
//! true residual are. 4 flops per entry and 14 per row; 12 bytes per entry and 32 per row (fp64), 8
//! less than both.

use super::group::{Group, Lanes, slices};
use super::mat::{loaded, parts};
use super::pcg_residual::SumAndSize;
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out t, x; reductions d t . d t, d m . d m; own f, y; repeated d, s; gather y (the same buffer);
/// matrix A, the entries beside the diagonal; scalars c, k.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_check",
        formula: "t <- f - (c y + A y); x <- s k y; |d t|^2; |d (|f| + |c y| + |A| |y|)|^2",
        source: include_str!("../../cl/pcg_check.cl"),
        shape: Shape {
            out: 2,
            reduce: &[Reduce::Sum, Reduce::Sum],
            own: 2,
            repeated: 2,
            gather: 1,
            mats: &[1],
            scalars: 2,
            ..Shape::NONE
        },
        flops: Flops {
            row: 14.0,
            entry: [4.0, 0.0],
        },
        reference,
        host,
    }
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    let (a, [share, k]) = (r.mats[0], [r.scalars[0], r.scalars[1]]);
    for b in 0..r.n / BLOCK {
        (r.partial[0][b], r.partial[1][b]) = (T::ZERO, T::ZERO);
        for i in b * BLOCK..(b + 1) * BLOCK {
            let (f, y) = (r.own[0][i], r.own[1][i]);
            let [d, s] = [0, 1].map(|k| r.repeated[k].row(r.first + i));
            let (mut sum, mut m) = (share * y, (share * y).abs());
            for (e, j) in a.row(r.first + i) {
                let (c, x) = (a.planes[0][e], r.gather[0][j]);
                sum = c.fma(x, sum);
                m = c.abs().fma(x.abs(), m);
            }
            (r.out[0][i], r.out[1][i]) = (f - sum, s * (k * y));
            let (t, m) = (d * (f - sum), d * (f.abs() + m));
            r.partial[0][b] = r.partial[0][b] + t * t;
            r.partial[1][b] = r.partial[1][b] + m * m;
        }
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (a, z, [f, y, ..], [d, root, ..]) = (r.mats[0], r.gather[0], r.own, r.repeated);
    let [t, x, ..] = &mut r.out;
    let [share, k] = [0, 1].map(|k| Group::splat(r.scalars[k]));
    for b in 0..r.n / BLOCK {
        let (mut tt, mut mm) = (Lanes::ZERO, Lanes::ZERO);
        for i in slices(b) {
            let mut start = loaded([y, y], i);
            for [s, m] in &mut start {
                *s = share * *s;
                *m = s.abs();
            }
            let sums = a.sums(SumAndSize, [0], [z], r.first + i, start);
            let (d, s, first) = (d.slice(r.first + i), root.slice(r.first + i), i);
            for (i, &[sum, m]) in parts(i, &sums) {
                let (f, d) = (Group::load(f, i), Group::load(d, i - first));
                let left = f - sum;
                left.put(t, i, r.stream);
                let solution = Group::load(s, i - first) * (k * Group::load(y, i));
                solution.put(x, i, r.stream);
                let (left, m) = (d * left, d * (f.abs() + m));
                tt.add(i, left * left);
                mm.add(i, m * m);
            }
        }
        r.partial[0][b] = tt.sum();
        r.partial[1][b] = mm.sum();
    }
}

crate::simd!(fp64 body);
