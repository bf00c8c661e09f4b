//! Kinds and versions of MPI, and what starts several processes of this build.

use std::process::{Command, Stdio};

use super::comm::library;

/// What Open MPI and its launchers call themselves.
const OPEN_MPI: [&str; 3] = ["open mpi", "openmpi", "openrte"];

/// What is called, and what it is called where several are installed.
pub const LAUNCHERS: [&str; 2] = ["mpirun", "mpiexec"];
/// See [`LAUNCHERS`].
pub const NAMED: [&str; 4] = [
    "mpirun.openmpi",
    "mpirun.mpich",
    "mpiexec.mpich",
    "mpiexec.hydra",
];

/// Variables in which launchers tell a process how many there are.
pub const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// What an MPI calls itself, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mpi {
    kind: &'static str,
    version: String,
}

impl Mpi {
    /// From a library's or a launcher's description of itself.
    pub fn of(text: &str) -> Self {
        let low = text.to_lowercase();
        let kind = match () {
            _ if OPEN_MPI.iter().any(|name| low.contains(name)) => "Open MPI",
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

    /// Releases of one major version start each other's programs.
    pub fn starts_under(&self, launcher: &Self) -> bool {
        self.kind == launcher.kind && self.major() == launcher.major()
    }

    fn major(&self) -> &str {
        self.version.split('.').next().unwrap_or("")
    }

    /// Debian's package of its launcher.
    pub fn package(&self) -> Option<&'static str> {
        match self.kind {
            "Open MPI" => Some("openmpi-bin"),
            "MPICH" => Some("mpich"),
            _ => None,
        }
    }

    /// Kind and version.
    pub fn name(&self) -> String {
        format!("{} {}", self.kind, self.version)
            .trim_end()
            .to_owned()
    }
}

/// What starts several processes of this build: `mpirun`, or its name beside those of other MPIs,
/// such as `mpirun.mpich`, where the plain one belongs to another.
pub fn launcher() -> &'static str {
    let plain = LAUNCHERS[0];
    let Some(built) = library().map(|text| Mpi::of(&text)) else {
        return plain;
    };
    let fits = |name: &&&str| {
        let mut command = Command::new(name);
        let output = command.arg("--version").stdin(Stdio::null()).output();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        text.is_ok_and(|text| built.starts_under(&Mpi::of(&text)))
    };
    let known = LAUNCHERS.iter().chain(&NAMED).find(fits);
    known.copied().unwrap_or(plain)
}
