//! The twin without MPI: there is one process.

use super::Transport;
use crate::{Error, Result};

/// What launchers set to the number of processes.
const LAUNCHERS: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"];

/// No transport.
///
/// # Errors
/// [`Error::Input`] where a launcher has started several processes.
pub fn launch() -> Result<Option<Box<dyn Transport>>> {
    let asked = |name: &&str| {
        let value = std::env::var(name).ok()?;
        value.parse::<usize>().ok().filter(|&n| n > 1)
    };
    match LAUNCHERS.iter().find_map(asked) {
        Some(n) => Err(Error::input(
            "mpirun",
            format!("{n} processes were started, but this build runs as one"),
            "build with --features mpi (needs an MPI and libclang), or start without mpirun",
        )),
        None => Ok(None),
    }
}

/// Leaves the other processes: there are none.
pub fn finish() {}

/// Returns when it is on this process to report its error: at once.
pub fn wait_for_turn() {}

/// Ends all processes; returns where there is no other.
pub fn abort(_: i32) {}

/// Name and version of the MPI that this program was linked with: none.
pub fn library() -> Option<String> {
    None
}

/// Parts of a graph.
///
/// # Errors
/// Always: the library that cuts graphs comes with MPI.
pub fn k_way(_: &[i32], _: &[i32], _: usize) -> Result<Vec<u32>> {
    Err(Error::input(
        "ranks",
        "this build cannot cut a mesh into parts",
        "build with --features mpi (needs an MPI and libclang)",
    ))
}
