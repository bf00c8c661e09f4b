//! Incompressible flow: operators, boundaries, time steps.

pub mod boundary;
pub mod case;
pub mod exact;
pub mod operators;
pub mod plain;
pub mod prediction;
pub mod scaling;
pub mod simulation;
pub mod stepper;
