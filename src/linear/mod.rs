//! Linear solvers over split kernels.

pub mod pcg;
pub mod refine;

pub use pcg::{Pcg, Solution};
pub use refine::Refine;

use crate::Result;
use crate::node::Buffer;
use crate::sparse::Csr;
use crate::split::{Engine, Place};

/// The solver that fits an engine's precision.
pub enum Solver {
    /// All in double precision.
    Plain(Box<Pcg<f64>>),
    /// Inner iterations in single precision.
    Refined(Box<Refine>),
}

impl Solver {
    /// Prepares to solve with `a`; `singular` as for [`Pcg::new`].
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(engine: &Engine<f64>, a: &Csr, singular: bool) -> Result<Self> {
        Ok(match engine.single {
            None => Self::Plain(Box::new(Pcg::new(engine, a, singular)?)),
            Some(_) => Self::Refined(Box::new(Refine::new(engine, a, singular)?)),
        })
    }

    /// As [`Pcg::solve`].
    ///
    /// # Errors
    /// The device failed.
    pub fn solve(
        &mut self,
        engine: &Engine<f64>,
        b: &mut Buffer<f64>,
        x: &mut Buffer<f64>,
        tolerance: f64,
        floor: f64,
        max_iterations: usize,
    ) -> Result<Solution> {
        match self {
            Self::Plain(s) => s.solve(engine, b, x, tolerance, floor, max_iterations),
            Self::Refined(s) => s.solve(engine, b, x, tolerance, floor, max_iterations),
        }
    }

    /// Its call sites, for reports.
    pub fn sites(&self) -> Vec<&Place> {
        match self {
            Self::Plain(s) => s.sites(),
            Self::Refined(s) => s.sites(),
        }
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        match self {
            Self::Plain(s) => s.copied_bytes(),
            Self::Refined(s) => s.copied_bytes(),
        }
    }
}
