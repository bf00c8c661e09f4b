//! The closing report of a run: the one source of the table and of `--json`.
//!
//! The field names are a contract with whoever reads the files. What was not measured is
//! `null`, never 0.

use std::path::Path;

use serde::{Serialize, Serializer};

use super::write::write_file;
use crate::Error;
use crate::node::{MemoryKind, Node};

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
    /// Precision of the device's kernels.
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
    /// Mean wall time of a step, in seconds, without output and tuning.
    pub wall_per_step_s: f64,
    /// The same, predicted from the kernels' own times and counts.
    pub predicted_per_step_s: Option<f64>,
    /// The pressure solver.
    pub poisson: PoissonReport,
    /// Largest |sum of a cell's fluxes| / volume at the end, in 1/s.
    pub divergence_max: f64,
    /// Sum over cells of V |u|^2 / 2 at the end, in m^5/s^2.
    pub kinetic_energy: f64,
    /// Bytes copied between host and device memory in a step; 0 on a fused node.
    pub bytes_copied_per_step: f64,
    /// Energy.
    pub energy: EnergyReport,
    /// The kernels of the time loop, in the order of their share of the step.
    pub kernels: Vec<KernelReport>,
}

/// Precision of the device's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 64 bits throughout.
    Fp64,
    /// 32 bits inside iterations, 64 bits for residuals and corrections.
    Mixed,
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
