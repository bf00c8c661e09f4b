//! A flow in one precision or the other; what it tells is in double precision.

use std::borrow::Cow;

use super::{Monitor, StepResult, Stepper};
use crate::flow::boundary::Vectors;
use crate::flow::operators::Operators;
use crate::flow::plain::Settings;
use crate::kernel::Real;
use crate::linear::Preconditioner;
use crate::split::{Engine, Place, Precision};
use crate::{Error, Result};

/// A [`Stepper`] in the precision of its engine.
pub enum PreciseStepper {
    /// fp64, and mixed.
    Double(Box<Stepper<f64>>),
    /// fp32, on the engine's [`single`](Engine::single).
    Single(Box<Stepper<f32>>),
}

/// Calls the same method of the stepper on its engine.
macro_rules! on {
    ($self:ident, $engine:ident, $s:ident, $e:ident, $call:expr) => {
        match $self {
            Self::Double($s) => {
                let $e = $engine;
                $call
            }
            Self::Single($s) => {
                let $e = single($engine)?;
                $call
            }
        }
    };
}

impl PreciseStepper {
    /// As [`Stepper::with`].
    ///
    /// # Errors
    /// As [`Stepper::with`].
    pub fn with(
        engine: &Engine<f64>,
        ops: &Operators,
        settings: Settings,
        p: Preconditioner,
        u: &Vectors,
        given: &Vectors,
        dt: f64,
    ) -> Result<Self> {
        if engine.precision() == Precision::Fp32 {
            let engine = single(engine)?;
            let stepper = Stepper::with(engine, ops, settings, p, u, given, dt)?;
            return Ok(Self::Single(Box::new(stepper)));
        }
        let stepper = Stepper::with(engine, ops, settings, p, u, given, dt)?;
        Ok(Self::Double(Box::new(stepper)))
    }

    /// As [`Stepper::step`].
    ///
    /// # Errors
    /// As [`Stepper::step`].
    pub fn step<'a>(
        &mut self,
        engine: &Engine<f64>,
        dt: f64,
        given: impl Into<Option<&'a Vectors>>,
    ) -> Result<StepResult> {
        on!(self, engine, s, e, s.step(e, dt, given))
    }

    /// As [`Stepper::fix_iterations`].
    pub fn fix_iterations(&mut self, iterations: usize) {
        match self {
            Self::Double(s) => s.fix_iterations(iterations),
            Self::Single(s) => s.fix_iterations(iterations),
        }
    }

    /// As [`Stepper::monitor`].
    ///
    /// # Errors
    /// As [`Stepper::monitor`].
    pub fn monitor(&mut self, engine: &Engine<f64>) -> Result<Monitor> {
        on!(self, engine, s, e, s.monitor(e))
    }

    /// Cell velocities, m/s.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn velocity(&self) -> Result<[Cow<'_, [f64]>; 3]> {
        Ok(match self {
            Self::Double(s) => s.velocity()?.map(Cow::Borrowed),
            Self::Single(s) => s.velocity()?.map(widened),
        })
    }

    /// Cell pressures, m2/s2.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn pressure(&self) -> Result<Cow<'_, [f64]>> {
        Ok(match self {
            Self::Double(s) => Cow::Borrowed(s.pressure()?),
            Self::Single(s) => widened(s.pressure()?),
        })
    }

    /// Every call site, for tuning and reports.
    pub fn sites(&self) -> Vec<&Place> {
        match self {
            Self::Double(s) => s.sites(),
            Self::Single(s) => s.sites(),
        }
    }

    /// Bytes copied between host and device so far, matrices left out (they move once).
    pub fn copied_bytes(&self) -> u64 {
        match self {
            Self::Double(s) => s.copied_bytes(),
            Self::Single(s) => s.copied_bytes(),
        }
    }
}

fn widened(x: &[f32]) -> Cow<'static, [f64]> {
    x.iter().map(|x| x.f64()).collect()
}

fn single(engine: &Engine<f64>) -> Result<&Engine<f32>> {
    engine.single.as_deref().ok_or_else(|| {
        Error::failure(
            "steps in fp32 were asked of an engine without it",
            "report this as a defect",
        )
    })
}
