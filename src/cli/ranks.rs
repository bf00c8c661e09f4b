//! The ranks of a run: found, put in their places, and found to run the same thing.

use std::rc::Rc;
use std::time::Duration;

use crate::cluster::Comm;
use crate::cluster::pack::hash;
use crate::cluster::place::Place;
use crate::flow::case::{Case, MeshSource};
use crate::{Error, Result};

/// The other processes, and this one's place among those of its machine.
pub(super) struct Ranks {
    pub comm: Rc<Comm>,
    pub place: Place,
}

impl Ranks {
    /// Joins the others that a launcher has started. Only rank 0 logs from then on.
    ///
    /// # Errors
    /// As [`Comm::open`].
    pub fn open() -> Result<Self> {
        let comm = Comm::open()?;
        let place = Place::agree(&comm)?;
        place.take();
        comm.set_polite(place.crowded);
        if !comm.leads() {
            log::set_max_level(log::LevelFilter::Warn);
        }
        Ok(Self { comm, place })
    }

    /// Makes sure that all ranks run the same program on the same case and mesh.
    ///
    /// # Errors
    /// [`Error::Input`] that names what differs and the first rank where it does.
    pub fn same(&self, case: &Case) -> Result<()> {
        if self.comm.size() == 1 {
            return Ok(());
        }
        let program = std::fs::read("/proc/self/exe").map_or(0, |bytes| hash(&bytes));
        // Rank 0 alone needs the mesh's file: where others have none, that is no difference.
        let mesh = match &case.mesh {
            MeshSource::File(path) => std::fs::read(path).map_or(0, |bytes| hash(&bytes)),
            MeshSource::Box(_) => 0,
        };
        let mine = [program, case.hash, mesh];
        let all = self.comm.gather(bytemuck::cast_slice(&mine))?;
        let of = |rank: usize, what: usize| all[rank].get(8 * what..8 * what + 8);
        for (what, name, remedy) in [
            (0, "program", "copy one binary to all hosts"),
            (1, "case file", "copy one case file to all hosts"),
            (
                2,
                "mesh file",
                "copy one mesh to all hosts, or leave it on the first alone",
            ),
        ] {
            let absent = |rank: &usize| what == 2 && of(*rank, what) == Some(&[0; 8]);
            let mut ranks = (0..all.len()).filter(|r| !absent(r));
            let first = ranks.next().unwrap_or(0);
            if let Some(other) = ranks.find(|&r| of(r, what) != of(first, what)) {
                let (a, b) = (self.comm.name_of(first), self.comm.name_of(other));
                return Err(Error::input(
                    "mpirun",
                    format!("the {name} of {b} differs from that of {a}"),
                    remedy,
                ));
            }
        }
        // Until the first step, ranks wait for idle machines to be metered, for the mesh, for
        // compilers and for each other.
        self.patience(case.energy.idle_s + START_PATIENCE * case.cluster.timeout_s);
        Ok(())
    }

    /// From now on no rank may be silent for longer than the case allows.
    ///
    /// # Errors
    /// A rank no longer answers.
    pub fn watch(&self, case: &Case) -> Result<()> {
        self.comm.barrier()?;
        self.patience(case.cluster.timeout_s);
        Ok(())
    }

    fn patience(&self, seconds: f64) {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.comm.set_patience(patience);
    }
}

/// Start-up may take so many times longer than a wait during the run.
const START_PATIENCE: f64 = 10.0;
