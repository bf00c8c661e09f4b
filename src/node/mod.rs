//! What a node is: CPU threads, an OpenCL device if there is one, and memory that both see.

pub mod buffer;
pub mod climate;
pub mod device;
pub mod driver;
pub mod memory;
pub mod opencl;
pub mod pages;
mod patience;
pub mod pinned;
pub mod pool;
pub mod program;
pub mod queue;
pub mod resident;
pub mod shares;
pub mod topology;
mod tree;
pub(crate) mod tuning;

pub use buffer::Buffer;
pub use device::Device;
pub use pool::Pool;
pub use shares::Shares;
pub use topology::Caches;
pub use tree::Tree;
pub use tuning::Tuning;

use std::rc::Rc;
use std::str::FromStr;

use bytemuck::Pod;

use crate::{Error, Result};

/// Rows per block: cuts, thread ranges and partial sums are multiples of it, so results do not
/// depend on the split; every buffer is padded to it with zeros.
pub const BLOCK: usize = 256;

/// `n` rounded up to whole blocks.
pub fn padded(n: usize) -> usize {
    n.div_ceil(BLOCK) * BLOCK
}

/// Which device a run is asked to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best device that passes its self-check, else none.
    #[default]
    Auto,
    /// CPU threads only.
    None,
    /// Number in the list of `couloir devices`.
    Index(usize),
}

impl FromStr for DeviceChoice {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        match s {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            _ => s.parse().map(Self::Index).map_err(|_| {
                Error::input(
                    "--device",
                    format!("'{s}' is neither auto, none nor a number"),
                    "take a number from `couloir devices`",
                )
            }),
        }
    }
}

/// How a buffer's memory is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// No device: plain host memory.
    Host,
    /// `CL_MEM_ALLOC_HOST_PTR`, mapped and unmapped around each use by the host.
    ZeroCopy,
    /// Fine-grain shared virtual memory: one pointer for both sides.
    Svm,
    /// Memory of its own on the device, a mirror on the host, staged copies between.
    Discrete,
}

impl MemoryKind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::ZeroCopy => "zero-copy",
            Self::Svm => "svm",
            Self::Discrete => "discrete",
        }
    }
}

/// One of several processes that share a machine's devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Number of the process, from 0.
    pub index: usize,
    /// Number of processes.
    pub of: usize,
}

impl Default for Turn {
    fn default() -> Self {
        Self { index: 0, of: 1 }
    }
}

/// What [`Node::open`] is asked for.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Device to use.
    pub device: DeviceChoice,
    /// Kind of memory; `None` takes the best that the device offers.
    pub memory: Option<MemoryKind>,
    /// CPU threads; `None` takes all cores that the device does not occupy.
    pub threads: Option<usize>,
    /// Whose turn it is at the devices.
    pub turn: Turn,
}

/// Numbers of CPU threads that can be asked for.
pub const THREADS: std::ops::RangeInclusive<usize> = 1..=4096;
/// What is said of others.
pub(crate) const NO_THREADS: [&str; 2] = ["not a number of threads", "give \"auto\", or 1 to 4096"];

/// The node: threads, device, memory. Clones share threads and device.
#[derive(Clone)]
pub struct Node {
    /// Pinned CPU threads.
    pub pool: Rc<Pool>,
    /// The device, when there is one that works.
    pub device: Option<Rc<Device>>,
    /// How new buffers are held.
    pub memory: MemoryKind,
    /// The cores' caches.
    pub caches: Caches,
    /// What a user should know about how the node was made up, one sentence each.
    pub notes: Vec<String>,
}

impl Node {
    /// Finds the device and starts the threads. A device that is absent or fails is a note,
    /// not an error, unless it was asked for by number.
    ///
    /// # Errors
    /// [`Error::Input`] when the number of a device or of threads makes no sense.
    pub fn open(config: &Config) -> Result<Self> {
        Self::open_for(config, true)
    }

    /// As [`Node::open`]; without `double`, any device will do, not only one with fp64.
    ///
    /// # Errors
    /// As [`Node::open`].
    pub fn open_for(config: &Config, double: bool) -> Result<Self> {
        // The fastest first, and of these a hardware thread each: fewer threads are on these.
        let tree = Tree::at("/");
        let clusters = topology::clusters().iter();
        let cores: Vec<usize> = clusters
            .flat_map(|c| topology::apart(&tree, &c.cores))
            .collect();
        let cores = cores.as_slice();
        let mut notes = Vec::new();
        opencl::reserve_software_cores(cores.len());
        let info = match config.device {
            DeviceChoice::None => None,
            DeviceChoice::Index(i) => Some(opencl::by_index(i)?),
            DeviceChoice::Auto => opencl::best(double, &mut notes, config.turn, cores.len()),
        };
        if let Some(threads) = config.threads.filter(|n| !THREADS.contains(n)) {
            return Err(Error::input(
                "--threads",
                format!("{threads} threads make no sense here"),
                format!("ask for 1 to {}", cores.len()),
            ));
        }
        let device_cores = info.as_ref().map_or(0, |i| i.host_cores(cores.len()));
        let (mut host, taken) = cores.split_at(cores.len() - device_cores.min(cores.len() - 1));
        let mut device = None;
        if let Some(info) = info {
            let asked = matches!(config.device, DeviceChoice::Index(_));
            match Device::open(info, config.memory, taken) {
                Ok(d) => device = Some(Rc::new(d)),
                Err(e) if asked => return Err(e),
                Err(e) => {
                    notes.push(format!("{e}; going on with the CPU alone"));
                    host = cores;
                }
            }
        }
        // After the device, whose opening changes the affinity of this thread for a while.
        let mut pool = Pool::new(config.threads.unwrap_or(host.len()), host);
        pool.measure_speeds();
        notes.extend(clusters_note(&pool));
        let pool = Rc::new(pool);
        let memory = device.as_ref().map_or(MemoryKind::Host, |d| d.memory);
        Ok(Self {
            pool,
            device,
            memory,
            caches: Caches::of(&Tree::at("/")),
            notes,
        })
    }

    /// The same threads without the device.
    #[must_use]
    pub fn without_device(&self) -> Self {
        Self {
            pool: Rc::clone(&self.pool),
            device: None,
            memory: MemoryKind::Host,
            caches: self.caches,
            notes: Vec::new(),
        }
    }

    /// Whether most rows will be those of a device with memory of its own and one row per work-item.
    pub(crate) fn row_per_work_item(&self) -> bool {
        let device = self.device.as_ref();
        self.memory == MemoryKind::Discrete && device.is_some_and(|d| d.tuning.vector == 1)
    }

    /// What a user should know about a device that is none of its own but runs on the CPU.
    pub fn emulation(&self) -> Option<String> {
        let info = self
            .device
            .as_ref()
            .map(|d| &d.info)
            .filter(|i| i.software)?;
        let cores = info.host_cores(topology::allowed_cores().len());
        Some(format!(
            "{} runs on CPU cores: an emulated fused node, {cores} core(s) for the device and {} thread(s) for the host",
            info.name,
            self.pool.threads()
        ))
    }

    /// A buffer of `len` zeros (padded to whole blocks).
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Failure`] when memory runs out.
    pub fn buffer<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::new(self.device.as_ref(), len)
    }

    /// As [`Node::buffer`], with a halo behind (see [`Buffer::with_halo`]).
    ///
    /// # Errors
    /// As [`Node::buffer`].
    pub fn buffer_with_halo<T: Pod>(&self, len: usize, halo: usize) -> Result<Buffer<T>> {
        Buffer::with_halo(self.device.as_ref(), len, halo)
    }

    /// A buffer that starts as a copy of `values`.
    ///
    /// # Errors
    /// As [`Node::buffer`].
    pub fn buffer_from<T: Pod>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut b = self.buffer(values.len())?;
        b.write()?[..values.len()].copy_from_slice(values);
        Ok(b)
    }
}

/// What a user should know of cores that are not equal.
fn clusters_note(pool: &Pool) -> Option<String> {
    let speeds = pool.shares().weights();
    let speeds: Vec<String> = speeds.iter().map(|s| format!("{s:.2}")).collect();
    let clusters = topology::clusters().iter().map(ToString::to_string);
    (speeds.len() > 1).then(|| {
        format!(
            "clusters of cores: {}; speed of a thread in each, measured: {}",
            clusters.collect::<Vec<_>>().join(", "),
            speeds.join(" : ")
        )
    })
}
