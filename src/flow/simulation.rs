//! A case on a node: mesh, operators, time loop.

mod domain;
mod setup;
mod whole;

pub use domain::Whole;
pub use whole::WholeField;

use std::rc::Rc;
use std::time::Instant;

use domain::Domain;

use super::boundary::Vectors;
use super::case::{Boundary, Case, Overlap, StepSize};
use super::operators::Scheme;
use super::plain::Settings;
use super::stepper::{Monitor, StepResult, Stepper};
use crate::board::Board;
use crate::cluster::place::Place;
use crate::cluster::{Comm, Halo};
use crate::energy::Gauge;
use crate::mesh::Mesh;
use crate::mesh::geometry::Geometry;
use crate::node::{Tree, resident};
use crate::sparse::Csr;
use crate::split::cache::Cache;
use crate::split::{Bandwidth, Engine};
use crate::{Error, Result};

/// Courant number beyond which an explicit step has certainly failed; its limit is about 1.
const COURANT_LOST: f64 = 50.0;
/// Steps between two copies of the field that a diverged run falls back to.
const KEEP_EVERY: usize = 10;
/// Most that a Courant-limited dt grows from step to step.
const DT_GROWTH: f64 = 1.2;

/// What one step did.
#[derive(Clone, Copy, Debug)]
pub struct StepReport {
    /// Number of the step, from 1.
    pub step: usize,
    /// Time at its end, s.
    pub time_s: f64,
    /// Its length, s.
    pub dt_s: f64,
    /// Mean and largest Courant number, `dt sum |phi| / (2 V)`.
    pub courant_mean: f64,
    /// See `courant_mean`.
    pub courant_max: f64,
    /// Pressure solve, kinetic energy, continuity.
    pub result: StepResult,
}

/// A copy of the fields.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// After this step.
    pub step: usize,
    /// Time, s.
    pub time_s: f64,
    /// Velocity in cells, m/s.
    pub velocity: Vectors,
    /// Kinematic pressure in cells, m2/s2.
    pub pressure: Vec<f64>,
}

/// The matrix of the pressure equation on this rank, its border, and the rows of all ranks.
///
/// # Errors
/// As [`Simulation::open_on`].
pub fn pressure_matrix(case: &Case, comm: &Rc<Comm>) -> Result<(Csr, Rc<Halo>, usize)> {
    let domain = Domain::new(case, comm)?;
    let ops = domain.ops;
    Ok((ops.laplacian, ops.halo, domain.whole.cells))
}

/// A case being run.
pub struct Simulation {
    /// The case.
    pub case: Case,
    /// The mesh, renumbered for locality; of several ranks, owned cells come first.
    pub mesh: Mesh,
    /// Its geometry.
    pub geometry: Geometry,
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
    pub stepper: Stepper,
    /// Steps done.
    pub step: usize,
    /// Time, s.
    pub time_s: f64,
    patches: Vec<setup::Patch>,
    given: Vectors,
    dt_s: f64,
    viscous_rate: f64,
    monitor: Monitor,
    kept: Option<Snapshot>,
    retunes_seen: Vec<usize>,
}

impl Simulation {
    /// Builds mesh, operators and fields, and opens the node.
    ///
    /// # Errors
    /// [`Error::Input`] for a case or mesh that does not fit; failures of memory or device.
    pub fn open(case: Case) -> Result<Self> {
        Self::open_on(case, &Comm::solo(), None, None)
    }

    /// As [`Simulation::open`], with a meter for objectives that weigh energy, and the search for
    /// splits begins anew.
    ///
    /// # Errors
    /// As [`Simulation::open`]; [`Error::Input`] for such an objective without a sensor.
    pub fn open_untuned(case: Case, gauge: &dyn Gauge) -> Result<Self> {
        let path = Cache::default_path();
        Self::open_from(case, &Comm::solo(), None, Cache::empty(path), Some(gauge))
    }

    /// As [`Simulation::open`], this process's part where `comm` has several ranks, in its place
    /// among those of its machine, with a meter for objectives that weigh energy.
    ///
    /// # Errors
    /// As [`Simulation::open`]; [`Error::Input`] for such an objective without a sensor; a rank no
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
        let Domain {
            mesh,
            geometry,
            patches,
            ops,
            reason,
            notes,
            whole,
        } = Domain::new(&case, comm)?;
        let given = setup::given(&patches, &mesh, &geometry, 0.0, case.fluid.viscosity);
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
        let mut stepper = Stepper::with(&engine, &ops, settings, preconditioner, &u, &given, dt_s)?;
        let monitor = stepper.monitor(&engine)?;
        let retunes_seen = vec![0; stepper.sites().len()];
        let (scheme, owned, halo) = (ops.scheme, ops.cells, Rc::clone(&ops.halo));
        drop((ops, u));
        // Rank 0 has held the whole mesh, and every rank its matrices in two forms.
        resident::give_back();
        Ok(Self {
            mesh,
            geometry,
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
            given,
            dt_s,
            viscous_rate,
            monitor,
            kept: None,
            retunes_seen,
            case,
        })
    }

    /// Whether the case's end is reached.
    pub fn finished(&self) -> bool {
        let tiny = 1e-9 * self.dt_s;
        self.time_s + tiny >= self.case.time.end_s
            || self.case.time.steps.is_some_and(|n| self.step >= n)
    }

    /// One step.
    ///
    /// # Errors
    /// [`Error::Diverged`] (its file is for the caller to write: [`Simulation::last_good`]); what
    /// [`Stepper::step`] returns.
    pub fn advance(&mut self) -> Result<StepReport> {
        if self.step.is_multiple_of(KEEP_EVERY) {
            self.kept = Some(self.snapshot()?);
        }
        let dt = self.next_dt();
        self.dt_s = dt;
        let (step, time_s) = (self.step + 1, self.time_s + dt);
        if self
            .patches
            .iter()
            .any(|k| matches!(k.boundary, Boundary::Exact { .. }))
        {
            self.given = setup::given(
                &self.patches,
                &self.mesh,
                &self.geometry,
                time_s,
                self.case.fluid.viscosity,
            );
        }
        self.engine.comm().at_step(step);
        let start = Instant::now();
        let result = self.stepper.step(&self.engine, dt, &self.given)?;
        self.engine.step_done(start.elapsed().as_secs_f64());
        let courant_max = dt * result.monitor.rate_max;
        let finite = result.kinetic_energy.is_finite()
            && result.poisson.residual.is_finite()
            && result.monitor.divergence_sum.is_finite();
        if !finite || courant_max > COURANT_LOST {
            return Err(Error::Diverged {
                step,
                time_s: self.time_s,
                courant_max,
                last_good: self.kept.as_ref().map_or_else(Default::default, |k| {
                    std::path::PathBuf::from(format!("step {} (not written)", k.step))
                }),
            });
        }
        (self.step, self.time_s, self.monitor) = (step, time_s, result.monitor);
        Ok(StepReport {
            step,
            time_s,
            dt_s: dt,
            courant_mean: dt * result.monitor.rate_mean,
            courant_max,
            result,
        })
    }

    /// The fields as they are.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Ok(Snapshot {
            step: self.step,
            time_s: self.time_s,
            velocity: self.stepper.velocity()?.map(<[f64]>::to_vec),
            pressure: self.stepper.pressure()?.to_vec(),
        })
    }

    /// The copy that a diverged run falls back to.
    pub fn last_good(&self) -> Option<&Snapshot> {
        self.kept.as_ref()
    }

    /// The velocity given at face `f`, where one is (walls, inlets).
    pub fn given_velocity(&self, f: usize) -> Option<[f64; 3]> {
        setup::given_at(
            &self.patches,
            &self.given,
            f.checked_sub(self.mesh.interior_faces())?,
        )
    }

    /// Which sites began to search anew since the last call, in one line.
    pub fn messages(&mut self) -> Option<String> {
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

    /// How much of the run is done, 0 to 1.
    pub fn fraction_done(&self) -> f64 {
        let by_steps = self
            .case
            .time
            .steps
            .map_or(0.0, |n| self.step as f64 / n.max(1) as f64);
        by_steps.max(self.time_s / self.case.time.end_s)
    }

    fn next_dt(&self) -> f64 {
        let dt = match self.case.time.step {
            StepSize::Fixed { dt_s } => dt_s,
            StepSize::Courant { max } => {
                let rate =
                    (self.monitor.rate_max / max).max(self.viscous_rate / setup::VISCOUS_SHARE);
                if rate > 0.0 {
                    rate.recip().min(DT_GROWTH * self.dt_s)
                } else {
                    self.dt_s
                }
            }
        };
        let left = self.case.time.end_s - self.time_s;
        // No sliver at the end: a last step may be a hair longer.
        if left < dt * (1.0 + 1e-6) { left } else { dt }
    }
}
