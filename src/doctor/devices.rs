//! OpenCL platforms and devices: there, with double precision, and right.

use super::{Finding, Scene, ok, problem, warning};

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let platforms = match &scene.opencl {
        Ok(platforms) => platforms,
        Err(why) => {
            let remedy = "all runs use the CPU alone until there is one: see icd";
            return vec![warning(format!("no OpenCL device: {why}"), remedy)];
        }
    };
    let mut found = Vec::new();
    for p in platforms {
        if p.devices.is_empty() {
            let what = format!("platform {} has no device", p.name);
            found.push(warning(what, remedy_of(&p.name)));
        }
    }
    if scene.devices().next().is_none() {
        let remedy = "all runs use the CPU alone until there is one: see icd";
        found.push(warning("no OpenCL device", remedy));
    }
    let known = scene.board.as_ref().and_then(|b| b.profile.gpu.as_ref());
    for d in scene.devices() {
        let name = format!("device {} ({})", d.index, d.name);
        if let Some(fault) = &d.fault {
            let (what, remedy) = match fault.rsplit_once("; ") {
                Some((what, remedy)) => (what, remedy),
                None => (fault.as_str(), "update the driver, or run with --device none"),
            };
            found.push(problem(format!("device {}: {what}", d.index), remedy));
            continue;
        }
        let expected = known.is_some_and(|g| !g.fp64 && d.name.contains(&g.device));
        found.push(match d.fp64 {
            true => ok(format!("{name} computes every kernel right")),
            false if expected => ok(format!(
                "{name} computes every kernel right in single precision; like all of its kind \
                 it has no double"
            )),
            false => warning(
                format!("{name} has no double precision (in single it computes right)"),
                "run with --precision mixed (see the README), or take another device for fp64",
            ),
        });
    }
    found
}

fn remedy_of(platform: &str) -> &'static str {
    match platform.to_lowercase() {
        p if p.contains("rusticl") => {
            "name its driver: export RUSTICL_ENABLE=panfrost (Mali), v3d (Raspberry Pi), asahi \
             (Apple), iris (Intel) or llvmpipe (CPU)"
        }
        p if p.contains("clover") => {
            "this old driver of Mesa drives nothing here: remove mesa.icd, or leave it"
        }
        _ => "look into the driver's own requirements: device files, groups (render, video)",
    }
}
