//! The cores that this process may use.

use std::sync::OnceLock;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Cores that the process was given, ascending; `[0]` if they cannot be read. Asked for once,
/// before any thread is pinned.
pub fn allowed_cores() -> &'static [usize] {
    static CORES: OnceLock<Vec<usize>> = OnceLock::new();
    CORES.get_or_init(read_affinity)
}

fn read_affinity() -> Vec<usize> {
    let cores: Vec<usize> = sched_getaffinity(Pid::from_raw(0))
        .map(|set| {
            (0..CpuSet::count())
                .filter(|&c| set.is_set(c).unwrap_or(false))
                .collect()
        })
        .unwrap_or_default();
    if cores.is_empty() { vec![0] } else { cores }
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
