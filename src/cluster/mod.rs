//! Several processes, one per node: who they are, how cells are dealt out, how they exchange
//! the values at their borders.
//!
//! A rank owns cells. Rows of a matrix are its owned cells, *inner* ones first, then the
//! *interface*: those that a neighbouring rank needs. Behind them, from the next whole block on,
//! a vector holds its *halo*: copies of the neighbours' interface values.

pub mod comm;
pub mod halo;
pub mod launcher;
mod link;
mod mail;
pub mod network;
pub mod pack;
pub mod partition;
pub mod place;

pub use comm::{Comm, library as mpi_library};
pub use halo::{Halo, Reach};
