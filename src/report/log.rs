//! One line per time step, in the terms of OpenFOAM's logs.

use std::fmt;

use super::table::{joules, seconds};

/// What is said about a time step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLine {
    /// Number of the step, from 1.
    pub step: usize,
    /// Time at its end, in seconds.
    pub time_s: f64,
    /// Its size, in seconds.
    pub dt_s: f64,
    /// Mean over cells of dt sum|phi| / (2 V).
    pub courant_mean: f64,
    /// Maximum of the same.
    pub courant_max: f64,
    /// Residual over right-hand side before the pressure solve.
    pub initial_residual: f64,
    /// The same after it.
    pub final_residual: f64,
    /// Iterations of the pressure solve.
    pub iterations: usize,
    /// Largest dt |sum of a cell's fluxes| / V, without unit.
    pub continuity: f64,
    /// Wall time of the step, in seconds.
    pub wall_s: f64,
    /// Energy of the step, if a meter or an estimate gives it.
    pub energy_j: Option<f64>,
}

impl fmt::Display for StepLine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "step {}  Time = {:.6}  dt = {:.3e}  Courant mean {:.4} max {:.4}  \
             p: initial residual {:.2e}, final {:.2e}, iterations {}  \
             continuity {:.1e}  wall {}  energy {}",
            self.step,
            self.time_s,
            self.dt_s,
            self.courant_mean,
            self.courant_max,
            self.initial_residual,
            self.final_residual,
            self.iterations,
            self.continuity,
            seconds(self.wall_s),
            joules(self.energy_j),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_one_line_and_absent_energy_is_not_zero() {
        let mut line = StepLine {
            step: 12,
            time_s: 0.125,
            dt_s: 1.25e-3,
            courant_mean: 0.1,
            courant_max: 0.4987,
            initial_residual: 1.2e-3,
            final_residual: 8.1e-9,
            iterations: 34,
            continuity: 2e-12,
            wall_s: 0.0123,
            energy_j: None,
        };
        assert_eq!(
            line.to_string(),
            "step 12  Time = 0.125000  dt = 1.250e-3  Courant mean 0.1000 max 0.4987  \
             p: initial residual 1.20e-3, final 8.10e-9, iterations 34  \
             continuity 2.0e-12  wall 12.3 ms  energy n/a"
        );
        line.energy_j = Some(0.31);
        assert!(line.to_string().ends_with("energy 310 mJ"), "{line}");
    }
}
