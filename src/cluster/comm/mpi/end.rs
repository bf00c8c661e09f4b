//! The end of a process among others: in order, or of all of them.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use mpi::ffi;

use super::{HANDLES, PARTS, is_up};
use crate::cluster::comm::witness;

/// What MPI may take to end once every process has come to its end, s. (MPICH 4.0 over UCX and TCP
/// often never does: one rank waits for answers of others that listen no more.)
const END_S: libc::c_uint = 3;

/// Where MPICH's launcher listens; -1 for none.
static LAUNCHER: AtomicI32 = AtomicI32::new(-1);

/// Leaves the other processes, at the end of the program: nothing may be under way, and all results
/// are written.
pub fn finish() {
    extern "C" fn leave(_: libc::c_int) {
        // MPICH's launcher takes the end of a process that has not said this for a crash.
        const GOODBYE: &[u8] = b"cmd=finalize\n";
        let launcher = LAUNCHER.load(Ordering::Relaxed);
        // SAFETY: write, sleep and _exit may be called in a signal handler.
        unsafe {
            libc::write(launcher, GOODBYE.as_ptr().cast(), GOODBYE.len());
            // An answer to those that wait would be the end of this one, before theirs.
            libc::sleep(1);
            libc::_exit(0)
        };
    }
    if is_up() {
        let launcher = std::env::var("PMI_FD").ok().and_then(|fd| fd.parse().ok());
        LAUNCHER.store(launcher.unwrap_or(-1), Ordering::Relaxed);
        // SAFETY: MPI is up, no call of it follows, and the handles are taken once; the handler
        // calls nothing that is not allowed in one.
        unsafe {
            witness::told();
            if let Some(mut made) = HANDLES.take() {
                // Others may write results for as long as they like.
                ffi::MPI_Barrier(made.comm);
                libc::signal(libc::SIGALRM, leave as *const () as libc::sighandler_t);
                libc::alarm(END_S);
                for mut part in PARTS.take() {
                    ffi::MPI_Comm_free(&raw mut part);
                }
                ffi::MPI_Op_free(&raw mut made.combine);
                ffi::MPI_Type_free(&raw mut made.pack);
                ffi::MPI_Comm_free(&raw mut made.comm);
            }
            ffi::MPI_Finalize();
        }
    }
    witness::dismiss();
}

/// What was written last is on its way to the terminal for so long: MPICH's launcher drops what it has
/// not passed on when the job is aborted.
const HEARD: Duration = Duration::from_millis(200);

/// How long processes other than the first leave it to that one to tell what all have met.
const TURN: Duration = Duration::from_secs(1);
/// How long the launcher may take to end a process that another one has spoken for; it sees to that
/// itself then, for not all launchers end a job that has lost a process.
const ENDED: Duration = Duration::from_secs(10);

/// This process's number among how many.
fn place() -> (i32, i32) {
    let (mut rank, mut size) = (0, 1);
    if is_up() {
        // SAFETY: MPI is up.
        unsafe {
            ffi::MPI_Comm_rank(ffi::RSMPI_COMM_WORLD, &raw mut rank);
            ffi::MPI_Comm_size(ffi::RSMPI_COMM_WORLD, &raw mut size);
        }
    }
    (rank, size)
}

/// Returns when it is on this process to report its error: the first one does so at once, any other
/// where none of its machine has, which ends them all meanwhile.
pub fn wait_for_turn() {
    let (rank, size) = place();
    if size == 1 {
        return;
    }
    if rank > 0 {
        std::thread::sleep(TURN);
    }
    if !witness::told_for_all() {
        std::thread::sleep(ENDED);
    }
}

/// Ends all processes; returns where there is no other.
pub fn abort(code: i32) {
    let (_, size) = place();
    if size > 1 {
        witness::told_for_all();
        std::thread::sleep(HEARD);
        // SAFETY: MPI is up.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code) };
    }
}
