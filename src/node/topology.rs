//! The cores that this process may use, and the clusters of equal cores that they form.

use std::fmt;
use std::sync::OnceLock;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::Tree;

mod caches;
mod siblings;

pub use caches::Caches;
pub use siblings::{apart, together};

const CPU: &str = "sys/devices/system/cpu";

/// Capacities and frequencies that differ by less are those of equal cores.
const EQUAL: f64 = 0.1;

/// Cores of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Their numbers, ascending.
    pub cores: Vec<usize>,
    /// The kernel's measure of a core's speed; 1024 is the fastest.
    pub capacity: Option<u32>,
    /// Part number of their MIDR register.
    pub part: Option<u32>,
    /// Highest frequency, kHz.
    pub max_khz: Option<u64>,
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let cores: Vec<String> = self.cores.iter().map(ToString::to_string).collect();
        write!(f, "cores {}", cores.join(" "))?;
        let mut about = Vec::new();
        about.extend(self.part.map(|p| format!("part {p:#05x}")));
        about.extend(self.max_khz.map(|k| format!("{} MHz", k / 1000)));
        about.extend(self.capacity.map(|c| format!("capacity {c}")));
        match about.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", about.join(", ")),
        }
    }
}

impl Cluster {
    /// What is known of one core.
    fn of(tree: &Tree, core: usize, parts: &[(usize, u32)]) -> Self {
        let number = |file: &str| tree.integer(&format!("{CPU}/cpu{core}/{file}")).ok();
        let listed = || {
            parts
                .iter()
                .find(|(c, _)| *c == core)
                .map(|(_, part)| *part)
        };
        Self {
            cores: vec![core],
            capacity: number("cpu_capacity").and_then(|c| c.try_into().ok()),
            part: midr_part(tree, core).or_else(listed),
            max_khz: number("cpufreq/cpuinfo_max_freq").and_then(|f| f.try_into().ok()),
        }
    }

    /// Whether the cores of both are of one kind. What is not known tells nothing apart.
    fn is_like(&self, other: &Self) -> bool {
        let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= EQUAL * a.max(b),
            _ => true,
        };
        let khz = |c: &Self| c.max_khz.map(|f| f as f64);
        self.part == other.part
            && near(self.capacity.map(f64::from), other.capacity.map(f64::from))
            && near(khz(self), khz(other))
    }
}

/// The clusters that `cores` form by capacity, MIDR part and highest frequency; the fastest
/// first.
pub fn clusters_of(tree: &Tree, cores: &[usize]) -> Vec<Cluster> {
    let parts = listed_parts(tree);
    let mut clusters: Vec<Cluster> = Vec::new();
    for &core in cores {
        let one = Cluster::of(tree, core, &parts);
        match clusters.iter_mut().find(|c| c.is_like(&one)) {
            Some(cluster) => cluster.cores.push(core),
            None => clusters.push(one),
        }
    }
    // Stable: equals stay in the order of their cores.
    clusters.sort_by_key(|c| std::cmp::Reverse((c.capacity, c.max_khz)));
    clusters
}

/// The clusters of the cores that this process may use. Looked for once.
pub fn clusters() -> &'static [Cluster] {
    static CLUSTERS: OnceLock<Vec<Cluster>> = OnceLock::new();
    CLUSTERS.get_or_init(|| clusters_of(&Tree::at("/"), allowed_cores()))
}

/// Cores that are switched on, ascending; none where the kernel does not say.
pub fn online_cores(tree: &Tree) -> Vec<usize> {
    listed(&tree.text(&format!("{CPU}/online")).unwrap_or_default())
}

/// Numbers as the kernel lists them: `0-3,8`.
fn listed(text: &str) -> Vec<usize> {
    let mut cores = Vec::new();
    for part in text.split(',').filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse(), last.trim().parse::<usize>()) {
            // A kernel has at most some thousands.
            cores.extend((first..=last).take(1 << 16));
        }
    }
    cores
}

/// Part number in the register that arm64 kernels show.
fn midr_part(tree: &Tree, core: usize) -> Option<u32> {
    let file = format!("{CPU}/cpu{core}/regs/identification/midr_el1");
    let text = tree.text(&file).ok()?;
    let midr = u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()?;
    Some((midr >> 4) as u32 & 0xfff)
}

/// `CPU part` of each core in /proc/cpuinfo.
fn listed_parts(tree: &Tree) -> Vec<(usize, u32)> {
    let text = tree.text("proc/cpuinfo").unwrap_or_default();
    let mut parts = Vec::new();
    let mut core = None;
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match key.trim() {
            "processor" => core = value.parse().ok(),
            "CPU part" => {
                let part = value.strip_prefix("0x");
                let part = part.and_then(|hex| u32::from_str_radix(hex, 16).ok());
                parts.extend(core.zip(part));
            }
            _ => {}
        }
    }
    parts
}

/// Cores that the process was given, ascending; `[0]` if they cannot be read. Asked for once,
/// before any thread is pinned.
pub fn allowed_cores() -> &'static [usize] {
    static CORES: OnceLock<Vec<usize>> = OnceLock::new();
    CORES.get_or_init(read_affinity)
}

fn read_affinity() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0));
    let cores = set.map(|set| members(&set)).unwrap_or_default();
    if cores.is_empty() { vec![0] } else { cores }
}

fn members(set: &CpuSet) -> Vec<usize> {
    let all = 0..CpuSet::count();
    all.filter(|&c| set.is_set(c).unwrap_or(false)).collect()
}

/// Cores that a launcher leaves to this process. Open MPI binds each process to a core unless told
/// otherwise; where the user has not asked for it, what the launcher itself may use counts.
pub fn offered_cores() -> Vec<usize> {
    let own = read_affinity();
    let by_launcher = std::env::var_os("OMPI_COMM_WORLD_RANK").is_some();
    let asked_for = std::env::var_os("OMPI_MCA_hwloc_base_binding_policy").is_some();
    if !by_launcher || asked_for {
        return own;
    }
    sched_getaffinity(Pid::parent()).map_or(own, |set| members(&set))
}

/// Keeps this process to `cores`; to be called before anything else asks for its cores.
pub fn claim(cores: &[usize]) {
    pin(cores);
    let _ = allowed_cores();
}

/// What tells this machine from others, whatever the host names of its containers.
pub fn machine() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map_or_else(|_| host_name(), |id| id.trim().to_string())
}

/// Pins the calling thread to `cores`. A refusal costs speed, never correctness: it is logged.
pub fn pin(cores: &[usize]) {
    let mut set = CpuSet::new();
    for &c in cores {
        let _ = set.set(c);
    }
    if let Err(e) = sched_setaffinity(Pid::from_raw(0), &set) {
        log::warn!("could not pin a thread to cores {cores:?}: {e}; timings will be noisier");
    }
}

/// Name of the host, for cache keys and reports.
pub fn host_name() -> String {
    nix::unistd::gethostname()
        .ok()
        .and_then(|n| n.into_string().ok())
        .unwrap_or_else(|| "unknown".into())
}
