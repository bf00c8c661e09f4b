//! The closing report of a run: the one source of the table and of `--json`.
//!
//! The field names are a contract with whoever reads the files. What was not measured is
//! `null`, never 0.

use std::path::Path;

use serde::{Serialize, Serializer};

use super::cluster::ClusterReport;
use super::write::write_file;
use crate::Error;
use crate::board::Board;
use crate::node::{MemoryKind, Node, topology};
pub use crate::split::Precision;

/// The report of `couloir run`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunReport {
    /// Name of the case.
    pub case: String,
    /// Number of cells.
    pub cells: usize,
    /// Number of faces, boundary included.
    pub faces: usize,
    /// Number of MPI processes.
    pub ranks: usize,
    /// What the ranks tell together; `null` where there is one.
    pub cluster: Option<ClusterReport>,
    /// The board.
    pub board: BoardReport,
    /// What the run computes with.
    pub precision: Precision,
    /// The operators in use: `symmetry-preserving` or `consistent`.
    pub discretisation: String,
    /// The device.
    pub device: DeviceReport,
    /// Number of CPU threads that compute.
    pub threads: usize,
    /// Number of time steps done.
    pub steps: usize,
    /// Simulated time reached, in seconds.
    pub time_s: f64,
    /// Mean wall time of a step, in seconds, without output: of every other step after tuning,
    /// or of the whole run where tuning did not end.
    pub wall_per_step_s: f64,
    /// The same, predicted from the number of kernel calls and what each, and the way from one to
    /// the next, took in the steps between.
    pub predicted_per_step_s: Option<f64>,
    /// The pressure solver.
    pub poisson: PoissonReport,
    /// Largest |sum of a cell's fluxes| / volume at the end, in 1/s.
    pub divergence_max: f64,
    /// Sum over cells of V |u|^2 / 2 at the end, in m^5/s^2.
    pub kinetic_energy: f64,
    /// Bytes copied between host and device memory in a step; 0 on a fused node.
    pub bytes_copied_per_step: f64,
    /// Memory that this process (of several ranks, the first) holds after the start-up.
    pub resident_bytes: Option<f64>,
    /// Wall time of all steps, in seconds, without output.
    pub wall_s: f64,
    /// Energy.
    pub energy: EnergyReport,
    /// The kernels of the time loop, in the order of their share of the step.
    pub kernels: Vec<KernelReport>,
}

/// The board that a run was on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardReport {
    /// Stem of its file; `unknown` where no board file fits.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Name of the host.
    pub host: String,
    /// Theoretical peak of its memory bandwidth, in GB/s, where it is known.
    pub peak_gb_s: Option<f64>,
}

impl BoardReport {
    /// `board` on this host.
    pub fn of(board: Option<&Board>) -> Self {
        let (id, name) = match board {
            Some(board) => (board.id.clone(), board.profile.name.clone()),
            None => ("unknown".to_owned(), "unknown board".to_owned()),
        };
        Self {
            id,
            name,
            host: topology::host_name(),
            peak_gb_s: board.and_then(|b| b.profile.peak_gb_s),
        }
    }
}

/// The device that shares the work with the CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceReport {
    /// Its name; `none` without a device.
    pub name: String,
    /// What it is.
    pub kind: DeviceKind,
    /// How buffers are shared with it.
    #[serde(serialize_with = "memory_name")]
    pub memory: MemoryKind,
    /// Whether it computes with 64 bits; false without a device.
    pub fp64: bool,
}

impl DeviceReport {
    /// The device of `node`, or that there is none.
    pub fn of(node: &Node) -> Self {
        match &node.device {
            Some(device) => Self {
                name: device.info.name.clone(),
                kind: match device.info.kind {
                    "cpu" => DeviceKind::Cpu,
                    _ => DeviceKind::Gpu,
                },
                memory: node.memory,
                fp64: device.info.fp64,
            },
            None => Self {
                name: "none".to_owned(),
                kind: DeviceKind::None,
                memory: node.memory,
                fp64: false,
            },
        }
    }
}

fn memory_name<S: Serializer>(memory: &MemoryKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(memory.name())
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A graphics processor or another accelerator.
    Gpu,
    /// An OpenCL driver that computes on CPU cores.
    Cpu,
    /// No device.
    None,
}

/// The pressure solver over a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PoissonReport {
    /// Iterations per solve, mean.
    pub iterations_mean: f64,
    /// Largest final residual over right-hand side of all solves.
    pub relative_residual_max: f64,
}

/// Energy of a run; `null` where nothing was measured or estimated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EnergyReport {
    /// The meter: its name, `nameplate`, or `none`.
    pub source: String,
    /// Whether a sensor measured it; false for an estimate.
    pub measured: bool,
    /// Joules per step.
    pub joules_per_step: Option<f64>,
    /// Mean power, in watts.
    pub watts_mean: Option<f64>,
    /// Energy-delay product of a step: joules per step times seconds per step.
    pub edp_js: Option<f64>,
    /// Floating-point operations of all kernels over all joules, in GFLOP/J.
    pub gflop_per_j: Option<f64>,
    /// Half-width of the error of the joules as part of them, from the sensor's interval and
    /// resolution; `None` for an estimate.
    pub uncertainty_fraction: Option<f64>,
    /// Power of the idle node, in watts, measured before the run.
    pub idle_watts: Option<f64>,
    /// Joules per step less what the idle node takes in the same time.
    pub net_joules_per_step: Option<f64>,
    /// Part of one core that sampling took.
    pub sampling_fraction: f64,
}

/// A kernel over a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelReport {
    /// Its name.
    pub name: String,
    /// Calls per step, mean.
    pub calls_per_step: f64,
    /// The device's share of its rows at the end.
    pub split_ratio: f64,
    /// Wall time of all its calls, in seconds.
    pub time_s: f64,
    /// Bytes that it must move over its time, in GB/s.
    pub gb_per_s: f64,
    /// The same over the bandwidth measured at start-up.
    pub roofline_fraction: Option<f64>,
    /// Joules of all its calls.
    pub joules: Option<f64>,
    /// Joules per step.
    pub joules_per_step: Option<f64>,
    /// Mean power while it runs, in watts.
    pub watts_mean: Option<f64>,
    /// Its floating-point operations over its joules, in GFLOP/J.
    pub gflop_per_j: Option<f64>,
    /// Its joules per step times its seconds per step.
    pub edp_js: Option<f64>,
}

impl RunReport {
    /// Writes the report as JSON.
    ///
    /// # Errors
    /// As [`write_file`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_file(path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            writeln!(out)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> RunReport {
        RunReport {
            case: "cavity".to_owned(),
            cells: 5714,
            faces: 20129,
            ranks: 1,
            cluster: None,
            board: BoardReport::of(None),
            precision: Precision::Fp64,
            discretisation: "consistent".to_owned(),
            device: DeviceReport {
                name: "Mali".to_owned(),
                kind: DeviceKind::Gpu,
                memory: MemoryKind::ZeroCopy,
                fp64: true,
            },
            threads: 2,
            steps: 10,
            time_s: 0.1,
            wall_per_step_s: 0.02,
            predicted_per_step_s: Some(0.021),
            poisson: PoissonReport {
                iterations_mean: 31.5,
                relative_residual_max: 9e-9,
            },
            divergence_max: 1e-9,
            kinetic_energy: 0.003,
            bytes_copied_per_step: 0.0,
            resident_bytes: Some(5e7),
            wall_s: 0.2,
            energy: EnergyReport {
                source: "none".to_owned(),
                ..EnergyReport::default()
            },
            kernels: vec![KernelReport {
                name: "spmv".to_owned(),
                calls_per_step: 64.0,
                split_ratio: 0.625,
                time_s: 0.1,
                gb_per_s: 12.5,
                roofline_fraction: None,
                joules: None,
                joules_per_step: None,
                watts_mean: None,
                gflop_per_j: None,
                edp_js: None,
            }],
        }
    }

    fn keys(value: &serde_json::Value) -> Vec<&str> {
        let object = value.as_object().expect("an object");
        object.keys().map(String::as_str).collect()
    }

    /// The names that readers rely on, in the alphabet's order.
    #[test]
    fn field_names_are_the_contract() {
        let json = serde_json::to_value(report()).unwrap();
        let names = "board bytes_copied_per_step case cells cluster device discretisation divergence_max \
                     energy faces kernels kinetic_energy poisson precision \
                     predicted_per_step_s ranks resident_bytes steps threads time_s \
                     wall_per_step_s wall_s";
        assert_eq!(keys(&json).join(" "), names);
        assert_eq!(keys(&json["board"]).join(" "), "host id name peak_gb_s");
        assert_eq!(keys(&json["device"]).join(" "), "fp64 kind memory name");
        let names = "iterations_mean relative_residual_max";
        assert_eq!(keys(&json["poisson"]).join(" "), names);
        let names = "edp_js gflop_per_j idle_watts joules_per_step measured \
                     net_joules_per_step sampling_fraction source uncertainty_fraction watts_mean";
        assert_eq!(keys(&json["energy"]).join(" "), names);
        let names = "calls_per_step edp_js gb_per_s gflop_per_j joules joules_per_step name \
                     roofline_fraction split_ratio time_s watts_mean";
        assert_eq!(keys(&json["kernels"][0]).join(" "), names);

        assert_eq!(json["precision"], "fp64");
        assert_eq!(json["device"]["kind"], "gpu");
        assert_eq!(json["device"]["memory"], "zero-copy");
        assert!(json["energy"]["joules_per_step"].is_null());
        assert!(json["kernels"][0]["joules"].is_null());
    }

    #[test]
    fn the_table_shows_shares_prediction_and_absence() {
        let text = super::super::table::closing(&report());
        for part in [
            "cavity: 5714 cells, consistent discretisation, 10 steps",
            "2 CPU thread(s) with Mali (zero-copy); 0 bytes copied per step",
            "20.0 ms measured, 21.0 ms predicted (+5.0 %)",
            "energy: not measured",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let row = text
            .lines()
            .find(|line| line.starts_with("spmv"))
            .expect("a row");
        let cells: Vec<_> = row
            .split("  ")
            .map(str::trim)
            .filter(|c| !c.is_empty())
            .collect();
        assert_eq!(
            cells,
            [
                "spmv", "64.0", "0.625", "100 ms", "100.0 %", "12.50", "n/a", "n/a", "n/a", "n/a",
                "n/a"
            ]
        );
    }
}
