//! From the sites of a run to its closing report.

use crate::board::Board;
use crate::energy::{Source, Totals};
use crate::flow::simulation::{Simulation, StepReport};
use crate::node::resident;
use crate::report::json::{
    BoardReport, DeviceReport, EnergyReport, KernelReport, PoissonReport, RunReport,
};

/// Even and odd steps without tuning that a prediction is based on, at least.
const SETTLED_MIN: usize = 10;

/// Steps of one kind, their wall time, and their calls and seconds by site.
#[derive(Clone, Default)]
struct Sample {
    steps: usize,
    wall_s: f64,
    calls: Vec<u64>,
    seconds_s: Vec<f64>,
}

impl Sample {
    fn of(sites: usize) -> Self {
        Self {
            calls: vec![0; sites],
            seconds_s: vec![0.0; sites],
            ..Self::default()
        }
    }

    fn add(&mut self, wall_s: f64, calls: &[u64], seconds_s: &[f64]) {
        self.steps += 1;
        self.wall_s += wall_s;
        self.calls
            .iter_mut()
            .zip(calls)
            .for_each(|(sum, c)| *sum += c);
        self.seconds_s
            .iter_mut()
            .zip(seconds_s)
            .for_each(|(sum, s)| *sum += s);
    }

    /// Time between one call and the next: sums over ranks, boundaries, the loop itself. Where
    /// calls run ahead, nobody waits between them.
    fn between_s(&self) -> f64 {
        let calls: u64 = self.calls.iter().sum();
        let kernels_s: f64 = self.seconds_s.iter().sum();
        (self.wall_s - kernels_s).max(0.0) / calls.max(1) as f64
    }
}

/// What is added up while a run goes on.
pub(super) struct Account {
    /// All steps.
    total: Sample,
    /// Even and odd steps: the kernels' times of the even ones predict the odd ones.
    turns: [Sample; 2],
    /// The same since the last step that tuned.
    settled: [Sample; 2],
    calls_seen: Vec<u64>,
    seconds_seen: Vec<f64>,
    calls: Vec<u64>,
    seconds: Vec<f64>,
    iterations: usize,
    residual_max: f64,
    divergence_max: f64,
    kinetic_energy: f64,
    copied_at_start: u64,
    resident_bytes: Option<f64>,
    /// Energy of the run.
    pub energy: Option<Totals>,
    /// Power of the idle node.
    pub idle_w: Option<f64>,
}

impl Account {
    pub fn new(sim: &Simulation) -> Self {
        let sites = sim.stepper.sites();
        let sample = Sample::of(sites.len());
        Self {
            turns: [sample.clone(), sample.clone()],
            settled: [sample.clone(), sample.clone()],
            total: sample,
            calls_seen: sites.iter().map(|s| s.stats.calls).collect(),
            seconds_seen: sites.iter().map(|s| s.seconds_s()).collect(),
            calls: vec![0; sites.len()],
            seconds: vec![0.0; sites.len()],
            iterations: 0,
            residual_max: 0.0,
            divergence_max: 0.0,
            kinetic_energy: 0.0,
            copied_at_start: sim.stepper.copied_bytes(),
            resident_bytes: Some(resident::memory_bytes()[0]).filter(|&bytes| bytes > 0.0),
            energy: None,
            idle_w: None,
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
            self.calls[i] = site.stats.calls - self.calls_seen[i];
            self.seconds[i] = site.seconds_s() - self.seconds_seen[i];
            self.calls_seen[i] = site.stats.calls;
            self.seconds_seen[i] = site.seconds_s();
            book(i, self.seconds[i]);
        }
        self.total.add(wall_s, &self.calls, &self.seconds);
        self.turns[s.step % 2].add(wall_s, &self.calls, &self.seconds);
        if sim.engine.is_tuning(&sites) {
            self.settled = [Sample::of(sites.len()), Sample::of(sites.len())];
        } else {
            self.settled[s.step % 2].add(wall_s, &self.calls, &self.seconds);
        }
        self.iterations += s.result.poisson.iterations;
        self.residual_max = self.residual_max.max(s.result.poisson.residual);
        self.divergence_max = s.result.monitor.divergence_max;
        self.kinetic_energy = s.result.kinetic_energy;
    }

    /// Measured and predicted seconds of a step (thesis section 2.5.4): the wall time of the odd
    /// steps, and their kernel calls times what each kernel, and the way from a call to the next,
    /// took in the even ones. Of the steps since tuning ended, or of all if these are too few. No
    /// prediction from a single step.
    fn per_step(&self) -> (f64, Option<f64>) {
        let few = self.settled.iter().any(|s| s.steps < SETTLED_MIN);
        let [even, odd] = if few { &self.turns } else { &self.settled };
        if even.steps == 0 || odd.steps == 0 {
            return (self.total.wall_s / self.total.steps.max(1) as f64, None);
        }
        let sites = 0..odd.calls.len();
        let between_s = even.between_s();
        let mean = |i: usize| between_s + even.seconds_s[i] / even.calls[i].max(1) as f64;
        let predicted: f64 = sites.map(|i| odd.calls[i] as f64 * mean(i)).sum();
        let steps = odd.steps as f64;
        (odd.wall_s / steps, Some(predicted / steps))
    }

    /// The closing report.
    pub fn close(&self, sim: &Simulation, source: &Source, board: Option<&Board>) -> RunReport {
        let steps = self.total.steps;
        let per_step = |x: f64| x / steps.max(1) as f64;
        let (wall_per_step_s, predicted_per_step_s) = self.per_step();
        let copied = sim.stepper.copied_bytes() - self.copied_at_start;
        RunReport {
            case: sim.case.name.clone(),
            cells: sim.whole.cells,
            faces: sim.whole.faces,
            ranks: sim.engine.comm().size(),
            cluster: None,
            board: BoardReport::of(board),
            precision: sim.engine.precision(),
            discretisation: sim.scheme.name().to_string(),
            device: DeviceReport::of(sim.engine.device_node()),
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
            resident_bytes: self.resident_bytes,
            wall_s: self.total.wall_s,
            energy: self.energy_report(sim, source),
            kernels: self.kernels(sim),
        }
    }

    fn energy_report(&self, sim: &Simulation, source: &Source) -> EnergyReport {
        let all = self.energy.as_ref().map(|t| &t.all);
        let calls = sim.stepper.sites().into_iter().zip(&self.total.calls);
        let flops: f64 = calls.map(|(s, &c)| c as f64 * s.stats.call_flops).sum();
        EnergyReport {
            source: source.text().to_string(),
            measured: source.measured(),
            joules_per_step: all.and_then(|a| a.joules_per_step),
            watts_mean: all.and_then(|a| a.watts_mean),
            edp_js: all.and_then(|a| a.edp_js),
            gflop_per_j: per_joule(flops, all.and_then(|a| a.joules)),
            uncertainty_fraction: self.energy.as_ref().and_then(|t| {
                let joules = t.all.joules.filter(|&j| j > 0.0)?;
                Some(t.uncertainty_j? / joules)
            }),
            idle_watts: self.idle_w,
            net_joules_per_step: all.zip(self.idle_w).and_then(|(a, idle_w)| {
                let step_s = a.time_s / self.total.steps.max(1) as f64;
                Some(a.joules_per_step? - idle_w * step_s)
            }),
            sampling_fraction: source.sampling_share(),
        }
    }

    fn kernels(&self, sim: &Simulation) -> Vec<KernelReport> {
        let steps = self.total.steps.max(1) as f64;
        let sites = sim.stepper.sites();
        let roof = sim.bandwidth.node_gb_s;
        let mut rows: Vec<KernelReport> = sites
            .iter()
            .enumerate()
            .filter(|(i, _)| self.total.calls[*i] > 0)
            .map(|(i, s)| {
                let calls = self.total.calls[i] as f64;
                let energy = self.energy.as_ref().and_then(|t| t.kernels.get(i));
                let time_s = self.total.seconds_s[i];
                let call_bytes = s.stats.bytes() / s.stats.calls.max(1) as f64;
                let gb_per_s = calls * call_bytes / time_s.max(f64::MIN_POSITIVE) / 1e9;
                KernelReport {
                    name: format!("{} ({})", s.label, s.name),
                    calls_per_step: calls / steps,
                    split_ratio: sim.engine.ratio(s),
                    time_s,
                    gb_per_s,
                    roofline_fraction: (roof > 0.0).then(|| gb_per_s / roof),
                    joules: energy.and_then(|k| k.joules),
                    joules_per_step: energy.and_then(|k| k.joules_per_step),
                    watts_mean: energy.and_then(|k| k.watts_mean),
                    gflop_per_j: per_joule(
                        calls * s.stats.call_flops,
                        energy.and_then(|k| k.joules),
                    ),
                    edp_js: energy.and_then(|k| k.edp_js),
                }
            })
            .collect();
        rows.sort_unstable_by(|a, b| b.time_s.total_cmp(&a.time_s));
        rows
    }
}

/// GFLOP per joule; none where no energy is known.
fn per_joule(flops: f64, joules: Option<f64>) -> Option<f64> {
    joules.filter(|&j| j > 0.0).map(|j| flops / j / 1e9)
}
