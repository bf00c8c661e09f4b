//! Several ranks: the same flow as on one, failures that are named, a network like a board's.

#[path = "../support/folder.rs"]
mod folder;
#[path = "../support/ranks.rs"]
mod ranks;

mod failure;
mod memory;
mod network;
mod overlap;
mod predict;
mod same;
mod scale;
mod solvers;
