//! Joining the other processes of the job.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use mpi::ffi;

use super::{HANDLES, Handles, World, check, combine, library};
use crate::cluster::comm::{REDUCE_MOST, Transport, witness};
use crate::cluster::launcher::{self, Mpi, SIZES};
use crate::node::topology;
use crate::{Error, Result};

/// What launchers set for each process they start.
const LAUNCHERS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PMI_FD"];

/// Joins the other processes, where a launcher has started this one.
///
/// # Errors
/// MPI does not start; [`Error::Input`] where the launcher is another MPI's.
pub fn launch() -> Result<Option<Box<dyn Transport>>> {
    if !LAUNCHERS
        .iter()
        .any(|name| std::env::var_os(name).is_some())
    {
        return Ok(None);
    }
    witness::stand_by(&topology::host_name());
    let mut provided = 0;
    // SAFETY: called once, before any other MPI call; null arguments are allowed.
    let code = unsafe {
        ffi::MPI_Init_thread(
            null_mut(),
            null_mut(),
            ffi::RSMPI_THREAD_FUNNELED,
            &raw mut provided,
        )
    };
    check("MPI_Init_thread", code)?;
    let (mut rank, mut size) = (0, 0);
    let mut comm = MaybeUninit::uninit();
    let mut pack = MaybeUninit::uninit();
    let mut op = MaybeUninit::uninit();
    // SAFETY: MPI is up, and every out-pointer is live.
    unsafe {
        // A communicator of its own returns errors instead of ending the process.
        check(
            "MPI_Comm_dup",
            ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, comm.as_mut_ptr()),
        )?;
        let comm = comm.assume_init();
        check(
            "MPI_Comm_set_errhandler",
            ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN),
        )?;
        check("MPI_Comm_rank", ffi::MPI_Comm_rank(comm, &raw mut rank))?;
        check("MPI_Comm_size", ffi::MPI_Comm_size(comm, &raw mut size))?;
        check(
            "MPI_Type_contiguous",
            ffi::MPI_Type_contiguous(
                2 * REDUCE_MOST as c_int,
                ffi::RSMPI_DOUBLE,
                pack.as_mut_ptr(),
            ),
        )?;
        check("MPI_Type_commit", ffi::MPI_Type_commit(pack.as_mut_ptr()))?;
        check(
            "MPI_Op_create",
            ffi::MPI_Op_create(Some(combine), 1, op.as_mut_ptr()),
        )?;
    }
    // SAFETY: written by the calls above, all of which succeeded.
    let (comm, pack, combine) =
        unsafe { (comm.assume_init(), pack.assume_init(), op.assume_init()) };
    let handles = Handles {
        comm,
        pack,
        combine,
    };
    HANDLES.set(Some(handles));
    if size == 1 {
        witness::dismiss();
        belongs_together()?;
    }
    Ok(Some(Box::new(World {
        rank: rank as usize,
        size: size as usize,
        handles,
    })))
}

/// A launcher of another MPI starts as many runs as processes, each of which believes to be alone.
fn belongs_together() -> Result<()> {
    let asked = |name: &&str| std::env::var(name).ok()?.parse::<usize>().ok();
    let Some(n @ 2..) = SIZES.iter().find_map(asked) else {
        return Ok(());
    };
    Err(Error::input(
        "mpirun",
        format!(
            "{n} processes were started, but by another MPI than {}, which this build is for",
            Mpi::of(&library().unwrap_or_default()).name()
        ),
        match launcher::launcher() {
            "mpirun" => "build with the MPI whose mpirun comes first in PATH".to_owned(),
            name => format!("start them with {name}"),
        },
    ))
}
