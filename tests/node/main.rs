//! The node: devices, memory, threads of unlike speed, and every kernel on all of them.

#[path = "../support/folder.rs"]
mod folder;
#[path = "../support/made.rs"]
mod made;

mod big_little;
mod devices;
mod ends;
mod iterates;
mod kernels;
mod linear;
mod mixed;
mod mixed_factor;
mod mixed_uniform;
mod precond;
mod series;
mod single;
