//! The operators and the stepper, against identities, exact solutions and published tables.

#[path = "../support/flows.rs"]
mod flows;

mod operators;
mod operators_consistent;
mod order;
mod physics_cavity;
mod physics_channel;
mod physics_energy;
mod physics_ethier;
mod physics_poisson;
mod stepper;
