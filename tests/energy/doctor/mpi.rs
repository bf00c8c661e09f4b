//! The launcher, and what the binary was built with.

use super::{content, finds, one, scene};
use crate::made::{Made, has};
use couloir::doctor::Status;

#[test]
fn launcher_and_library_are_of_one_mpi() {
    let made = Made::new();
    let mut s = scene(&made);
    content(&s, "mpi");
    s.mpi = Some("Open MPI v4.1.4, package: Debian OpenMPI".to_owned());
    let parts = [
        "Open MPI 4.1.4, but there is no mpirun",
        "install openmpi-bin",
    ];
    finds(&s, "mpi", Status::Warning, &parts);
    s.mpi = Some("MPICH Version:      4.0.2".to_owned());
    finds(&s, "mpi", Status::Warning, &["apt install mpich"]);
    s.mpi = Some("Open MPI v4.1.4, package: Debian OpenMPI".to_owned());
    s.program =
        |name, _| (name == "mpirun").then(|| "mpirun (Open MPI) 4.1.2\n\nReport bugs\n".to_owned());
    content(&s, "mpi");
    // Where it is, if PATH says so.
    made.write("opt/mpi/bin/mpirun", "");
    s.variable = |name| (name == "PATH").then(|| "/bin:/opt/mpi/bin".to_owned());
    content(&s, "mpi");
    let found = one(&s, "mpi").what;
    has(&found, &["and /opt/mpi/bin/mpirun is Open MPI 4.1.2"]);

    s.program = |name, _| match name {
        "mpirun" => Some("HYDRA build details:\n    Version:  4.0.2\n".to_owned()),
        _ => None,
    };
    let parts = [
        "built with Open MPI 4.1.4, but /opt/mpi/bin/mpirun is MPICH 4.0.2",
        "put the mpirun of Open MPI 4.1.4 first in PATH",
        "know nothing of each other",
    ];
    finds(&s, "mpi", Status::Problem, &parts);
    // The right one is there, under another name.
    s.program = |name, _| match name {
        "mpirun" => Some("HYDRA build details:\n    Version:  4.0.2\n".to_owned()),
        "mpirun.openmpi" => Some("mpirun.openmpi (OpenRTE) 4.1.4\n".to_owned()),
        _ => None,
    };
    finds(
        &s,
        "mpi",
        Status::Problem,
        &["start it with mpirun.openmpi"],
    );
    s.mpi = Some("MPICH Version:      4.0.2".to_owned());
    content(&s, "mpi");
    s.program = |_, _| Some("mpirun (Open MPI) 5.0.1".to_owned());
    let parts = ["built with MPICH 4.0.2", "Open MPI 5.0.1"];
    finds(&s, "mpi", Status::Problem, &parts);
    // Another major version of the same.
    s.mpi = Some("Open MPI v4.1.4".to_owned());
    finds(
        &s,
        "mpi",
        Status::Problem,
        &["but /opt/mpi/bin/mpirun is Open MPI 5.0.1"],
    );
}

#[test]
fn a_binary_without_mpi_under_a_launcher_is_a_problem() {
    let made = Made::new();
    let mut s = scene(&made);
    s.variable = |name| (name == "OMPI_COMM_WORLD_SIZE").then(|| "1".to_owned());
    content(&s, "mpi");
    s.variable = |name| (name == "PMI_SIZE").then(|| "4".to_owned());
    let parts = ["as 4 processes, but built without MPI", "--features mpi"];
    finds(&s, "mpi", Status::Problem, &parts);
}
