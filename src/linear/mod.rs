//! Linear solvers over split kernels.

pub mod auto;
pub mod guess;
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
use crate::kernel::Real;
use crate::node::Buffer;
use crate::sparse::Csr;
use crate::split::{Engine, Place};

/// Starts what follows a solution, `x`. A solver with time to spare calls it while the device finds
/// out whether `x` is one: then perhaps again, of a better one.
pub type Follow<'a, T> = &'a mut dyn FnMut(&Buffer<T>) -> Result<()>;

/// How far a solve goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Of the residual, relative to `|b|`.
    pub tolerance: f64,
    /// Of the residual: the round-off in `b`.
    pub floor: f64,
    /// Most iterations.
    pub max_iterations: usize,
}

/// What a time step asks of a solver.
pub trait Solve<T: Real> {
    /// As [`Pcg::solve`]; and whether what follows has been started of the solution.
    ///
    /// # Errors
    /// The device failed.
    fn solve_then(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        bounds: Bounds,
        follow: Option<Follow<'_, T>>,
    ) -> Result<(Solution, bool)>;

    /// From now on a solve begins along the steps of those before: see [`guess`]. For a series of
    /// right-hand sides that change smoothly.
    ///
    /// # Errors
    /// Out of memory.
    fn remember(&mut self, engine: &Engine<T>) -> Result<()>;

    /// Its call sites, for reports.
    fn sites(&self) -> Vec<&Place>;

    /// Bytes copied between host and device so far.
    fn copied_bytes(&self) -> u64;
}

/// Makes the methods that a solver has of its own those of [`Solve`].
macro_rules! solves {
    ($(($($of:tt)*) $solver:ty, $t:ty;)*) => {
        $(impl$($of)* Solve<$t> for $solver {
            fn solve_then(
                &mut self,
                engine: &Engine<$t>,
                b: &mut Buffer<$t>,
                x: &mut Buffer<$t>,
                bounds: Bounds,
                follow: Option<Follow<'_, $t>>,
            ) -> Result<(Solution, bool)> {
                self.solve_then(engine, b, x, bounds, follow)
            }
            fn remember(&mut self, engine: &Engine<$t>) -> Result<()> {
                self.remember(engine)
            }
            fn sites(&self) -> Vec<&Place> {
                self.sites()
            }
            fn copied_bytes(&self) -> u64 {
                self.copied_bytes()
            }
        })*
    };
}

solves!((<T: Real>) Pcg<T>, T; (<T: Real>) Auto<T>, T; () Refine, f64;);

/// A precision that time steps are computed in.
pub trait Precise: Real {
    /// [`Refine`] where `engine` has another one for inner iterations.
    ///
    /// # Errors
    /// As [`Refine::new`].
    fn refined(
        engine: &Engine<Self>,
        a: &Csr,
        singular: bool,
        preconditioner: Preconditioner,
        halo: &Rc<Halo>,
    ) -> Result<Option<Solver<Self>>>;
}

impl Precise for f64 {
    fn refined(
        engine: &Engine<f64>,
        a: &Csr,
        singular: bool,
        preconditioner: Preconditioner,
        halo: &Rc<Halo>,
    ) -> Result<Option<Solver<f64>>> {
        if engine.single.is_none() {
            return Ok(None);
        }
        let refine = Refine::new(engine, a, singular, preconditioner.pattern(), halo)?;
        Ok(Some(Solver(Box::new(refine))))
    }
}

impl Precise for f32 {
    fn refined(
        _: &Engine<f32>,
        _: &Csr,
        _: bool,
        _: Preconditioner,
        _: &Rc<Halo>,
    ) -> Result<Option<Solver<f32>>> {
        Ok(None)
    }
}

/// The solver that fits an engine's precision: [`Pcg`], [`Refine`], or [`Auto`].
pub struct Solver<T: Real = f64>(Box<dyn Solve<T>>);

impl<T: Precise> Solver<T> {
    /// Prepares to solve with `a`; `singular` as for [`Pcg::new`].
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(engine: &Engine<T>, a: &Csr, singular: bool) -> Result<Self> {
        Self::with(engine, a, singular, Preconditioner::Jacobi)
    }

    /// As [`Solver::new`], with that preconditioner. In mixed precision `auto` is Jacobi's.
    ///
    /// # Errors
    /// Out of memory.
    pub fn with(
        engine: &Engine<T>,
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
        engine: &Engine<T>,
        a: &Csr,
        singular: bool,
        preconditioner: Preconditioner,
        halo: &Rc<Halo>,
    ) -> Result<Self> {
        if let Some(refined) = T::refined(engine, a, singular, preconditioner, halo)? {
            return Ok(refined);
        }
        if preconditioner == Preconditioner::Auto {
            return Ok(Self(Box::new(Auto::over(engine, a, singular, halo)?)));
        }
        let pcg = Pcg::over(engine, a, singular, preconditioner.pattern(), halo)?;
        Ok(Self(Box::new(pcg)))
    }

    /// As [`Pcg::solve`].
    ///
    /// # Errors
    /// The device failed.
    pub fn solve(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        tolerance: f64,
        floor: f64,
        max_iterations: usize,
    ) -> Result<Solution> {
        let bounds = Bounds {
            tolerance,
            floor,
            max_iterations,
        };
        Ok(self.solve_then(engine, b, x, bounds, None)?.0)
    }

    /// As [`Solve::solve_then`].
    ///
    /// # Errors
    /// The device failed.
    pub fn solve_then(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        bounds: Bounds,
        follow: Option<Follow<'_, T>>,
    ) -> Result<(Solution, bool)> {
        self.0.solve_then(engine, b, x, bounds, follow)
    }

    /// As [`Solve::remember`].
    ///
    /// # Errors
    /// Out of memory.
    pub fn remember(&mut self, engine: &Engine<T>) -> Result<()> {
        self.0.remember(engine)
    }

    /// Its call sites, for reports.
    pub fn sites(&self) -> Vec<&Place> {
        self.0.sites()
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        self.0.copied_bytes()
    }
}
