//! Numbers that are a plain number each, but compute in another way: what all such types share.

use bytemuck::{cast_slice, cast_slice_mut};

use super::repeats::Repeats;
use super::{Mat, Real, Rows};

/// The arithmetic of a type that wraps a number.
macro_rules! operators {
    ($type:ident) => {
        $crate::kernel::wrapped::operators!($type, Add add, Sub sub, Mul mul, Div div);

        impl<T: Real> std::ops::Neg for $type<T> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }
    };
    ($type:ident, $($trait:ident $f:ident),*) => {
        $(impl<T: Real> std::ops::$trait for $type<T> {
            type Output = Self;
            #[inline(always)]
            fn $f(self, b: Self) -> Self {
                Self(self.0.$f(b.0))
            }
        })*
    };
}
pub(super) use operators;

/// The members of [`Real`] that a type which wraps a number takes from it.
macro_rules! members {
    () => {
        const ZERO: Self = Self(T::ZERO);
        const EPSILON: f64 = T::EPSILON;
        const LEAST: f64 = T::LEAST;
        const CL: &'static str = T::CL;
        const NAME: &'static str = T::NAME;
        const PAIRED: bool = T::PAIRED;
        #[inline(always)]
        fn of(x: f64) -> Self {
            Self(T::of(x))
        }
        #[inline(always)]
        fn f64(self) -> f64 {
            self.0.f64()
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Self(self.0.abs())
        }
        #[inline(always)]
        fn max(self, b: Self) -> Self {
            Self(self.0.max(b.0))
        }
        #[inline(always)]
        fn or(self, mask: u32, l: usize, other: Self) -> Self {
            Self(self.0.or(mask, l, other.0))
        }
    };
}
pub(super) use members;

/// The same memory, as numbers of another type of the same size. Once for all kernels: it is a kilobyte of
/// instructions, and a call of a kernel is many rows.
#[inline(never)]
pub fn rows_as<'a, T: Real, W: Real>(rows: &'a mut Rows<'_, T>) -> Rows<'a, W> {
    Rows {
        first: rows.first,
        n: rows.n,
        out: rows.out.each_mut().map(|x| cast_slice_mut(x)),
        inout: rows.inout.each_mut().map(|x| cast_slice_mut(x)),
        partial: rows.partial.each_mut().map(|x| cast_slice_mut(x)),
        own: rows.own.map(cast_slice),
        repeated: rows.repeated.map(|v| Repeats {
            at: v.at,
            values: cast_slice(v.values),
        }),
        gather: rows.gather.map(cast_slice),
        mats: rows.mats.map(|a| Mat {
            cols: a.cols,
            slices: a.slices,
            index: a.index,
            halves: a.halves,
            reading: a.reading,
            from: a.from,
            planes: a.planes.map(cast_slice),
        }),
        scalars: cast_slice(rows.scalars),
        state: cast_slice(rows.state),
        stream: rows.stream,
    }
}
