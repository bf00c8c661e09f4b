//! The twin with MPI (Open MPI or MPICH, through rsmpi's bindings), and METIS.

mod end;
mod launch;
mod metis;

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

pub use end::{abort, finish, wait_for_turn};
pub use launch::launch;
pub use metis::k_way;
use mpi::ffi;

use super::{REDUCE_MOST, Ticket, Transport};
use crate::{Error, Result};

/// All processes of the job, or the first of them.
struct World {
    rank: usize,
    size: usize,
    handles: Handles,
}

/// What MPI has made for this program, until [`finish`].
#[derive(Clone, Copy)]
struct Handles {
    comm: ffi::MPI_Comm,
    /// `2 * REDUCE_MOST` numbers as one element, and how two of them are combined.
    pack: ffi::MPI_Datatype,
    combine: ffi::MPI_Op,
}

thread_local! {
    static HANDLES: Cell<Option<Handles>> = const { Cell::new(None) };
    /// Communicators of some of the processes, until [`finish`].
    static PARTS: RefCell<Vec<ffi::MPI_Comm>> = const { RefCell::new(Vec::new()) };
}

fn check(call: &str, code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let mut text = [0 as c_char; 2048];
    let mut length = 0;
    // SAFETY: the array is longer than MPI_MAX_ERROR_STRING of Open MPI and MPICH.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr(), &raw mut length) };
    let text = text[..(length.max(0) as usize).min(text.len())]
        .iter()
        .map(|&c| c as u8 as char);
    Err(Error::failure(
        format!("{call} failed: {}", text.collect::<String>()),
        "look at the network and at the other ranks' messages",
    ))
}

/// Sums and largest values of packed elements.
unsafe extern "C" fn combine(
    from: *mut c_void,
    into: *mut c_void,
    count: *mut c_int,
    _: *mut ffi::MPI_Datatype,
) {
    const N: usize = 2 * REDUCE_MOST;
    // SAFETY: MPI calls this with `count` elements of the type that the operation was used with,
    // which is `N` doubles.
    let (from, into) = unsafe {
        let n = (*count).max(0) as usize * N;
        (
            std::slice::from_raw_parts(from.cast::<f64>(), n),
            std::slice::from_raw_parts_mut(into.cast::<f64>(), n),
        )
    };
    for (i, (a, b)) in into.iter_mut().zip(from).enumerate() {
        *a = if i % N < REDUCE_MOST {
            *a + b
        } else {
            a.max(*b)
        };
    }
}

impl World {
    fn ticket(request: ffi::MPI_Request) -> Ticket {
        const { assert!(size_of::<ffi::MPI_Request>() <= size_of::<usize>()) };
        let mut ticket = 0usize;
        // SAFETY: a request is a plain handle, no longer than a ticket (asserted).
        unsafe {
            std::ptr::copy_nonoverlapping(
                (&raw const request).cast::<u8>(),
                (&raw mut ticket).cast::<u8>(),
                size_of::<ffi::MPI_Request>(),
            );
        }
        Ticket(ticket)
    }
}

impl Transport for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    // SAFETY: the caller keeps `data` alive until the ticket is done.
    unsafe fn send(&self, to: usize, tag: i32, data: *const u8, bytes: usize) -> Result<Ticket> {
        let mut request = MaybeUninit::uninit();
        // SAFETY: the caller keeps `data` alive; the request is written by the call.
        unsafe {
            check(
                "MPI_Isend",
                ffi::MPI_Isend(
                    data.cast(),
                    bytes as c_int,
                    ffi::RSMPI_UINT8_T,
                    to as c_int,
                    tag,
                    self.handles.comm,
                    request.as_mut_ptr(),
                ),
            )?;
            Ok(Self::ticket(request.assume_init()))
        }
    }

    // SAFETY: the caller keeps `data` alive and alone until the ticket is done.
    unsafe fn receive(&self, from: usize, tag: i32, data: *mut u8, bytes: usize) -> Result<Ticket> {
        let mut request = MaybeUninit::uninit();
        // SAFETY: as in `send`.
        unsafe {
            check(
                "MPI_Irecv",
                ffi::MPI_Irecv(
                    data.cast(),
                    bytes as c_int,
                    ffi::RSMPI_UINT8_T,
                    from as c_int,
                    tag,
                    self.handles.comm,
                    request.as_mut_ptr(),
                ),
            )?;
            Ok(Self::ticket(request.assume_init()))
        }
    }

    // SAFETY: the caller keeps `values` alive and alone until the ticket is done.
    unsafe fn reduce(&self, values: *mut [[f64; 2 * REDUCE_MOST]; 2]) -> Result<Ticket> {
        let mut request = MaybeUninit::uninit();
        // SAFETY: as in `send`; one element of `pack` is one of the two arrays.
        unsafe {
            check(
                "MPI_Iallreduce",
                ffi::MPI_Iallreduce(
                    values.cast(),
                    values.cast::<[f64; 2 * REDUCE_MOST]>().add(1).cast(),
                    1,
                    self.handles.pack,
                    self.handles.combine,
                    self.handles.comm,
                    request.as_mut_ptr(),
                ),
            )?;
            Ok(Self::ticket(request.assume_init()))
        }
    }

    fn done(&self, tickets: &mut [Ticket]) -> Result<bool> {
        let mut all = true;
        for Ticket(handle) in tickets {
            let mut flag = 0;
            // SAFETY: the ticket holds a request of ours; when it is done MPI replaces it by the
            // null request, for which the test is true.
            let code = unsafe {
                ffi::MPI_Test(
                    (&raw mut *handle).cast(),
                    &raw mut flag,
                    ffi::RSMPI_STATUS_IGNORE,
                )
            };
            check("MPI_Test", code)?;
            all &= flag != 0;
        }
        Ok(all)
    }

    fn first(&self, ranks: usize) -> Result<Option<Box<dyn Transport>>> {
        let inside = self.rank < ranks;
        let mut part = MaybeUninit::uninit();
        // SAFETY: MPI is up, all processes call this (the trait says so), and the out-pointer is
        // live; what is made is kept until the end.
        let comm = unsafe {
            let split = ffi::MPI_Comm_split(
                self.handles.comm,
                c_int::from(inside),
                self.rank as c_int,
                part.as_mut_ptr(),
            );
            check("MPI_Comm_split", split)?;
            let comm = part.assume_init();
            PARTS.with_borrow_mut(|parts| parts.push(comm));
            check(
                "MPI_Comm_set_errhandler",
                ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN),
            )?;
            comm
        };
        let part = Self {
            rank: self.rank,
            size: ranks,
            handles: Handles {
                comm,
                ..self.handles
            },
        };
        Ok(inside.then(|| Box::new(part) as Box<dyn Transport>))
    }
}

fn is_up() -> bool {
    let (mut begun, mut ended) = (0, 0);
    // SAFETY: both may be called at any time.
    unsafe {
        ffi::MPI_Initialized(&raw mut begun);
        ffi::MPI_Finalized(&raw mut ended);
    }
    begun != 0 && ended == 0
}

/// Name and version of the MPI that this program was linked with.
pub fn library() -> Option<String> {
    let mut text = [0 as c_char; 8192 + 1];
    let mut length = 0;
    // SAFETY: allowed before MPI_Init; the array is as long as the longest version text.
    let code = unsafe { ffi::MPI_Get_library_version(text.as_mut_ptr(), &raw mut length) };
    let length = (length.max(0) as usize).min(text.len());
    let bytes = text[..length].iter().map(|&c| c as u8 as char);
    let first: String = bytes
        .take_while(|c| *c != ',' && *c != '\n' && *c != '\0')
        .collect();
    let name = if code == 0 {
        first.trim()
    } else {
        "an unknown MPI"
    };
    Some(name.to_owned())
}
