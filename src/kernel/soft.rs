//! Numbers of a processor that has no fused multiply-add: each is a call of a function, a group's
//! is one call. Kernels compiled with them are small, as fits what only old processors run.

use bytemuck::{Pod, Zeroable};

use super::Real;
use super::group::WIDTH;
use super::wrapped::{members, operators};

/// A number that computes to the same bits, slowly.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Zeroable, Pod)]
#[repr(transparent)]
pub struct Soft<T>(T);

impl<T: Real> Real for Soft<T> {
    members!();
    const SOFT: bool = true;
    #[inline(never)]
    fn fma(self, b: Self, c: Self) -> Self {
        Self(self.0.fma(b.0, c.0))
    }
    #[inline(never)]
    fn fma_all(a: &[Self; WIDTH], b: &[Self; WIDTH], c: &mut [Self; WIDTH]) {
        for l in 0..WIDTH {
            c[l] = Self(a[l].0.fma(b[l].0, c[l].0));
        }
    }
}

operators!(Soft);
