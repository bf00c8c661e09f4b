//! Room: memory for the fields, disk for the results.

use super::{Finding, Scene, ok, problem, warning};
use crate::node::Tree;

/// Below this a small case does not fit, and below that a middling one may not.
const DISK_BYTES: [u64; 2] = [100 << 20, 1 << 30];
const MEMORY_BYTES: [u64; 2] = [64 << 20, 512 << 20];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(bytes) = memory_bytes(&scene.tree, "MemAvailable") {
        let remedy = "end other programs, or take a smaller mesh";
        found.push(judge("memory", bytes, MEMORY_BYTES, remedy));
    }
    if let Some(disk) = scene.disk {
        let remedy = "free some space, or write elsewhere with --out";
        found.push(judge("disk", disk.free_bytes, DISK_BYTES, remedy));
    }
    found
}

fn judge(name: &str, bytes: u64, [least, little]: [u64; 2], remedy: &str) -> Finding {
    let what = format!("{name}: {:.1} GB free", bytes as f64 * 1e-9);
    match bytes {
        b if b < least => problem(what, remedy),
        b if b < little => warning(what, remedy),
        _ => ok(what),
    }
}

/// A line of /proc/meminfo, in bytes.
pub(super) fn memory_bytes(tree: &Tree, key: &str) -> Option<u64> {
    let text = tree.text("proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(key))?;
    let kilobytes = line.trim_start_matches(':').split_whitespace().next()?;
    kilobytes.parse::<u64>().ok()?.checked_mul(1024)
}
