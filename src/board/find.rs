//! Which board this machine is.

use super::{Board, FILES, Profile, built_in};
use crate::Result;
use crate::node::Tree;

/// Where DMI names stand.
const DMI: [&str; 3] = ["product_name", "board_name", "product_family"];

/// The board that fits best: by device tree (of its entries, which go from the exact board to
/// the chip, the first that any board has), else by DMI, else by CPU and number of cores, else
/// the generic one of the architecture.
pub(super) fn find(tree: &Tree) -> Result<Option<Board>> {
    let mut boards = Vec::new();
    for (id, text) in FILES {
        boards.push((*id, built_in(id, text)?));
    }
    let pick = |fits: &dyn Fn(&Profile) -> bool, reason: String| {
        let (id, profile) = boards.iter().find(|(_, profile)| fits(profile))?;
        Some(Board {
            id: (*id).to_owned(),
            profile: profile.clone(),
            reason,
        })
    };
    for entry in compatible(tree) {
        let fits = |p: &Profile| p.matches.compatible.contains(&entry);
        if let Some(board) = pick(&fits, format!("compatible: {entry}")) {
            return Ok(Some(board));
        }
    }
    for file in DMI {
        let name = tree
            .text(&format!("sys/class/dmi/id/{file}"))
            .unwrap_or_default();
        let fits = |p: &Profile| contains_any(&name, &p.matches.dmi);
        if let Some(board) = pick(&fits, format!("DMI {file}: {name}")) {
            return Ok(Some(board));
        }
    }
    let (cpu, cores) = model(tree);
    let fits = |p: &Profile| contains_any(&cpu, &p.matches.cpu) && p.cores() == Some(cores);
    if let Some(board) = pick(&fits, format!("CPU: {cores} cores of {cpu}")) {
        return Ok(Some(board));
    }
    let arch = std::env::consts::ARCH;
    let fits = |p: &Profile| p.matches.arch.as_deref() == Some(arch);
    Ok(pick(&fits, format!("architecture: {arch}")))
}

/// Entries of the device tree, the most specific first.
fn compatible(tree: &Tree) -> Vec<String> {
    let files = [
        "proc/device-tree/compatible",
        "sys/firmware/devicetree/base/compatible",
    ];
    let text = files.into_iter().find_map(|file| tree.text(file).ok());
    let text = text.unwrap_or_default();
    let entries = text.split('\0').map(str::trim).filter(|e| !e.is_empty());
    entries.map(str::to_owned).collect()
}

/// The CPU's model name, and how many there are.
fn model(tree: &Tree) -> (String, usize) {
    let text = tree.text("proc/cpuinfo").unwrap_or_default();
    let value = |line: &str| line.split_once(':').map(|(_, v)| v.trim().to_owned());
    let name = text.lines().find(|l| l.starts_with("model name"));
    let cores = text.lines().filter(|l| l.starts_with("processor")).count();
    (name.and_then(value).unwrap_or_default(), cores)
}

fn contains_any(name: &str, parts: &[String]) -> bool {
    let name = name.to_lowercase();
    parts.iter().any(|p| name.contains(&p.to_lowercase()))
}
