//! From the sites of a run to its closing report.

use crate::energy::{Source, Totals};
use crate::flow::simulation::{Simulation, StepReport};
use crate::report::json::{
    DeviceReport, EnergyReport, KernelReport, PoissonReport, Precision, RunReport,
};

/// Steps, calls and time since some moment.
#[derive(Clone, Default)]
struct Mark {
    steps: usize,
    wall_s: f64,
    calls: Vec<u64>,
}

/// What is added up while a run goes on.
pub(super) struct Account {
    total: Mark,
    /// From when no site was being tuned.
    settled: Option<Mark>,
    seconds: Vec<f64>,
    iterations: usize,
    residual_max: f64,
    divergence_max: f64,
    kinetic_energy: f64,
    copied_at_start: u64,
    /// Energy of the run.
    pub energy: Option<Totals>,
}

impl Account {
    pub fn new(sim: &Simulation) -> Self {
        let sites = sim.stepper.sites();
        Self {
            total: Mark {
                steps: 0,
                wall_s: 0.0,
                calls: sites.iter().map(|s| s.stats.calls).collect(),
            },
            settled: None,
            seconds: sites.iter().map(|s| s.stats.seconds_s).collect(),
            iterations: 0,
            residual_max: 0.0,
            divergence_max: 0.0,
            kinetic_energy: 0.0,
            copied_at_start: sim.stepper.copied_bytes(),
            energy: None,
        }
    }

    /// Adds a step; `book` gets each site's seconds of this step.
    pub fn step(
        &mut self,
        sim: &Simulation,
        s: &StepReport,
        wall_s: f64,
        mut book: impl FnMut(usize, f64),
    ) {
        let sites = sim.stepper.sites();
        for (i, site) in sites.iter().enumerate() {
            book(i, site.stats.seconds_s - self.seconds[i]);
            self.seconds[i] = site.stats.seconds_s;
        }
        self.total.steps += 1;
        self.total.wall_s += wall_s;
        self.iterations += s.result.poisson.iterations;
        self.residual_max = self.residual_max.max(s.result.poisson.residual);
        self.divergence_max = s.result.monitor.divergence_max;
        self.kinetic_energy = s.result.kinetic_energy;
        if sim.engine.is_tuning(&sites) {
            self.settled = None;
        } else if self.settled.is_none() {
            self.settled = Some(Mark {
                steps: self.total.steps,
                wall_s: self.total.wall_s,
                calls: sites.iter().map(|s| s.stats.calls).collect(),
            });
        }
    }

    /// Measured and predicted seconds per step: since tuning ended, or over the run if it did
    /// not. The prediction adds up the sites' own median times and counts (thesis section 2.5.4).
    fn per_step(&self, sim: &Simulation) -> (f64, Option<f64>) {
        let whole = Mark {
            calls: self.total.calls.clone(),
            ..Mark::default()
        };
        let since = match &self.settled {
            Some(mark) if mark.steps < self.total.steps => mark,
            _ => &whole,
        };
        let steps = self.total.steps - since.steps;
        if steps == 0 {
            return (0.0, None);
        }
        let measured = (self.total.wall_s - since.wall_s) / steps as f64;
        let predicted: f64 = sim
            .stepper
            .sites()
            .iter()
            .zip(&since.calls)
            .map(|(s, &before)| (s.stats.calls - before) as f64 * s.stats.median_s())
            .sum();
        (measured, Some(predicted / steps as f64))
    }

    /// The closing report.
    pub fn close(&self, sim: &Simulation, source: &Source) -> RunReport {
        let steps = self.total.steps;
        let per_step = |x: f64| x / steps.max(1) as f64;
        let (wall_per_step_s, predicted_per_step_s) = self.per_step(sim);
        let copied = sim.stepper.copied_bytes() - self.copied_at_start;
        RunReport {
            case: sim.case.name.clone(),
            cells: sim.mesh.cells(),
            faces: sim.mesh.faces(),
            ranks: 1,
            precision: Precision::Fp64,
            discretisation: sim.scheme.name().to_string(),
            device: DeviceReport::of(&sim.engine.node),
            threads: sim.engine.node.pool.threads(),
            steps,
            time_s: sim.time_s,
            wall_per_step_s,
            predicted_per_step_s,
            poisson: PoissonReport {
                iterations_mean: per_step(self.iterations as f64),
                relative_residual_max: self.residual_max,
            },
            divergence_max: self.divergence_max,
            kinetic_energy: self.kinetic_energy,
            bytes_copied_per_step: per_step(copied as f64),
            energy: self.energy_report(source),
            kernels: self.kernels(sim),
        }
    }

    fn energy_report(&self, source: &Source) -> EnergyReport {
        let all = self.energy.as_ref().map(|t| &t.all);
        EnergyReport {
            source: source.text().to_string(),
            measured: source.measured(),
            joules_per_step: all.and_then(|a| a.joules_per_step),
            watts_mean: all.and_then(|a| a.watts_mean),
            edp_js: all.and_then(|a| a.edp_js),
        }
    }

    fn kernels(&self, sim: &Simulation) -> Vec<KernelReport> {
        let steps = self.total.steps.max(1) as f64;
        let sites = sim.stepper.sites();
        let roof = sim.bandwidth.node_gb_s;
        let mut rows: Vec<KernelReport> = sites
            .iter()
            .enumerate()
            .filter(|(i, s)| s.stats.calls > self.total.calls[*i])
            .map(|(i, s)| {
                let calls = (s.stats.calls - self.total.calls[i]) as f64;
                let energy = self.energy.as_ref().and_then(|t| t.kernels.get(i));
                let time_s = energy.map_or(s.stats.seconds_s, |k| k.time_s);
                let gb_per_s = calls * s.stats.call_bytes / time_s.max(f64::MIN_POSITIVE) / 1e9;
                KernelReport {
                    name: format!("{} ({})", s.label, s.kernel.name),
                    calls_per_step: calls / steps,
                    split_ratio: sim.engine.ratio(s),
                    time_s,
                    gb_per_s,
                    roofline_fraction: (roof > 0.0).then(|| gb_per_s / roof),
                    joules: energy.and_then(|k| k.joules),
                }
            })
            .collect();
        rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
        rows
    }
}
