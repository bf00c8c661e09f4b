//! The doctor's report for machines: `couloir doctor --json`.
//!
//! The field names are a contract with whoever reads it, such as the script that deploys.

use serde::Serialize;

use super::space::memory_bytes;
use super::{Finding, Scene, Status};
use crate::node::topology;

/// A node and its checks.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of couloir.
    pub version: &'static str,
    /// Name of the host.
    pub host: String,
    /// Rust's name of the architecture of this binary.
    pub architecture: &'static str,
    /// The board.
    pub board: BoardFacts,
    /// Cores that are online.
    pub cores: usize,
    /// Cores of one kind, the fastest first.
    pub clusters: Vec<ClusterFacts>,
    /// Memory in all, and what is free.
    pub memory_bytes: Option<u64>,
    /// See `memory_bytes`.
    pub memory_free_bytes: Option<u64>,
    /// Free bytes of the disk that the working folder is on.
    pub disk_free_bytes: Option<u64>,
    /// OpenCL devices.
    pub devices: Vec<DeviceFacts>,
    /// The worst status of all checks.
    pub status: Status,
    /// Every finding.
    pub checks: Vec<Finding>,
}

/// A board.
#[derive(Clone, Debug, Serialize)]
pub struct BoardFacts {
    /// Stem of its file; `unknown` where no board file fits.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Rust's target triple for it.
    pub target: Option<String>,
}

/// Cores of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterFacts {
    /// Name of the core, where the board's file knows it.
    pub core: Option<String>,
    /// Numbers of the cores.
    pub cores: Vec<usize>,
    /// The kernel's measure of a core's speed; 1024 is the fastest.
    pub capacity: Option<u32>,
    /// Highest frequency, MHz.
    pub clock_mhz: Option<f64>,
}

/// An OpenCL device.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceFacts {
    /// Number in the list of `couloir devices`.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Name of its platform.
    pub platform: String,
    /// `gpu`, `cpu` or `accelerator`.
    pub kind: &'static str,
    /// OpenCL version.
    pub version: String,
    /// Whether it has double precision.
    pub fp64: bool,
    /// Whether it computes every kernel right.
    pub passes: bool,
}

impl Report {
    /// The report of `scene`, whose checks found `checks`.
    pub fn new(scene: &Scene, checks: Vec<Finding>) -> Self {
        let board = scene.board.as_ref();
        let cores = topology::online_cores(&scene.tree);
        let clusters = topology::clusters_of(&scene.tree, &cores);
        let core = |part: Option<u32>| {
            let name = board?.profile.core(part?)?;
            Some(name.to_owned())
        };
        let devices = scene.opencl.iter().flatten().flat_map(|p| {
            p.devices.iter().map(|d| DeviceFacts {
                index: d.index,
                name: d.name.clone(),
                platform: p.name.clone(),
                kind: d.kind,
                version: d.version.clone(),
                fp64: d.fp64,
                passes: d.fault.is_none(),
            })
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            host: topology::host_name(),
            architecture: std::env::consts::ARCH,
            board: BoardFacts {
                id: board.map_or("unknown", |b| &b.id).to_owned(),
                name: board
                    .map_or("unknown board", |b| &b.profile.name)
                    .to_owned(),
                target: board.map(|b| b.profile.target.clone()),
            },
            cores: cores.len(),
            clusters: clusters
                .into_iter()
                .map(|c| ClusterFacts {
                    core: core(c.part),
                    cores: c.cores,
                    capacity: c.capacity,
                    clock_mhz: c.max_khz.map(|khz| 1e-3 * khz as f64),
                })
                .collect(),
            memory_bytes: memory_bytes(&scene.tree, "MemTotal"),
            memory_free_bytes: memory_bytes(&scene.tree, "MemAvailable"),
            disk_free_bytes: scene.disk.map(|d| d.free_bytes),
            devices: devices.collect(),
            status: worst(&checks),
            checks,
        }
    }
}

fn worst(checks: &[Finding]) -> Status {
    let all = checks.iter().map(|f| f.status);
    all.max().unwrap_or(Status::Ok)
}
