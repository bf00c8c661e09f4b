//! `y <- a x + y`: 2 flops and 24 bytes per row (fp64).

use super::{Flops, Kernel, Real, Rows, Shape};

/// inout y; own x; scalars a.
pub fn kernel<T: Real>() -> Kernel<T> {
    Kernel {
        name: "axpy",
        formula: "y <- a x + y",
        source: include_str!("../../cl/axpy.cl"),
        shape: Shape {
            inout: 1,
            own: 1,
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
        r.inout[0][i] = r.scalars[0].fma(r.own[0][i], r.inout[0][i]);
    }
}

/// The CPU paths: plain, and one that prefetches.
pub fn paths<T: Real>() -> [fn(&mut Rows<'_, T>); 2] {
    [host, ahead::host]
}

#[inline(always)]
fn body<T: Real>(r: &mut Rows<'_, T>) {
    let a = r.scalars[0];
    for (y, &x) in r.inout[0].iter_mut().zip(r.own[0]) {
        *y = a.fma(x, *y);
    }
}

crate::simd!(body);

mod ahead {
    use super::{Real, Rows};
    use crate::kernel::group::{Group, WIDTH};
    use crate::kernel::stream::{AHEAD_BYTES, prefetch};

    #[inline(always)]
    fn body<T: Real>(r: &mut Rows<'_, T>) {
        let (y, x) = (&mut *r.inout[0], r.own[0]);
        let (a, line) = (Group::splat(r.scalars[0]), AHEAD_BYTES / size_of::<T>());
        for i in (0..r.n).step_by(WIDTH) {
            prefetch(x, i + line);
            prefetch(y, i + line);
            a.fma(Group::load(x, i), Group::load(y, i)).store(y, i);
        }
    }

    crate::simd!(body);
}
