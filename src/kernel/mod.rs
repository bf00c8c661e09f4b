//! The operations of the time loop: each is one file here and one in `cl/`.
//!
//! A kernel is data: its name, its device source, the [`Shape`] of its operands, its work per
//! row, the plain reference and the CPU path. Everything else (launching, splitting, testing,
//! counting bytes) follows from the shape. To add one: write `cl/<op>.cl` and
//! `src/kernel/<op>.rs`, and add one word to the list at the end of this file.

mod affine;
pub mod columns;
pub mod elements;
#[cfg(target_arch = "x86_64")]
pub(crate) mod far;
pub mod group;
pub mod guess_least;
pub mod mat;
#[cfg(target_arch = "x86_64")]
pub(crate) mod medium;
mod medium_steps;
#[cfg(target_arch = "x86_64")]
pub(crate) mod once;
pub mod pcg_first;
pub mod pcg_scalars;
pub mod reading;
pub mod real;
pub mod repeats;
pub mod rows;
pub mod scalars;
mod scattered;
pub mod simd;
pub mod slice;
#[cfg(target_arch = "x86_64")]
pub mod soft;
mod steps;
pub mod stream;
pub mod total;
mod walk;
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide;
#[cfg(target_arch = "x86_64")]
pub(crate) mod wrapped;

pub use mat::{Mat, SLICE};
pub use real::Real;
pub use rows::Rows;

/// Partial sums per block; see `cl/reduce.cl`.
pub const LANES: usize = 32;
/// Most operands of each role.
pub const MAX_OUT: usize = 9;
/// See [`MAX_OUT`].
pub const MAX_INOUT: usize = 4;
/// See [`MAX_OUT`].
pub const MAX_OWN: usize = 12;
/// See [`MAX_OUT`].
pub const MAX_REPEATED: usize = 4;
/// See [`MAX_OUT`].
pub const MAX_GATHER: usize = 6;
/// See [`MAX_OUT`].
pub const MAX_MATS: usize = 2;
/// Most matrices of one pattern.
pub const MAX_PLANES: usize = 4;
/// See [`MAX_OUT`].
pub const MAX_REDUCTIONS: usize = 4;

/// How a reduction combines rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// Sum.
    Sum,
    /// Largest of values that are not negative.
    Max,
}

/// Roles of a kernel's operands, in the order of its device arguments: out, inout, reductions,
/// own, repeated (places, values), gather, matrices (slices, index, values of each plane), scalars, state.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Vectors written at the row.
    pub out: usize,
    /// Vectors read and written at the row.
    pub inout: usize,
    /// Reductions over all rows.
    pub reduce: &'static [Reduce],
    /// Vectors read at the row.
    pub own: usize,
    /// Vectors read at the row of which like slices are stored once ([`Repeated`](crate::sparse::Repeated)), and
    /// counted in bytes as they are stored; the last one, where the second matrix is one
    /// [by element](Self::by_element), has a value of each element.
    pub repeated: usize,
    /// Vectors read through a matrix's columns; with two matrices, the first half goes with the
    /// first one.
    pub gather: usize,
    /// Planes of each matrix.
    pub mats: &'static [usize],
    /// The second matrix has a row for each element of the first, and gathers the last vector alone;
    /// a slice of the first has [`ELEMENTS`](elements::ELEMENTS) at most.
    pub by_element: bool,
    /// Scalars.
    pub scalars: usize,
    /// Scalars that are computed between calls; see [`scalars`].
    pub state: usize,
}

impl Shape {
    /// No operands; a base for struct update.
    pub const NONE: Self = Self {
        out: 0,
        inout: 0,
        reduce: &[],
        own: 0,
        repeated: 0,
        gather: 0,
        mats: &[],
        by_element: false,
        scalars: 0,
        state: 0,
    };

    /// Which matrix gathers vector `g`.
    pub(crate) fn gathers(&self, g: usize) -> usize {
        match self.by_element {
            true => usize::from(g + 1 == self.gather),
            false => g / (self.gather / self.mats.len().max(1)).max(1),
        }
    }
}

/// Floating-point operations, a fused multiply-add counted as two.
#[derive(Clone, Copy, Debug)]
pub struct Flops {
    /// Per row.
    pub row: f64,
    /// Per entry of each matrix (of its pattern, whatever the number of planes).
    pub entry: [f64; MAX_MATS],
}

/// One operation.
#[derive(Clone, Copy)]
pub struct Kernel<T: Real> {
    /// Stem of its files ; the device function is `<name>_kernel`.
    pub name: &'static str,
    /// Its formula, as printed by `couloir tune`.
    pub formula: &'static str,
    /// Its device source.
    pub source: &'static str,
    /// Its operands.
    pub shape: Shape,
    /// Its work.
    pub flops: Flops,
    /// The plainest loop, never tuned: the judge.
    pub reference: fn(&mut Rows<'_, T>),
    /// The CPU path.
    pub host: fn(&mut Rows<'_, T>),
}

/// The one list of kernels: those that linear solvers are made of, and the rest of a time step.
macro_rules! kernels {
    (solver: $($solver:ident),*; step: $($step:ident),*;) => {
        $(pub mod $solver;)*
        $(pub mod $step;)*
        /// Every kernel, in precision `T`.
        pub fn list<T: Real>() -> Vec<Kernel<T>> {
            let mut all = solver();
            all.extend([$($step::kernel()),*]);
            all
        }
        /// Those of the linear solvers: all that inner solves need.
        pub fn solver<T: Real>() -> Vec<Kernel<T>> {
            vec![$($solver::kernel()),*]
        }
        /// The kernels of [`list`] with their paths for older processors: without AVX-512, and
        /// without fused multiply-adds.
        #[cfg(all(test, target_arch = "x86_64"))]
        pub(crate) fn older_lists<T: Real>() -> [Vec<Kernel<T>>; 2] {
            let mut narrow = vec![$(Kernel { host: $solver::narrow, ..$solver::kernel() }),*];
            narrow.extend([$(Kernel { host: $step::narrow, ..$step::kernel() }),*]);
            let mut soft = vec![$(Kernel { host: $solver::soft, ..$solver::kernel() }),*];
            soft.extend([$(Kernel { host: $step::soft, ..$step::kernel() }),*]);
            [narrow, soft]
        }
    };
}

kernels!(
    solver: axpy, dot, fsai_begin, pcg_begin, pcg_check, pcg_enter, pcg_leave, pcg_product, pcg_residual,
        pcg_step, spmv, spmv_add;
    step: blend, convect, energy, face_flux, gradient_correct, gspmv, guess_add, guess_learn, guess_sums,
        kinetic, momentum_flux, monitor, predict, predicted_flux, spmv_times;
);
