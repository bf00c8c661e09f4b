//! Incompressible flow: operators, boundaries, time steps.

pub mod boundary;
pub mod operators;
