//! What a step tells, and the kernels that find it out.

use super::{Operands, Result, Solution, Stepper};
use crate::kernel::MAX_REDUCTIONS;
use crate::linear::Precise;
use crate::split::Engine;

/// Courant numbers per second of dt, and the continuity error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Monitor {
    /// Mean over cells of `sum |phi| / (2 V)`, 1/s.
    pub rate_mean: f64,
    /// Largest of them, 1/s.
    pub rate_max: f64,
    /// `sum |M phi|`, m3/s.
    pub divergence_sum: f64,
    /// Largest `|M phi| / V`, 1/s.
    pub divergence_max: f64,
}

/// Result of one step.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepResult {
    /// The pressure solve.
    pub poisson: Solution,
    /// `sum V |u|^2 / 2`, m5/s2.
    pub kinetic_energy: f64,
    /// Rates and continuity of the new fluxes.
    pub monitor: Monitor,
}

impl<T: Precise> Stepper<T> {
    /// Courant rates and continuity of the present fluxes.
    ///
    /// # Errors
    /// The device failed.
    pub fn monitor(&mut self, engine: &Engine<T>) -> Result<Monitor> {
        self.post_monitor(engine)?;
        let [s] = engine.reductions([&mut self.s.monitor])?;
        Ok(self.monitored(s))
    }

    /// Kinetic energy of the velocity at the start; keeps the largest speed for the next step.
    pub(super) fn monitor_speed(&mut self, engine: &Engine<T>) -> Result<f64> {
        let [u, v, w] = &self.f.u;
        let s = engine.run(
            &mut self.s.speed,
            Operands {
                own: &[u, v, w],
                repeated: &[&self.f.volume],
                ..Operands::default()
            },
        )?;
        Ok(self.speeds(s))
    }

    /// Both, of a velocity that was just corrected, asked for at once, and meanwhile what the next step
    /// begins with.
    pub(super) fn monitor_all(&mut self, engine: &Engine<T>) -> Result<(f64, Monitor)> {
        self.post_monitor(engine)?;
        let asked = engine.ask([&mut self.s.correct, &mut self.s.monitor])?;
        self.predict_ahead(engine)?;
        let [speeds, s] = engine.told(asked, [&mut self.s.correct, &mut self.s.monitor])?;
        Ok((self.speeds(speeds), self.monitored(s)))
    }

    fn post_monitor(&mut self, engine: &Engine<T>) -> Result<()> {
        engine.post(
            &mut self.s.monitor,
            Operands {
                repeated: &[&self.f.per_volume],
                gather: &[&self.f.phi],
                mats: &[&self.m.divergence],
                ..Operands::default()
            },
        )
    }

    fn monitored(&mut self, s: [T; MAX_REDUCTIONS]) -> Monitor {
        let [rates, rate_max, divergence_sum, divergence_max] = s.map(T::f64);
        self.rate_max = rate_max;
        Monitor {
            rate_mean: rates / self.all_cells,
            rate_max,
            divergence_sum,
            divergence_max,
        }
    }

    fn speeds(&mut self, s: [T; MAX_REDUCTIONS]) -> f64 {
        self.fastest = s[1].f64().sqrt();
        0.5 * s[0].f64()
    }

    /// Upwinding used in the last step (consistent scheme).
    pub fn theta(&self) -> f64 {
        self.theta
    }
}
