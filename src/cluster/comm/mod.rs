//! Messages between ranks. One interface; what carries the bytes is a [`Transport`], made by
//! one of two twins: `solo` (there is one process) and `mpi`; that of [`Comm::absent`] carries
//! nothing.
//!
//! Every wait is polled and has a deadline: a rank that no longer answers ends the job with a
//! message that names it. See [`Comm::wait`].

mod absent;
mod bytes;
#[cfg(test)]
mod echo;
mod part;
mod transport;
mod watch;
pub mod witness;

#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "mpi")]
use self::mpi as twin;
#[cfg(not(feature = "mpi"))]
mod solo;
#[cfg(not(feature = "mpi"))]
use self::solo as twin;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::launcher::Mpi;
use super::network::Network;
use crate::node::topology;
use crate::{Error, Result};

pub use absent::Laps;
pub use transport::{REDUCE_MOST, Ticket, Transport};
pub use twin::{abort, finish, k_way, library, wait_for_turn};

/// What `couloir --version` says of MPI.
pub fn version() -> String {
    library().map_or("without MPI".into(), |text| {
        format!("with {}", Mpi::of(&text).name())
    })
}

/// Time that a rank has spent on the others, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// In exchanges of halos: packing, sending, waiting, unpacking.
    pub exchange_s: f64,
    /// In reductions.
    pub reduce_s: f64,
    /// Halo exchanges done.
    pub exchanges: u64,
    /// Reductions done.
    pub reductions: u64,
    /// Bytes sent in halo exchanges.
    pub sent_bytes: u64,
}

/// This process among the others.
pub struct Comm {
    transport: Option<Box<dyn Transport>>,
    rank: usize,
    size: usize,
    hosts: RefCell<Vec<String>>,
    patience: Cell<Duration>,
    step: Cell<usize>,
    polite: Cell<bool>,
    pretended: Cell<Option<Network>>,
    spent: Cell<Spent>,
}

impl Comm {
    /// One process alone.
    pub fn solo() -> Rc<Self> {
        Rc::new(Self::over(None))
    }

    /// All processes that a launcher such as `mpirun` has started, or this one alone.
    ///
    /// # Errors
    /// [`Error::Input`] under a launcher where this build has no MPI.
    pub fn open() -> Result<Rc<Self>> {
        // One rank alone goes the way of a process that no launcher has started.
        let comm = Self::over(twin::launch()?.filter(|t| t.size() > 1));
        if comm.size > 1 {
            watch::say_last_words();
        }
        let hosts = comm.gather(topology::host_name().as_bytes())?;
        let names = hosts
            .iter()
            .map(|h| String::from_utf8_lossy(h).into_owned());
        *comm.hosts.borrow_mut() = names.collect();
        comm.at_step(0);
        Ok(Rc::new(comm))
    }

    fn over(transport: Option<Box<dyn Transport>>) -> Self {
        let (rank, size) = transport.as_ref().map_or((0, 1), |t| (t.rank(), t.size()));
        Self {
            transport,
            rank,
            size,
            hosts: RefCell::new(vec![topology::host_name()]),
            patience: Cell::new(watch::START),
            step: Cell::new(0),
            polite: Cell::new(false),
            pretended: Cell::new(None),
            spent: Cell::new(Spent::default()),
        }
    }

    /// Number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether the other ranks are there: those of [`Comm::absent`] are not.
    pub fn is_manned(&self) -> bool {
        self.transport.as_ref().is_none_or(|t| t.is_manned())
    }

    /// Whether this is the rank that speaks for all.
    pub fn leads(&self) -> bool {
        self.rank == 0
    }

    /// `rank R on HOST`.
    pub fn name_of(&self, rank: usize) -> String {
        match self.hosts.borrow().get(rank) {
            Some(host) => format!("rank {rank} on {host}"),
            None => format!("rank {rank}"),
        }
    }

    /// Host of every rank.
    pub fn hosts(&self) -> Vec<String> {
        self.hosts.borrow().clone()
    }

    /// How long a wait may last without a sign of life.
    pub fn set_patience(&self, patience: Duration) {
        self.patience.set(patience);
    }

    /// Whether waits leave the core to others at once: more ranks than cores share it.
    pub fn set_polite(&self, polite: bool) {
        self.polite.set(polite);
    }

    /// From now on halo exchanges and sums end no sooner than over `network`, however quick the
    /// present one is; nobody works meanwhile but who has something to do. For measurements.
    pub fn pretend(&self, network: Option<Network>) {
        self.pretended.set(network);
    }

    /// When what takes `seconds` over the pretended network, and begins now, ends.
    pub(super) fn due(&self, seconds: impl Fn(&Network) -> f64) -> Option<Instant> {
        let network = self.pretended.get()?;
        Some(Instant::now() + Duration::from_secs_f64(seconds(&network)))
    }

    /// Returns when `due` has come.
    pub(super) fn until(&self, due: Option<Instant>) {
        while due.is_some_and(|due| Instant::now() < due) {
            match self.polite.get() {
                true => std::thread::yield_now(),
                false => std::hint::spin_loop(),
            }
        }
    }

    /// Notes the time step for messages.
    pub fn at_step(&self, step: usize) {
        self.step.set(step);
        watch::note_step(self.rank, step);
    }

    /// What communication has cost so far.
    pub fn spent(&self) -> Spent {
        self.spent.get()
    }

    /// Adds to what communication has cost.
    pub fn charge(&self, change: impl FnOnce(&mut Spent)) {
        let mut spent = self.spent.get();
        change(&mut spent);
        self.spent.set(spent);
    }

    /// Sums of `sums` and largest of `largest` over all ranks, the same on all, in one message.
    ///
    /// # Errors
    /// A rank no longer answers.
    pub fn combine(&self, sums: &mut [f64], largest: &mut [f64]) -> Result<()> {
        let Some(transport) = &self.transport else {
            return Ok(());
        };
        if sums.len() > REDUCE_MOST || largest.len() > REDUCE_MOST {
            return Err(Error::failure(
                "too many values in one reduction",
                "report this as a defect",
            ));
        }
        let start = Instant::now();
        let due = self.due(|n| n.reduce_s(self.size));
        let mut values = [[0.0; 2 * REDUCE_MOST]; 2];
        let (first, second) = values[0].split_at_mut(REDUCE_MOST);
        first[..sums.len()].copy_from_slice(sums);
        second.fill(f64::NEG_INFINITY);
        second[..largest.len()].copy_from_slice(largest);
        // SAFETY: `values` outlives the wait below, which returns when the message is done or
        // the job is about to end.
        let ticket = unsafe { transport.reduce(&raw mut values) }?;
        self.wait(&mut [ticket], "a sum over all ranks")?;
        self.until(due);
        let (first, second) = values[1].split_at(REDUCE_MOST);
        sums.copy_from_slice(&first[..sums.len()]);
        largest.copy_from_slice(&second[..largest.len()]);
        self.charge(|s| {
            s.reduce_s += start.elapsed().as_secs_f64();
            s.reductions += 1;
        });
        Ok(())
    }

    /// Sum over all ranks.
    ///
    /// # Errors
    /// As [`Comm::combine`].
    pub fn sum(&self, value: f64) -> Result<f64> {
        let mut values = [value];
        self.combine(&mut values, &mut [])?;
        Ok(values[0])
    }

    /// Largest over all ranks.
    ///
    /// # Errors
    /// As [`Comm::combine`].
    pub fn largest(&self, value: f64) -> Result<f64> {
        let mut values = [value];
        self.combine(&mut [], &mut values)?;
        Ok(values[0])
    }

    /// Returns when all ranks have called it.
    ///
    /// # Errors
    /// As [`Comm::combine`].
    pub fn barrier(&self) -> Result<()> {
        self.sum(0.0).map(|_| ())
    }

    /// Puts the name of this rank and its step before what went wrong.
    pub fn sign(&self, error: Error) -> Error {
        if self.size == 1 {
            return error;
        }
        let who = format!("{} at step {}", self.name_of(self.rank), self.step.get());
        match error {
            Error::Failure { what, remedy } if !what.starts_with("rank ") => Error::Failure {
                what: format!("{who}: {what}"),
                remedy,
            },
            Error::Device {
                device,
                what,
                remedy,
            } => Error::Device {
                device: format!("{device} of {who}"),
                what,
                remedy,
            },
            other => other,
        }
    }

    pub(super) fn transport(&self) -> Option<&dyn Transport> {
        self.transport.as_deref()
    }
}
