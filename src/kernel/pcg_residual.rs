//! `t <- f - (c y + A y)`, `|d t|^2`, and the size of what was added up, `|d m|^2` with
//! `m = |f| + |c y| + |A| |y|`: the true residual of the system scaled to a diagonal of c, in the
//! norm of the system before, and what round-off can leave of it; and `|t|^2`, for a solve that begins
//! along it. 4 flops per entry and 14 per row; 12 bytes per entry and 24 per row (fp64).

use super::group::{Group, Lanes, slices};
use super::mat::{Entry, Terms, loaded, parts};
use super::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// out t; reductions d t . d t, d m . d m, t . t; own f, y; repeated d; gather y (the same buffer); matrix A, the
/// entries beside the diagonal; scalars c.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "pcg_residual",
        formula: "t <- f - (c y + A y); |d t|^2; |d (|f| + |c y| + |A| |y|)|^2; |t|^2",
        source: include_str!("../../cl/pcg_residual.cl"),
        shape: Shape {
            out: 1,
            reduce: &[Reduce::Sum; 3],
            own: 2,
            repeated: 1,
            gather: 1,
            mats: &[1],
            scalars: 1,
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
    let (a, share) = (r.mats[0], r.scalars[0]);
    for b in 0..r.n / BLOCK {
        let [mut tt, mut mm, mut rr] = [T::ZERO; 3];
        for i in b * BLOCK..(b + 1) * BLOCK {
            let (f, y, d) = (r.own[0][i], r.own[1][i], r.repeated[0].row(r.first + i));
            let (mut s, mut m) = (share * y, (share * y).abs());
            for (e, j) in a.row(r.first + i) {
                let (c, x) = (a.planes[0][e], r.gather[0][j]);
                s = c.fma(x, s);
                m = c.abs().fma(x.abs(), m);
            }
            let t = f - s;
            r.out[0][i] = t;
            let (s, m) = (d * t, d * (f.abs() + m));
            (tt, mm, rr) = (tt + s * s, mm + m * m, rr + t * t);
        }
        (r.partial[0][b], r.partial[1][b], r.partial[2][b]) = (tt, mm, rr);
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (a, x, [f, y, ..], t) = (r.mats[0], r.gather[0], r.own, &mut *r.out[0]);
    let share = Group::splat(r.scalars[0]);
    for b in 0..r.n / BLOCK {
        let [mut tt, mut mm, mut rr] = [Lanes::ZERO; 3];
        for i in slices(b) {
            let mut start = loaded([y, y], i);
            for [s, m] in &mut start {
                *s = share * *s;
                *m = s.abs();
            }
            let sums = a.sums(SumAndSize, [0], [x], r.first + i, start);
            let (d, first) = (r.repeated[0].slice(r.first + i), i);
            for (i, &[s, m]) in parts(i, &sums) {
                let (f, d) = (Group::load(f, i), Group::load(d, i - first));
                let s = f - s;
                s.put(t, i, r.stream);
                rr.add(i, s * s);
                let (s, m) = (d * s, d * (f.abs() + m));
                tt.add(i, s * s);
                mm.add(i, m * m);
            }
        }
        r.partial[0][b] = tt.sum();
        r.partial[1][b] = mm.sum();
        r.partial[2][b] = rr.sum();
    }
}

/// `s_0 += v x`, `s_1 += |v| |x|`.
pub(super) struct SumAndSize;

impl<T: Real> Terms<T, 1, 1, 2> for SumAndSize {
    #[inline(always)]
    fn add<E: Entry<T>>([v]: [E; 1], [x]: [E; 1], s: [E; 2]) -> [E; 2] {
        [v.fma(x, s[0]), v.abs().fma(x.abs(), s[1])]
    }
}

crate::simd!(fp64 body);
