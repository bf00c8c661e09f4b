//! Linear solvers over split kernels.

pub mod auto;
pub mod pcg;
pub mod precond;
pub mod refine;
mod share;
mod system;

pub use auto::Auto;
pub use pcg::{Pcg, Solution};
pub use precond::Preconditioner;
pub use refine::Refine;

use std::rc::Rc;

use crate::Result;
use crate::cluster::Halo;
use crate::node::Buffer;
use crate::sparse::Csr;
use crate::split::{Engine, Place};

/// The solver that fits an engine's precision.
pub enum Solver {
    /// All in double precision.
    Plain(Box<Pcg<f64>>),
    /// Inner iterations in single precision.
    Refined(Box<Refine>),
    /// The faster one of two preconditioners.
    Auto(Box<Auto>),
}

impl Solver {
    /// Prepares to solve with `a`; `singular` as for [`Pcg::new`].
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(engine: &Engine<f64>, a: &Csr, singular: bool) -> Result<Self> {
        Self::with(engine, a, singular, Preconditioner::Jacobi)
    }

    /// As [`Solver::new`], with that preconditioner. In mixed precision `auto` is Jacobi's.
    ///
    /// # Errors
    /// Out of memory.
    pub fn with(
        engine: &Engine<f64>,
        a: &Csr,
        singular: bool,
        preconditioner: Preconditioner,
    ) -> Result<Self> {
        Self::over(engine, a, singular, preconditioner, &Halo::none())
    }

    /// As [`Solver::with`], on one of several ranks: see [`Pcg::over`].
    ///
    /// # Errors
    /// Out of memory; a rank no longer answers.
    pub fn over(
        engine: &Engine<f64>,
        a: &Csr,
        singular: bool,
        preconditioner: Preconditioner,
        halo: &Rc<Halo>,
    ) -> Result<Self> {
        let fsai = preconditioner.pattern();
        if engine.single.is_some() {
            let refine = Refine::new(engine, a, singular, fsai, halo)?;
            return Ok(Self::Refined(Box::new(refine)));
        }
        if preconditioner == Preconditioner::Auto {
            let auto = Auto::over(engine, a, singular, halo)?;
            return Ok(Self::Auto(Box::new(auto)));
        }
        let pcg = Pcg::over(engine, a, singular, fsai, halo)?;
        Ok(Self::Plain(Box::new(pcg)))
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
            Self::Auto(s) => s.solve(engine, b, x, tolerance, floor, max_iterations),
        }
    }

    /// Its call sites, for reports.
    pub fn sites(&self) -> Vec<&Place> {
        match self {
            Self::Plain(s) => s.sites(),
            Self::Refined(s) => s.sites(),
            Self::Auto(s) => s.sites(),
        }
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        match self {
            Self::Plain(s) => s.copied_bytes(),
            Self::Refined(s) => s.copied_bytes(),
            Self::Auto(s) => s.copied_bytes(),
        }
    }
}
