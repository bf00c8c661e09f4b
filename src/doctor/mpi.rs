//! MPI: the launcher and the library of this binary must be of one kind and version.

use super::{Finding, Scene, ok, problem, warning};
use crate::cluster::launcher::{LAUNCHERS, Mpi, NAMED, SIZES};

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    vec![match &scene.mpi {
        Some(library) => launcher(scene, &Mpi::of(library)),
        None => alone(scene),
    }]
}

/// A binary without MPI under a launcher is as many runs as there are processes.
fn alone(scene: &Scene) -> Finding {
    match processes(scene).filter(|&n| n > 1) {
        None => ok(
            "built without MPI: a run is one process on this machine (for several: build with \
             --features mpi, or cross/build --mpi)",
        ),
        Some(n) => problem(
            format!("started as {n} processes, but built without MPI: each is a run of its own"),
            "build with --features mpi (cross/build: --mpi), or start it without mpirun",
        ),
    }
}

/// How many processes a launcher says that it started, if one started this.
pub(super) fn processes(scene: &Scene) -> Option<usize> {
    let size = |name: &&str| (scene.variable)(name)?.trim().parse().ok();
    SIZES.iter().find_map(size)
}

fn launcher(scene: &Scene, built: &Mpi) -> Finding {
    let version = |&name: &&'static str| Some((name, (scene.program)(name, &["--version"])?));
    let Some((name, text)) = LAUNCHERS.iter().find_map(version) else {
        let what = format!(
            "built with {}, but there is no mpirun: only one process can be started",
            built.name()
        );
        let remedy = match built.package() {
            Some(package) => format!("install it in that version (Debian: apt install {package})"),
            None => "install it in that version".to_owned(),
        };
        return warning(what, remedy);
    };
    let found = Mpi::of(&text);
    let place = place(scene, name).unwrap_or_else(|| name.to_owned());
    if built.starts_under(&found) {
        let what = format!("built with {}, and {place} is", built.name());
        return ok(format!("{what} {}", found.name()));
    }
    let right = NAMED.iter().filter_map(version);
    let right = right.filter(|(_, text)| built.starts_under(&Mpi::of(text)));
    let remedy = match right.map(|(name, _)| name).next() {
        Some(name) => format!("start it with {name}"),
        None => format!(
            "put the mpirun of {} first in PATH, or build with the MPI that is there",
            built.name()
        ),
    };
    problem(
        format!(
            "built with {}, but {place} is {}: it would start runs that know nothing of each other",
            built.name(),
            found.name()
        ),
        remedy,
    )
}

/// Where in PATH a program is.
fn place(scene: &Scene, name: &str) -> Option<String> {
    let path = (scene.variable)("PATH")?;
    let mut files = path.split(':').map(|folder| format!("{folder}/{name}"));
    files.find(|file| scene.tree.exists(file.trim_start_matches('/')))
}
