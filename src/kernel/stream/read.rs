//! `sum <- x`: 8 bytes read per row (fp64).

use super::{AHEAD_BYTES, prefetch};
use crate::kernel::group::{Group, Lanes, WIDTH, groups, slice_at, slices};
use crate::kernel::{Flops, Kernel, Real, Reduce, Rows, Shape};
use crate::node::BLOCK;

/// reductions sum x; own x.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "read",
        formula: "sum x",
        source: include_str!("../../../cl/stream/read.cl"),
        shape: Shape {
            reduce: &[Reduce::Sum],
            own: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 1.0,
            entry: [0.0; 2],
        },
        reference,
        host: one::host,
    }
}

/// The CPU paths: one stream, one that prefetches, four streams.
pub fn paths<T: Real>() -> [fn(&mut Rows<'_, T>); 3] {
    [one::host, ahead::host, four::host]
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for (b, sum) in r.partial[0].iter_mut().enumerate() {
        *sum = r.own[0][b * BLOCK..(b + 1) * BLOCK]
            .iter()
            .fold(T::ZERO, |sum, &x| sum + x);
    }
}

#[inline(always)]
fn blocks<T: Real, const AHEAD: bool>(r: &mut Rows<'_, T>) {
    let (x, line) = (r.own[0], AHEAD_BYTES / size_of::<T>());
    for b in 0..r.n / BLOCK {
        let mut sum = Lanes::ZERO;
        for i in slices(b) {
            let rows = slice_at(x, i);
            for g in groups() {
                if AHEAD {
                    prefetch(x, i + g + line);
                }
                sum.add(g, Group::load(rows, g));
            }
        }
        r.partial[0][b] = sum.sum();
    }
}

mod one {
    #[inline(always)]
    fn body<T: crate::kernel::Real>(r: &mut crate::kernel::Rows<'_, T>) {
        super::blocks::<T, false>(r);
    }
    crate::simd!(body);
}

mod ahead {
    #[inline(always)]
    fn body<T: crate::kernel::Real>(r: &mut crate::kernel::Rows<'_, T>) {
        super::blocks::<T, true>(r);
    }
    crate::simd!(body);
}

mod four {
    use super::{BLOCK, Group, Real, Rows, WIDTH};

    /// Streams, and blocks from one to the next: 16 KiB, so that each has pages of its own.
    const STREAMS: usize = 4;
    const APART: usize = 8;

    #[inline(always)]
    fn body<T: Real>(r: &mut Rows<'_, T>) {
        let x = r.own[0];
        let (blocks, tile) = (r.n / BLOCK, STREAMS * APART);
        let whole = blocks / tile * tile;
        for start in (0..whole).step_by(tile) {
            for b in start..start + APART {
                let mut sums = [Group::ZERO; STREAMS];
                for i in (b * BLOCK..(b + 1) * BLOCK).step_by(WIDTH) {
                    for s in 0..STREAMS {
                        sums[s] = sums[s] + Group::load(x, i + s * APART * BLOCK);
                    }
                }
                for s in 0..STREAMS {
                    r.partial[0][b + s * APART] = total(sums[s]);
                }
            }
        }
        for b in whole..blocks {
            let mut sum = Group::ZERO;
            for i in (b * BLOCK..(b + 1) * BLOCK).step_by(WIDTH) {
                sum = sum + Group::load(x, i);
            }
            r.partial[0][b] = total(sum);
        }
    }

    #[inline(always)]
    fn total<T: Real>(group: Group<T>) -> T {
        let mut sum = T::ZERO;
        for x in group.0 {
            sum = sum + x;
        }
        sum
    }

    crate::simd!(body);
}
