//! Linear solvers over split kernels.

pub mod pcg;

pub use pcg::{Pcg, Solution};
