//! A case on a node: mesh, operators, time loop.

mod advance;
mod domain;
mod profiles;
mod setup;

pub use advance::{Snapshot, StepReport};
pub use domain::Whole;

use std::rc::Rc;
use std::time::Instant;

use domain::Domain;
use profiles::{Profiles, Read};

use super::boundary::{FaceKind, Vectors};
use super::case::{Case, Overlap};
use super::operators::Scheme;
use super::plain::Settings;
use super::stepper::{Monitor, PreciseStepper};
use crate::Result;
use crate::board::Board;
use crate::cluster::place::Place;
use crate::cluster::{Comm, Halo};
use crate::energy::Gauge;
use crate::mesh::Mesh;
use crate::node::{Tree, resident};
use crate::sparse::Csr;
use crate::split::cache::Cache;
use crate::split::{Bandwidth, Engine, Precision};

/// The part of a case that is this rank's, before a node is opened for it.
pub struct Plan {
    case: Case,
    domain: Domain,
}

impl Plan {
    /// Mesh and operators of `case` on this rank.
    ///
    /// # Errors
    /// As [`Simulation::open_on`].
    pub fn new(case: Case, comm: &Rc<Comm>) -> Result<Self> {
        let domain = Domain::new(&case, comm)?;
        Ok(Self { case, domain })
    }

    /// The matrix of the pressure equation, its border, and the rows of all ranks.
    pub fn pressure(&self) -> (&Csr, &Rc<Halo>, usize) {
        let ops = &self.domain.ops;
        (&ops.laplacian, &ops.halo, self.domain.whole.cells)
    }

    /// Opens the node.
    ///
    /// # Errors
    /// As [`Simulation::open_on`].
    pub fn open(self, comm: &Rc<Comm>, place: &Place) -> Result<Simulation> {
        let objective = setup::objective(&self.case, None, Some(place))?;
        let cache = Cache::load(Cache::default_path());
        Simulation::on(self, comm, Some(place), cache, objective)
    }
}

/// A case being run.
pub struct Simulation {
    /// The case.
    pub case: Case,
    /// The owned cells, renumbered for locality, without faces: a step reads matrices. A lone rank's
    /// are those of [`Case::ordered_mesh`].
    pub mesh: Mesh,
    /// The discretisation.
    pub scheme: Scheme,
    /// Why it was chosen.
    pub reason: String,
    /// What the log should say of the parts of the mesh.
    pub notes: Vec<String>,
    /// The whole mesh of all ranks.
    pub whole: Whole,
    /// Cells that this rank owns.
    pub owned: usize,
    /// Its border.
    pub halo: Rc<Halo>,
    /// The node.
    pub engine: Engine<f64>,
    /// Its memory bandwidth, measured before the first step.
    pub bandwidth: Bandwidth,
    /// The flow.
    pub stepper: PreciseStepper,
    /// Steps done.
    pub step: usize,
    /// Time, s.
    pub time_s: f64,
    patches: Vec<setup::Patch>,
    /// Centres of the boundary faces, m.
    edge: Vec<[f64; 3]>,
    given: Vectors,
    profiles: Profiles,
    read: Read,
    dt_s: f64,
    viscous_rate: f64,
    monitor: Monitor,
    kept: Option<Snapshot>,
    /// When that was; the next after so many steps.
    kept_at: Option<Instant>,
    keep_at: usize,
    retunes_seen: Vec<usize>,
    /// Steps whose pressure ended at round-off; that of the largest residual, and it.
    rounded_steps: usize,
    roughest: (usize, f64),
}

impl Simulation {
    /// Builds mesh, operators and fields, and opens the node.
    ///
    /// # Errors
    /// [`crate::Error::Input`] for a case or mesh that does not fit; failures of memory or device.
    pub fn open(case: Case) -> Result<Self> {
        Self::open_on(case, &Comm::solo(), None, None)
    }

    /// As [`Simulation::open`], with a meter for objectives that weigh energy, and the search for
    /// splits begins anew.
    ///
    /// # Errors
    /// As [`Simulation::open`]; [`crate::Error::Input`] for such an objective without a sensor.
    pub fn open_untuned(case: Case, gauge: &dyn Gauge) -> Result<Self> {
        let path = Cache::default_path();
        Self::open_from(case, &Comm::solo(), None, Cache::empty(path), Some(gauge))
    }

    /// As [`Simulation::open`], this process's part where `comm` has several ranks, in its place
    /// among those of its machine, with a meter for objectives that weigh energy.
    ///
    /// # Errors
    /// As [`Simulation::open`]; [`crate::Error::Input`] for such an objective without a sensor; a rank no
    /// longer answers.
    pub fn open_on(
        case: Case,
        comm: &Rc<Comm>,
        place: Option<&Place>,
        gauge: Option<&dyn Gauge>,
    ) -> Result<Self> {
        Self::open_from(case, comm, place, Cache::load(Cache::default_path()), gauge)
    }

    fn open_from(
        case: Case,
        comm: &Rc<Comm>,
        place: Option<&Place>,
        cache: Cache,
        gauge: Option<&dyn Gauge>,
    ) -> Result<Self> {
        let objective = setup::objective(&case, gauge, place)?;
        Self::on(Plan::new(case, comm)?, comm, place, cache, objective)
    }

    fn on(
        Plan { case, domain }: Plan,
        comm: &Rc<Comm>,
        place: Option<&Place>,
        cache: Cache,
        objective: Option<setup::Weighed>,
    ) -> Result<Self> {
        let Domain {
            mesh,
            geometry,
            patches,
            ops,
            reason,
            notes,
            whole,
            profiles,
            read,
        } = domain;
        let edge = geometry.face_centre[mesh.interior_faces()..].to_vec();
        let given = setup::given(&patches, &edge, 0.0, case.fluid.viscosity);
        setup::closed(&case, &ops, &given, comm)?;
        let settings = Settings {
            nu: case.fluid.viscosity,
            force: case.force.acceleration,
            tolerance: case.poisson.tolerance,
            max_iterations: case.poisson.max_iterations,
        };
        let u = setup::initial(&case, &geometry);
        let rate = comm.largest(setup::largest(&ops.viscous_rate))?;
        let viscous_rate = case.fluid.viscosity * rate;
        let dt_s = setup::first_dt(&case, &ops, &u, &given, viscous_rate, comm)?;
        drop(geometry);
        let mesh = mesh.into_front(ops.cells);
        let mut config = case.node.config();
        config.turn = place.map_or(config.turn, |p| p.turn);
        let mut engine = Engine::open_in(case.node.precision, &config, setup::policy(&case))?;
        let bandwidth = engine.bandwidth()?;
        if let Some((of, gauge)) = objective {
            let powers = engine.weigh_energy(of, gauge, &bandwidth)?;
            engine.node.notes.extend(powers);
        }
        engine.begin_from(&bandwidth, cache);
        engine.join(comm, case.cluster.overlap == Overlap::On);
        let board = Board::open(&case.node.board, &Tree::at("/"))?;
        if let Some(split) = board.and_then(|b| b.profile.tuned.split) {
            engine.begin_at(split);
        }
        let preconditioner = case.poisson.preconditioner;
        let mut stepper =
            PreciseStepper::with(&engine, &ops, settings, preconditioner, &u, &given, dt_s)?;
        let monitor = stepper.monitor(&engine)?;
        let retunes_seen = vec![0; stepper.sites().len()];
        let (scheme, owned, halo) = (ops.scheme, ops.cells, Rc::clone(&ops.halo));
        drop((ops, u));
        // Rank 0 has held the whole mesh, and every rank its matrices in two forms.
        resident::give_back();
        Ok(Self {
            mesh,
            scheme,
            reason,
            notes,
            whole,
            owned,
            halo,
            engine,
            bandwidth,
            stepper,
            step: 0,
            time_s: 0.0,
            patches,
            edge,
            given,
            profiles,
            read,
            dt_s,
            viscous_rate,
            monitor,
            kept: None,
            kept_at: None,
            keep_at: 0,
            retunes_seen,
            rounded_steps: 0,
            roughest: (0, 0.0),
            case,
        })
    }

    /// The velocity given at face `b` of the boundary, where one is (walls, inlets); they count from
    /// the first.
    pub fn given_velocity(&self, b: usize) -> Option<[f64; 3]> {
        let patch = self.patches.iter().find(|k| k.faces.contains(&b))?;
        let is_given = setup::face_kind(&patch.boundary) == FaceKind::Dirichlet;
        is_given.then(|| std::array::from_fn(|k| self.given[k][b]))
    }

    /// What the log should say at the end: that the pressure was solved to round-off, short of the
    /// tolerance.
    pub fn rounded_off(&self) -> Option<String> {
        let (step, residual) = self.roughest;
        let precision = self.engine.precision();
        let mixed = match precision {
            Precision::Fp32 => ", or run with --precision mixed",
            _ => "",
        };
        (self.rounded_steps > 0).then(|| {
            format!(
                "the pressure is solved to round-off in {} in {} of {} steps, to a relative \
                 residual of {residual:.1e} in the worst, step {step}; poisson.tolerance = {:.0e} \
                 asks for less: raise it{mixed}",
                precision.name(),
                self.rounded_steps,
                self.step,
                self.case.poisson.tolerance,
            )
        })
    }

    /// What the log should say since the last call: which sites began to search anew.
    pub fn retuned(&mut self) -> Option<String> {
        let mut again = Vec::new();
        for (site, seen) in self.stepper.sites().iter().zip(&mut self.retunes_seen) {
            let now = site.tuner().retunes().len();
            if now > *seen {
                again.push(site.label.clone());
            }
            *seen = now;
        }
        let what = "the time of a call has drifted; the split is tuned again";
        (!again.is_empty()).then(|| format!("step {}: {what}: {}", self.step, again.join(", ")))
    }

    /// Keeps the splits found for later runs.
    ///
    /// # Errors
    /// The cache file cannot be written.
    pub fn remember_splits(&mut self) -> Result<()> {
        self.engine.remember(&self.stepper.sites())
    }
}
