//! The board: recognised, and with all that its file says.

use super::files::glob;
use super::{Finding, Scene, ok, warning};
use crate::board::{Board, Rail};
use crate::node::topology;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(board) = &scene.board else {
        let remedy = "describe it in a file as board/rk3588.toml is, and give --board FILE";
        return vec![warning("no board file fits this machine", remedy)];
    };
    let mut found = vec![ok(format!("{} ({})", board.profile.name, board.reason))];
    found.extend(cores(scene, board));
    found.extend(gpu(scene, board));
    found.extend(sensors(scene, board));
    found
}

fn cores(scene: &Scene, board: &Board) -> Option<Finding> {
    let expected = board.profile.cores()?;
    let online = topology::online_cores(&scene.tree).len();
    (online > 0 && online != expected).then(|| {
        let what = format!("{online} cores are online, the board has {expected}");
        let remedy = "switch them on: echo 1 | sudo tee /sys/devices/system/cpu/cpu*/online; or \
                      name another board with --board";
        warning(what, remedy)
    })
}

fn gpu(scene: &Scene, board: &Board) -> Option<Finding> {
    let gpu = board.profile.gpu.as_ref()?;
    let its = || scene.devices().filter(|d| d.name.contains(&gpu.device));
    let Some(device) = its().next() else {
        let what = format!("the board's {} is no OpenCL device here", gpu.name);
        let remedy = format!("install its driver (OpenCL {}); see icd below", gpu.opencl);
        return Some(warning(what, remedy));
    };
    if its().count() < gpu.devices {
        let what = format!(
            "{} shows as {} device(s) of {}",
            gpu.name,
            its().count(),
            gpu.devices
        );
        return Some(warning(what, "update its driver"));
    }
    (gpu.fp64 && !device.fp64).then(|| {
        let what = format!(
            "{} has double precision, its driver offers none",
            device.name
        );
        warning(what, "update the driver, or take the vendor's")
    })
}

fn sensors(scene: &Scene, board: &Board) -> Vec<Finding> {
    let energy = &board.profile.energy;
    let remedy = "load the sensor's kernel driver (modprobe), take the vendor's kernel, or \
                  measure with a meter outside the board";
    let missing = energy.rails.iter().filter(|r| !is_there(scene, r));
    let missing: Vec<&str> = missing.map(|r| r.name.as_str()).collect();
    let source = energy.source.as_deref().unwrap_or("its sensors");
    let mut found = Vec::new();
    if !missing.is_empty() {
        let what = format!("no sensor of {} ({source})", missing.join(", "));
        found.push(warning(what, remedy));
    }
    if let Some(command) = &energy.command
        && (scene.program)(command, &["version"]).is_none()
    {
        let what = format!("energy is read by {command}, which does not run ({source})");
        let remedy = format!("install {command}, and join the group video");
        found.push(warning(what, remedy));
    }
    found
}

fn is_there(scene: &Scene, rail: &Rail) -> bool {
    let file = |pattern: &String| !glob(&scene.tree, pattern).is_empty();
    let chip = |chip: &String| {
        let names = glob(&scene.tree, "sys/class/hwmon/*/name").into_iter();
        let mut names = names.filter_map(|file| scene.tree.text(&file).ok());
        names.any(|name| name.starts_with(chip.as_str()))
    };
    rail.files.iter().any(file) || rail.chip.as_ref().is_some_and(chip)
}
