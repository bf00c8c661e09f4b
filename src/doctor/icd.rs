//! OpenCL's loader, and the ICD files that lead it to drivers.

use super::files::glob;
use super::mpi::processes;
use super::{Finding, Scene, ok, problem, warning};

/// Where ICD files are, unless OCL_ICD_VENDORS says otherwise.
const VENDORS: &str = "etc/OpenCL/vendors";

/// Where libraries are, besides what etc/ld.so.conf.d adds.
const LIBRARIES: [&str; 7] = [
    "lib",
    "lib/*-linux-*",
    "lib64",
    "usr/lib",
    "usr/lib/*-linux-*",
    "usr/lib64",
    "usr/local/lib",
];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Err(why) = &scene.opencl
        && why.contains("loader: ")
    {
        let (what, remedy) = why.split_once(": ").unwrap_or((why, "install one"));
        found.push(warning(what, remedy));
    }
    let listed = listed(scene, &mut found);
    let set = (scene.variable)("OCL_ICD_VENDORS");
    if let Some(name) = set.as_deref().filter(|name| name.contains(".so")) {
        found.push(ok(format!("OCL_ICD_VENDORS names the driver {name}")));
        return found;
    }
    let folder = set.map(|path| path.trim_matches('/').to_owned());
    let folder = folder.unwrap_or_else(|| VENDORS.to_owned());
    let files = match folder.ends_with(".icd") {
        true => vec![folder.clone()],
        false => glob(&scene.tree, &format!("{folder}/*.icd")),
    };
    if files.is_empty() && !listed {
        let what = format!("no driver is registered in {}", scene.tree.shown(&folder));
        let remedy = "install one (Debian: apt install pocl-opencl-icd), or write the ICD file \
                      of the one you have: its library's name in NAME.icd there";
        found.push(warning(what, remedy));
    }
    let mut good = Vec::new();
    for file in files {
        let shown = scene.tree.shown(&file);
        let text = scene.tree.text(&file).unwrap_or_default();
        let library = text.lines().next().unwrap_or("").trim();
        let stem = file.rsplit('/').next().unwrap_or(&file);
        if library.is_empty() {
            let remedy = format!("write the library's name into {shown}, or remove it");
            found.push(problem(format!("{stem} names no library"), remedy));
        } else if has_library(scene, library) {
            good.push(format!("{stem} ({library})"));
        } else {
            let what = format!("{stem} names {library}, which is nowhere");
            let remedy =
                format!("install the package that brings {library}, or remove {shown}");
            // The loader passes over it where another driver works.
            found.push(match scene.devices().next() {
                Some(_) => warning(what, remedy),
                None => problem(what, remedy),
            });
        }
    }
    if !good.is_empty() {
        found.push(ok(format!("drivers: {}", good.join(", "))));
    }
    found
}

/// The drivers that OCL_ICD_FILENAMES lists, for loaders that read it, come before those of files.
/// Whether there are any.
fn listed(scene: &Scene, found: &mut Vec<Finding>) -> bool {
    let list = (scene.variable)("OCL_ICD_FILENAMES").unwrap_or_default();
    let libraries: Vec<&str> = list.split(':').filter(|name| !name.is_empty()).collect();
    for name in libraries.iter().filter(|name| !has_library(scene, name)) {
        let what = format!("OCL_ICD_FILENAMES names {name}, which is nowhere");
        let remedy = format!("install the package that brings {name}, or take it out");
        found.push(warning(what, remedy));
    }
    // mpirun looks at the machine through hwloc, and that through the OpenCL loader, which may cut
    // the list in place: ranks then inherit its first name.
    if libraries.len() > 1 && scene.mpi.is_some() && processes(scene).is_none() {
        let what = format!(
            "OCL_ICD_FILENAMES lists {} drivers, of which mpirun may hand on only {}: the \
             devices of the others are missing on its ranks",
            libraries.len(),
            libraries[0]
        );
        let remedy = format!(
            "mpirun ... env OCL_ICD_FILENAMES={list} couloir ..., or a NAME.icd file for each in {}",
            scene.tree.shown(VENDORS)
        );
        found.push(warning(what, remedy));
    } else if !libraries.is_empty() {
        let what = format!("OCL_ICD_FILENAMES lists {}", libraries.join(", "));
        found.push(ok(what));
    }
    !libraries.is_empty()
}

/// Whether the loader can find `library`, a path or a name.
pub(super) fn has_library(scene: &Scene, library: &str) -> bool {
    if let Some(path) = library.strip_prefix('/') {
        return scene.tree.exists(path);
    }
    let mut folders: Vec<String> = LIBRARIES.iter().map(|&f| f.to_owned()).collect();
    for conf in glob(&scene.tree, "etc/ld.so.conf.d/*.conf") {
        let text = scene.tree.text(&conf).unwrap_or_default();
        let lines = text.lines().filter_map(|l| l.trim().strip_prefix('/'));
        folders.extend(lines.map(str::to_owned));
    }
    let path = (scene.variable)("LD_LIBRARY_PATH").unwrap_or_default();
    let path = path.split(':').filter_map(|p| p.strip_prefix('/'));
    folders.extend(path.map(str::to_owned));
    let mut places = folders.iter().map(|f| format!("{f}/{library}"));
    places.any(|pattern| !glob(&scene.tree, &pattern).is_empty())
}
