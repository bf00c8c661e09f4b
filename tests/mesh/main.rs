//! Meshes: reading, checking, generating, renumbering; and matrices from files.

mod boxes;
mod fuzz;
mod gmsh;
mod gmsh_errors;
mod matrix_market;
mod periodic;
mod quality;
mod renumber;
