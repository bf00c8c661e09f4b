//! couloir: incompressible-flow kernels split between CPU threads and an
//! OpenCL device that share one memory, balanced while they run, and accounted
//! for in seconds and joules.
//!
//! Modules import only downwards in this order:
//! `cli` > `report` > `bench` > `doctor` > `flow` > `linear` > `mesh` > `split` >
//! `cluster` > `sparse` > `kernel` > `energy` > `board` > `node` > `input` > `error`.

pub mod bench;
pub mod board;
pub mod cli;
pub mod cluster;
pub mod doctor;
pub mod energy;
pub mod error;
pub mod flow;
pub mod input;
pub mod kernel;
pub mod linear;
pub mod mesh;
pub mod node;
pub mod report;
pub mod sparse;
pub mod split;

pub use error::{Error, Result};
