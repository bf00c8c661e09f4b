//! `z <- x + a y`: 2 flops and 24 bytes per row (fp64).

use super::{stream, streamed};
use crate::kernel::group::{Group, WIDTH, chunk_mut};
use crate::kernel::{Flops, Kernel, Real, Rows, Shape};

/// out z; own x, y; scalars a.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "triad",
        formula: "z <- x + a y",
        source: include_str!("../../../cl/stream/triad.cl"),
        shape: Shape {
            out: 1,
            own: 2,
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

/// The CPU paths: plain stores, streaming stores.
pub fn paths<T: Real>() -> [fn(&mut Rows<'_, T>); 2] {
    [plain::host, host]
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    for i in 0..r.n {
        r.out[0][i] = r.scalars[0].fma(r.own[1][i], r.own[0][i]);
    }
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (z, [x, y, ..]) = (&mut *r.out[0], r.own);
    let a = Group::splat(r.scalars[0]);
    for i in (0..r.n).step_by(WIDTH) {
        let sum = a.fma(Group::load(y, i), Group::load(x, i));
        stream(sum.0, chunk_mut(z, i));
    }
    streamed();
}

crate::simd!(body);

mod plain {
    use super::{Group, Real, Rows, WIDTH};

    #[inline(always)]
    fn body<T: Real>(r: &mut Rows<'_, T>) {
        let (z, [x, y, ..]) = (&mut *r.out[0], r.own);
        let a = Group::splat(r.scalars[0]);
        for i in (0..r.n).step_by(WIDTH) {
            a.fma(Group::load(y, i), Group::load(x, i)).store(z, i);
        }
    }

    crate::simd!(body);
}
