//! What the checks look at: files, programs, environment, OpenCL.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::board::Board;
use crate::cluster;
use crate::node::opencl::{self, DeviceInfo};
use crate::node::{Config, DeviceChoice, Tree};
use crate::split::{Engine, Policy};

/// A machine, or what a test makes up.
pub struct Scene {
    /// Its files.
    pub tree: Tree,
    /// Its board.
    pub board: Option<Board>,
    /// Its OpenCL platforms.
    pub opencl: OpenCl,
    /// The MPI library that this binary loads, as it calls itself.
    pub mpi: Option<String>,
    /// The disk that results go to.
    pub disk: Option<Disk>,
    /// The value of an environment variable.
    pub variable: fn(&str) -> Option<String>,
    /// What a program prints on its standard output, for program and arguments; none if it does
    /// not run.
    pub program: fn(&str, &[&str]) -> Option<String>,
}

/// OpenCL platforms, or a sentence on why there are none.
pub type OpenCl = Result<Vec<Platform>, String>;

/// A driver.
#[derive(Clone, Debug, Default)]
pub struct Platform {
    /// Its name.
    pub name: String,
    /// Its devices.
    pub devices: Vec<Seen>,
}

/// A device and what its self-check says.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Number in the list of `couloir devices`.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// "gpu", "cpu" or "accelerator".
    pub kind: &'static str,
    /// OpenCL version.
    pub version: String,
    /// Whether it has double precision.
    pub fp64: bool,
    /// Why it fails the self-check, if it does.
    pub fault: Option<String>,
}

/// Room on a disk.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    /// Bytes that this user can still write.
    pub free_bytes: u64,
}

impl Scene {
    /// This machine. Every OpenCL device is opened and runs every kernel.
    pub fn machine(board: Option<Board>) -> Self {
        Self {
            tree: Tree::at("/"),
            board,
            opencl: platforms(),
            mpi: cluster::mpi_library(),
            disk: disk(Path::new(".")),
            variable: |name| std::env::var(name).ok(),
            program: output,
        }
    }

    /// Files below `tree` and nothing else.
    pub fn made(tree: Tree) -> Self {
        Self {
            tree,
            board: None,
            opencl: Ok(Vec::new()),
            mpi: None,
            disk: None,
            variable: |_| None,
            program: |_, _| None,
        }
    }

    /// All devices of all platforms.
    pub fn devices(&self) -> impl Iterator<Item = &Seen> {
        let platforms = self.opencl.iter().flatten();
        platforms.flat_map(|p| &p.devices)
    }
}

fn platforms() -> OpenCl {
    let names = opencl::platforms()?;
    let devices = opencl::devices().unwrap_or_default();
    let of = |name: &str| {
        let own = devices.iter().filter(|d| d.platform == name);
        own.map(seen).collect()
    };
    let platform = |name: String| Platform {
        devices: of(&name),
        name,
    };
    Ok(names.into_iter().map(platform).collect())
}

fn seen(info: &DeviceInfo) -> Seen {
    let config = Config {
        device: DeviceChoice::Index(info.index),
        ..Config::default()
    };
    let fault = match info.fp64 {
        true => Engine::<f64>::open(&config, Policy::default()).err(),
        false => Engine::<f32>::open(&config, Policy::default()).err(),
    };
    Seen {
        index: info.index,
        name: info.name.clone(),
        kind: info.kind,
        version: info.version.clone(),
        fp64: info.fp64,
        fault: fault.map(|e| e.to_string()),
    }
}

fn disk(folder: &Path) -> Option<Disk> {
    let about = nix::sys::statvfs::statvfs(folder).ok()?;
    // Widths differ between targets.
    #[allow(clippy::useless_conversion)]
    let (blocks, size) = (
        u64::from(about.blocks_available()),
        u64::from(about.fragment_size()),
    );
    Some(Disk {
        free_bytes: blocks.saturating_mul(size),
    })
}

fn output(program: &str, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    let output = command.output().ok().filter(|o| o.status.success())?;
    String::from_utf8(output.stdout).ok()
}
