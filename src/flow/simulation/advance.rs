//! The time loop: a step, its length, and the copy of the fields that a diverged run falls back to.

use std::path::PathBuf;
use std::time::Instant;

use super::{Simulation, setup};
use crate::flow::boundary::Vectors;
use crate::flow::case::{Boundary, StepSize};
use crate::flow::stepper::{PreciseStepper, StepResult};
use crate::{Error, Result};

/// Courant number beyond which an explicit step has certainly failed; its limit is about 1.
const COURANT_LOST: f64 = 50.0;
/// Steps between two copies of the field that a diverged run falls back to, at least; and what share
/// of the time they may take: a graphics card computes a step in less time than it copies its fields
/// to the host.
const KEEP_EVERY: usize = 10;
const KEEP_SHARE: f64 = 0.01;
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
#[derive(Clone, Debug, Default)]
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

impl Snapshot {
    /// Takes the present fields, in the memory of the last ones.
    fn take(&mut self, stepper: &PreciseStepper, step: usize, time_s: f64) -> Result<()> {
        for (to, from) in self.velocity.iter_mut().zip(stepper.velocity()?) {
            from.as_ref().clone_into(to);
        }
        let pressure = stepper.pressure()?;
        pressure.as_ref().clone_into(&mut self.pressure);
        (self.step, self.time_s) = (step, time_s);
        Ok(())
    }
}

impl Simulation {
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
    /// [`PreciseStepper::step`] returns.
    pub fn advance(&mut self) -> Result<StepReport> {
        if self.step >= self.keep_at {
            self.keep()?;
        }
        let dt = self.next_dt();
        self.dt_s = dt;
        let (step, time_s) = (self.step + 1, self.time_s + dt);
        let mut patches = self.patches.iter();
        let changes = patches.any(|k| matches!(k.boundary, Boundary::Exact { .. }));
        if changes {
            let nu = self.case.fluid.viscosity;
            self.given = setup::given(&self.patches, &self.edge, time_s, nu);
        }
        let given = changes.then_some(&self.given);
        self.engine.comm().at_step(step);
        let start = Instant::now();
        let result = self.stepper.step(&self.engine, dt, given)?;
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
                    PathBuf::from(format!("step {} (not written)", k.step))
                }),
            });
        }
        (self.step, self.time_s, self.monitor) = (step, time_s, result.monitor);
        let residual = result.poisson.residual;
        if residual > self.case.poisson.tolerance {
            self.rounded_steps += 1;
            if residual > self.roughest.1 {
                self.roughest = (step, residual);
            }
        }
        Ok(StepReport {
            step,
            time_s,
            dt_s: dt,
            courant_mean: dt * result.monitor.rate_mean,
            courant_max,
            result,
        })
    }

    /// Keeps the fields for a run that diverges. All ranks keep those of the same step.
    fn keep(&mut self) -> Result<()> {
        let start = Instant::now();
        let kept = self.kept.get_or_insert_default();
        let steps = self.step - kept.step;
        kept.take(&self.stepper, self.step, self.time_s)?;
        let now = Instant::now();
        let steps_s = start.saturating_duration_since(self.kept_at.replace(now).unwrap_or(start));
        let share = (now - start).as_secs_f64() / steps_s.as_secs_f64();
        let share = self
            .engine
            .comm()
            .largest(if steps > 0 { share } else { 0.0 })?;
        let next = (steps as f64 * share / KEEP_SHARE).ceil() as usize;
        self.keep_at = self.step.saturating_add(next.max(KEEP_EVERY));
        Ok(())
    }

    /// The fields as they are.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let mut snapshot = Snapshot::default();
        snapshot.take(&self.stepper, self.step, self.time_s)?;
        Ok(snapshot)
    }

    /// The copy that a diverged run falls back to.
    pub fn last_good(&self) -> Option<&Snapshot> {
        self.kept.as_ref()
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
