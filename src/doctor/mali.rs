//! Arm's GPUs: Mesa's drivers (panthor, panfrost, lima; OpenCL by rusticl) and the vendor's
//! (mali_kbase; OpenCL by libmali) exclude each other.

use super::files::glob;
use super::{Finding, Scene, ok, problem, warning};

/// Mesa's kernel drivers, and the name by which rusticl enables each; lima has no OpenCL.
const MESA: [(&str, Option<&str>); 3] = [
    ("panthor", Some("panfrost")),
    ("panfrost", Some("panfrost")),
    ("lima", None),
];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let mesa = MESA.iter().find(|(name, _)| drives(scene, name));
    let vendor = scene.tree.exists("dev/mali0")
        || ["mali_kbase", "bifrost_kbase", "midgard_kbase"]
            .iter()
            .any(|m| scene.tree.exists(&format!("sys/module/{m}")));
    let registered = |word: &str| {
        let files = glob(&scene.tree, "etc/OpenCL/vendors/*.icd");
        let texts = files.iter().map(|f| scene.tree.text(f).unwrap_or_default());
        texts.into_iter().any(|t| t.to_lowercase().contains(word))
    };
    let (libmali, rusticl) = (registered("mali"), registered("rusticl"));
    match (mesa, vendor) {
        (None, false) if libmali && !has_mali_device(scene) => vec![problem(
            "libmali is registered as OpenCL driver, but no Mali kernel driver is loaded",
            "take the vendor's kernel (mali_kbase, /dev/mali0), or remove libmali's ICD file",
        )],
        (None, false) => vec![ok("no driver of a Mali GPU in the kernel, so none to mix up")],
        (Some((name, _)), true) => vec![problem(
            format!("both {name} and mali_kbase are loaded; only one can drive the GPU"),
            format!("blacklist one in /etc/modprobe.d: {name} for libmali, mali_kbase for Mesa"),
        )],
        (Some((name, _)), false) if libmali => vec![problem(
            format!("the kernel drives the GPU with {name}, but OpenCL's driver is libmali"),
            "they exclude each other: take the vendor's kernel for libmali, or remove its ICD \
             file and install rusticl (Debian: mesa-opencl-icd)",
        )],
        (Some((name, None)), false) => vec![warning(
            format!("{name} has no OpenCL"),
            "run on the CPU, or take the vendor's kernel with libmali",
        )],
        (Some((name, Some(_))), false) if !rusticl => vec![warning(
            format!("the kernel drives the GPU with {name}, and rusticl is not installed"),
            "install rusticl (Debian: mesa-opencl-icd)",
        )],
        (Some((name, Some(enable))), false) => match (scene.variable)("RUSTICL_ENABLE") {
            Some(set) if set.contains(enable) => vec![ok(format!("{name} with rusticl"))],
            _ => vec![warning(
                format!("rusticl does not use {name} unless it is told to"),
                format!("export RUSTICL_ENABLE={enable}"),
            )],
        },
        (None, true) if libmali => vec![ok("the vendor's driver with libmali")],
        (None, true) => vec![problem(
            "the vendor's kernel driver is loaded, but libmali is no OpenCL driver yet",
            "install libmali, and echo libmali.so.1 | sudo tee /etc/OpenCL/vendors/mali.icd",
        )],
    }
}

/// Whether a graphics card's kernel driver is `name`.
fn drives(scene: &Scene, name: &str) -> bool {
    let nodes = glob(&scene.tree, "sys/class/drm/renderD*").into_iter();
    let mut drivers = nodes.filter_map(|n| scene.tree.link(&format!("{n}/device/driver")));
    drivers.any(|driver| driver == name)
}

fn has_mali_device(scene: &Scene) -> bool {
    scene.devices().any(|d| d.name.contains("Mali"))
}
