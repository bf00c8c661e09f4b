//! MPI: the launcher and the library of this binary must be of one kind and version.

use super::{Finding, Scene, ok, problem, warning};

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(library) = &scene.mpi else {
        return vec![ok("built without MPI: one process, one node")];
    };
    let launcher = ["mpirun", "mpiexec"].into_iter();
    let mut said = launcher.filter_map(|name| (scene.program)(name, &["--version"]));
    let Some(text) = said.next() else {
        let built = Mpi::of(library).name();
        let what = format!("built with {built}, but there is no mpirun");
        let remedy = "install the launcher of the same version (Debian: openmpi-bin or mpich)";
        return vec![warning(what, remedy)];
    };
    let (built, found) = (Mpi::of(library), Mpi::of(&text));
    let line = text.lines().next().unwrap_or("").trim();
    // Releases of one major version start each other's programs.
    let same = built.kind == found.kind && built.major() == found.major();
    vec![match same {
        true => ok(format!("built with {}, started by {}", built.name(), found.name())),
        false => problem(
            format!("built with {}, but mpirun is {}", built.name(), line),
            format!(
                "put the mpirun of {} first in PATH, or build with the MPI that is there; \
                 otherwise every process believes to be alone",
                built.name()
            ),
        ),
    }]
}

/// What an MPI calls itself, taken apart.
struct Mpi {
    kind: &'static str,
    version: String,
}

impl Mpi {
    fn of(text: &str) -> Self {
        let low = text.to_lowercase();
        let kind = match () {
            _ if low.contains("open mpi") || low.contains("open-mpi") => "Open MPI",
            _ if low.contains("intel") => "Intel MPI",
            _ if low.contains("mpich") || low.contains("hydra") => "MPICH",
            _ => "an unknown MPI",
        };
        let words = text.split(|c: char| c.is_whitespace() || c == ',' || c == ')');
        let version = words
            .map(|w| w.trim_start_matches('v'))
            .find(|w| w.starts_with(|c: char| c.is_ascii_digit()) && w.contains('.'))
            .unwrap_or("")
            .to_owned();
        Self { kind, version }
    }

    fn major(&self) -> &str {
        self.version.split('.').next().unwrap_or("")
    }

    fn name(&self) -> String {
        format!("{} {}", self.kind, self.version).trim_end().to_owned()
    }
}
