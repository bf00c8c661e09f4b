//! `y <- x`: 16 bytes per row (fp64).

use super::{stream, streamed};
use crate::kernel::group::{Group, WIDTH, chunk_mut};
use crate::kernel::{Flops, Kernel, Real, Rows, Shape};

/// out y; own x.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "copy",
        formula: "y <- x",
        source: include_str!("../../../cl/stream/copy.cl"),
        shape: Shape {
            out: 1,
            own: 1,
            ..Shape::NONE
        },
        flops: Flops {
            row: 0.0,
            entry: [0.0; 2],
        },
        reference,
        host,
    }
}

/// The CPU paths: plain stores, streaming stores.
pub fn paths<T: Real>() -> [fn(&mut Rows<'_, T>); 2] {
    [reference, host]
}

fn reference<T: Real>(r: &mut Rows<'_, T>) {
    r.out[0].copy_from_slice(r.own[0]);
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let (y, x) = (&mut *r.out[0], r.own[0]);
    for i in (0..r.n).step_by(WIDTH) {
        stream(Group::load(x, i).0, chunk_mut(y, i));
    }
    streamed();
}

crate::simd!(body);
