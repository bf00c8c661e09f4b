//! What a kernel's CPU code sees: a range of rows of each operand.

pub use super::group::WIDTH;
use super::repeats::Repeats;
use super::{
    MAX_GATHER, MAX_INOUT, MAX_MATS, MAX_OUT, MAX_OWN, MAX_REDUCTIONS, MAX_REPEATED, Mat, Real,
    Reduce,
};

/// Operands restricted to `n` rows from `first` on (both multiples of [`BLOCK`](crate::node::BLOCK)); unused roles
/// are empty.
pub struct Rows<'a, T: Real> {
    /// Global number of row 0.
    pub first: usize,
    /// Number of rows.
    pub n: usize,
    /// Written: index 0 is row `first`.
    pub out: [&'a mut [T]; MAX_OUT],
    /// Read and written: index 0 is row `first`.
    pub inout: [&'a mut [T]; MAX_INOUT],
    /// Partial results, one per block of the range.
    pub partial: [&'a mut [T]; MAX_REDUCTIONS],
    /// Read: index 0 is row `first`.
    pub own: [&'a [T]; MAX_OWN],
    /// Read, rows by global number.
    pub repeated: [Repeats<'a, T>; MAX_REPEATED],
    /// Read at any row: index 0 is row 0.
    pub gather: [&'a [T]; MAX_GATHER],
    /// Matrices, rows by global number.
    pub mats: [Mat<'a, T>; MAX_MATS],
    /// Scalars.
    pub scalars: &'a [T],
    /// State of the solve.
    pub state: &'a [T],
    /// What is written does not fit into the caches beside what is read.
    pub stream: bool,
}

/// One step of a reduction.
#[inline(always)]
pub fn combine<T: Real>(kind: Reduce, a: T, b: T) -> T {
    match kind {
        Reduce::Sum => a + b,
        Reduce::Max => a.max(b),
    }
}
