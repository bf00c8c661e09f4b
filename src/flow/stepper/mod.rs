//! The time step on a split node: the same scheme as [`plain`](crate::flow::plain), every
//! operation a kernel cut between device and CPU.
//!
//! Thesis ch. 2, algorithm 1, with two changes that the measured behaviour asks for: the
//! symmetry-preserving scheme keeps the old pressure in the predictor (second order in dt), and
//! the consistent scheme adds its nodal corrections and a controlled upwinding.

mod after;
mod boundary;
mod fields;
mod lines;
mod matrices;
mod momentum;
mod precise;
mod pressure;
mod report;
mod sites;

pub use precise::PreciseStepper;
pub use report::{Monitor, StepResult};

use std::rc::Rc;

use after::After;
use boundary::Boundary;
use fields::{Fields, Saved};
use lines::Places;
use matrices::Matrices;
use sites::Sites;

use crate::Result;
use crate::cluster::{Halo, Reach};
use crate::flow::boundary::Vectors;
use crate::flow::operators::{Operators, Scheme};
use crate::flow::plain::Settings;
use crate::kernel::{Kernel, Real};
use crate::linear::{Precise, Preconditioner, Solution, Solver};
use crate::node::Buffer;
use crate::split::{Engine, Operands, Place, Site};

/// Three buffers: a vector field by components.
pub(crate) type Field<T> = [Buffer<T>; 3];

/// A flow on a node, computed in `T`.
pub struct Stepper<T: Real = f64> {
    scheme: Scheme,
    settings: Settings,
    cells: usize,
    /// Cells of all ranks.
    all_cells: f64,
    halo: Rc<Halo>,
    f: Fields<T>,
    /// Pressure in cells, m2/s2.
    p: Buffer<T>,
    /// Right-hand side of the pressure equation.
    b: Buffer<T>,
    m: Matrices<T>,
    places: Rc<Places>,
    boundary: Boundary<T>,
    poisson: Solver<T>,
    s: Sites<T>,
    theta: f64,
    /// Energy produced and dissipated per theta at the start of the last step.
    budget: Option<(f64, f64)>,
    dt_old: Option<f64>,
    /// Largest speed, m/s.
    fastest: f64,
    /// Largest `sum |phi| / (2 V)`, 1/s.
    rate_max: f64,
    /// 2-norm of the volumes, m3.
    volume_norm: f64,
    /// Pressure iterations of a step, whatever its residual.
    fixed: Option<usize>,
    /// What the next step begins with is under way, for one of this length.
    ahead: Option<f64>,
    /// The last step was as long as the one before.
    steady: bool,
}

impl<T: Precise> Stepper<T> {
    /// Puts the operators into unified memory and starts from the cell velocities `u` and the
    /// velocities `given` at Dirichlet faces. The fluxes start as those of `u`, made free of
    /// divergence; the pressure as that of a first step of length `dt` from the outlets' mean
    /// pressure, which is taken back.
    ///
    /// # Errors
    /// Out of memory; the device failed; the pressure solve does not converge.
    pub fn new(
        engine: &Engine<T>,
        ops: &Operators,
        settings: Settings,
        u: &Vectors,
        given: &Vectors,
        dt: f64,
    ) -> Result<Self> {
        Self::with(engine, ops, settings, Preconditioner::Jacobi, u, given, dt)
    }

    /// As [`Stepper::new`], with that preconditioner of the pressure solver.
    ///
    /// # Errors
    /// As [`Stepper::new`].
    pub fn with(
        engine: &Engine<T>,
        ops: &Operators,
        settings: Settings,
        preconditioner: Preconditioner,
        u: &Vectors,
        given: &Vectors,
        dt: f64,
    ) -> Result<Self> {
        let places = Rc::new(Places::new(ops));
        let m = Matrices::new(&engine.node, ops, settings.nu, &places)?;
        let comm = engine.comm();
        let squares = ops.volume.iter().map(|v| v * v).sum();
        let mut stepper = Self {
            scheme: ops.scheme,
            settings,
            cells: ops.cells,
            all_cells: comm.sum(ops.cells.max(1) as f64)?,
            halo: Rc::clone(&ops.halo),
            f: Fields::new(&engine.node, ops, u)?,
            p: engine.node.buffer_with_halo(ops.cells, ops.halo.len())?,
            b: engine.node.buffer(ops.cells)?,
            m,
            boundary: Boundary::new(engine, ops, settings, given, &places)?,
            places,
            poisson: Solver::over(
                engine,
                &ops.laplacian,
                ops.boundary.is_singular(),
                preconditioner,
                &ops.halo,
            )?,
            s: Sites::new(engine, ops)?,
            theta: 0.0,
            budget: None,
            dt_old: None,
            fastest: 0.0,
            rate_max: 0.0,
            volume_norm: comm.sum(squares)?.sqrt(),
            fixed: None,
            ahead: None,
            steady: false,
        };
        stepper.start(engine, dt, given)?;
        stepper.poisson.remember(engine)?;
        Ok(stepper)
    }

    fn start(&mut self, engine: &Engine<T>, dt: f64, given: &Vectors) -> Result<()> {
        self.exchange_velocity(engine)?;
        self.nodal_velocity(engine, false)?;
        self.flux_of(engine)?;
        self.project(engine, 1.0, false)?;
        let saved = self.f.save()?;
        let pressure = T::of(self.boundary.mean_pressure());
        self.p.write()?[..self.cells].fill(pressure);
        self.p.halo_mut()?.fill(pressure);
        let mut after = After {
            sites: &mut self.s,
            m: &self.m,
            f: &mut self.f,
            dt: 0.0,
            corrects: true,
        };
        after.correct(engine, &self.p)?;
        self.restore(engine, &saved)?;
        self.boundary.update(&self.f, self.settings)?;
        self.monitor_speed(engine)?;
        self.advance(engine, dt, Some(given))?;
        self.restore(engine, &saved)?;
        self.boundary.give(Some(given))?;
        self.boundary.update(&self.f, self.settings)?;
        (self.theta, self.budget, self.dt_old) = (0.0, None, None);
        self.monitor_speed(engine)?;
        Ok(())
    }

    /// From now on the pressure solve of each step takes so many iterations, whatever its residual:
    /// for measurements of what a step costs.
    pub fn fix_iterations(&mut self, iterations: usize) {
        self.fixed = Some(iterations);
    }

    /// Halo values of the velocity.
    fn exchange_velocity(&mut self, engine: &Engine<T>) -> Result<()> {
        let [a, b, c] = self.f.u.each_mut();
        engine.update(&self.halo, Reach::Node, &mut [a, b, c])
    }

    fn restore(&mut self, engine: &Engine<T>, saved: &Saved<T>) -> Result<()> {
        self.ahead = None;
        self.f.restore(saved)?;
        self.exchange_velocity(engine)
    }

    /// One step of length `dt`, to the time at which Dirichlet faces have the velocity `given`; none
    /// where it is what it was, which need not be found out then.
    ///
    /// # Errors
    /// The device failed; the pressure solve does not converge.
    pub fn step<'a>(
        &mut self,
        engine: &Engine<T>,
        dt: f64,
        given: impl Into<Option<&'a Vectors>>,
    ) -> Result<StepResult> {
        let poisson = self.advance(engine, dt, given.into())?;
        let (kinetic_energy, monitor) = self.monitor_all(engine)?;
        Ok(StepResult {
            poisson,
            kinetic_energy,
            monitor,
        })
    }

    fn advance(
        &mut self,
        engine: &Engine<T>,
        dt: f64,
        given: Option<&Vectors>,
    ) -> Result<Solution> {
        match self.scheme {
            Scheme::SymmetryPreserving => {
                self.predict_by_cells(engine, dt)?;
                self.boundary.give(given)?;
                self.predicted_flux(engine, true, dt)?;
            }
            Scheme::Consistent => {
                self.nodal_velocity(engine, false)?;
                self.momentum_by_faces(engine)?;
                self.predict(engine, dt)?;
                self.flux_of_old(engine)?;
                self.boundary.give(given)?;
                self.nodal_velocity(engine, true)?;
                self.flux_of_prediction(engine)?;
                self.fade_in_old_flux(engine, dt)?;
                self.lean(engine, dt)?;
            }
        }
        let solution = self.project(engine, dt, true)?;
        self.exchange_velocity(engine)?;
        std::mem::swap(&mut self.f.r, &mut self.f.r_old);
        self.steady = self.dt_old.replace(dt) == Some(dt);
        self.boundary.update(&self.f, self.settings)?;
        Ok(solution)
    }

    /// Cell velocities.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn velocity(&self) -> Result<[&[T]; 3]> {
        let [a, b, c] = &self.f.u;
        Ok([a.read()?, b.read()?, c.read()?])
    }

    /// Cell pressures, m2/s2.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn pressure(&self) -> Result<&[T]> {
        self.p.read()
    }

    /// Fluxes through faces, m3/s.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn flux(&self) -> Result<Vec<T>> {
        Ok(self.places.values(self.f.phi.read()?))
    }

    /// Every call site, for tuning and reports.
    pub fn sites(&self) -> Vec<&Place> {
        let mut all = self.s.used(self.scheme);
        all.extend(self.poisson.sites());
        all
    }

    /// Bytes copied between host and device so far, matrices left out (they move once).
    pub fn copied_bytes(&self) -> u64 {
        [&self.p, &self.b]
            .map(Buffer::copied_bytes)
            .iter()
            .sum::<u64>()
            + self.f.copied_bytes()
            + self.boundary.copied_bytes()
            + self.poisson.copied_bytes()
    }
}

/// Calls `site`, whose reductions are dropped.
fn call<T: Real>(engine: &Engine<T>, site: &mut Site<T>, o: Operands<'_, '_, T>) -> Result<()> {
    engine.post(site, o)
}

/// A kernel of the list.
type K<T> = Kernel<T>;
