//! The numbers that kernels compute with.

use std::ops::{Add, Div, Mul, Neg, Sub};

use bytemuck::Pod;

use super::group::WIDTH;

/// `f64` or `f32`.
pub trait Real:
    Pod
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Zero.
    const ZERO: Self;
    /// Distance from 1 to the next number.
    const EPSILON: f64;
    /// The least number of full precision.
    const LEAST: f64;
    /// Its name in OpenCL C.
    const CL: &'static str;
    /// Its name in reports.
    const NAME: &'static str;
    /// Whether code of it is to be small rather than fast: see [`Soft`](super::soft::Soft).
    const SOFT: bool = false;
    /// Rounds to this precision.
    fn of(x: f64) -> Self;
    /// Widens.
    fn f64(self) -> f64;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// `c <- a * b + c`, each rounded once.
    #[inline(always)]
    fn fma_all(a: &[Self; WIDTH], b: &[Self; WIDTH], c: &mut [Self; WIDTH]) {
        for l in 0..WIDTH {
            c[l] = a[l].fma(b[l], c[l]);
        }
    }
    /// Magnitude.
    fn abs(self) -> Self;
    /// The larger one; the other if one is not a number.
    fn max(self, b: Self) -> Self;
    /// Itself where `mask` has bit `l`, else `other`.
    fn or(self, mask: u32, l: usize, other: Self) -> Self;
}

macro_rules! real {
    ($t:ty, $bits:ty, $cl:literal, $name:literal) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const EPSILON: f64 = <$t>::EPSILON as f64;
            const LEAST: f64 = <$t>::MIN_POSITIVE as f64;
            const CL: &'static str = $cl;
            const NAME: &'static str = $name;
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn max(self, b: Self) -> Self {
                <$t>::max(self, b)
            }
            #[inline(always)]
            fn or(self, mask: u32, l: usize, other: Self) -> Self {
                // Bits as wide as the numbers: a vector of them is a vector of masks.
                if mask as $bits & (1 << l) != 0 {
                    self
                } else {
                    other
                }
            }
        }
    };
}

real!(f64, u64, "double", "fp64");
real!(f32, u32, "float", "fp32");
