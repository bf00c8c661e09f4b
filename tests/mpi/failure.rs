//! Ranks that are lost, hang, or run something else end the job, with a message.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::{Folder, Said, said};
use crate::ranks::{ONE_AT_A_TIME, launcher, mpirun, run};

const PROGRAM: &str = env!("CARGO_BIN_EXE_couloir");

/// A run that would last for hours.
fn endless(folder: &Folder, ranks: usize) -> Option<Command> {
    let mut command = mpirun(folder, ranks)?;
    command.args(["run", "cases/cube.toml", "--device", "none"]);
    command.args(["--set", "time.end=1e6", "--set", "cluster.timeout_s=4"]);
    command.arg("--out").arg(folder.path("out"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

/// The rank that a launcher has told process `pid`, or one that it descends from.
fn rank_of(pid: i32) -> Option<usize> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|&b| b == 0);
    let value = variables.find_map(|v| {
        let text = std::str::from_utf8(v).ok()?;
        let (name, value) = text.split_once('=')?;
        ["OMPI_COMM_WORLD_RANK", "PMI_RANK"]
            .contains(&name)
            .then_some(value)
    });
    value?.parse().ok()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.rsplit(')').next()?;
    after.split_whitespace().nth(1)?.parse().ok()
}

/// The ranks that `launcher` has started, by number: some launchers do so through a process of
/// their own, and a rank may have children.
fn ranks_of(launcher: i32) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let pid = entry.file_name().to_str().and_then(|n| n.parse().ok());
        let Some((pid, rank)) = pid.and_then(|pid| Some((pid, rank_of(pid)?))) else {
            continue;
        };
        let above = std::iter::successors(parent(pid), |&p| parent(p)).take(4);
        let above: Vec<i32> = above.collect();
        let is_child = above.first().is_some_and(|&p| rank_of(p).is_some());
        if above.contains(&launcher) && !is_child {
            found.push((rank, pid));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, pid)| pid).collect()
}

/// Waits until the log, read in another thread, shows a step; then does `harm` to the ranks.
fn harmed(mut child: Child, signal: i32) -> (Said, Duration) {
    use std::io::{BufRead, BufReader, Read};
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut seen = String::new();
    while !seen.contains("step 2 ") {
        if out.read_line(&mut seen).expect("lines") == 0 {
            let err = child.wait_with_output().expect("an end").stderr;
            let err = String::from_utf8_lossy(&err);
            panic!("the run ended by itself: {seen}{err}");
        }
    }
    let ranks = ranks_of(child.id() as i32);
    assert_eq!(ranks.len(), 3, "{ranks:?}");
    // SAFETY: a signal to a process that this test has started.
    unsafe { libc::kill(ranks[1], signal) };
    let start = Instant::now();
    let reader = std::thread::spawn(move || {
        let mut rest = String::new();
        let _ = out.read_to_string(&mut rest);
    });
    let output = child.wait_with_output().expect("an end");
    reader.join().expect("a log");
    let said = Said {
        code: output.status.code(),
        out: seen,
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    (said, start.elapsed())
}

fn host() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    host.trim().to_owned()
}

#[test]
fn a_rank_that_hangs_is_named_with_host_and_step() {
    let folder = Folder::new();
    let Some(mut command) = endless(&folder, 3) else {
        return;
    };
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let (said, took) = harmed(command.spawn().expect("mpirun"), libc::SIGSTOP);
    assert_ne!(said.code, Some(0));
    let line = said
        .err
        .lines()
        .find(|l| l.starts_with("error: "))
        .expect("an error");
    let wanted = format!("rank 1 on {} no longer answers", host());
    assert!(
        line.contains(&wanted) && line.contains("at step "),
        "{line}"
    );
    assert!(line.contains("cluster.timeout_s"), "{line}");
    assert!(took < Duration::from_secs(40), "{took:?}");
}

#[test]
fn a_rank_that_is_killed_ends_the_job() {
    let folder = Folder::new();
    let Some(mut command) = endless(&folder, 3) else {
        return;
    };
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let (said, took) = harmed(command.spawn().expect("mpirun"), libc::SIGKILL);
    assert_ne!(said.code, Some(0));
    let errors: Vec<&str> = said
        .err
        .lines()
        .filter(|l| l.starts_with("error: "))
        .collect();
    let wanted = format!("error: rank 1 on {} was lost at step ", host());
    let named: Vec<_> = errors.iter().filter(|l| l.contains(" was lost ")).collect();
    assert!(
        named.len() == 1 && named[0].starts_with(&wanted),
        "{}",
        said.err
    );
    let step = named[0][wanted.len()..]
        .split(':')
        .next()
        .expect("a number");
    assert!(step.parse::<usize>().is_ok_and(|s| s >= 2), "{}", named[0]);
    assert!(took < Duration::from_secs(40), "{took:?}");
}

/// Two programs under one launcher: the second with other bytes, or another case.
fn mixed(first: &[&str], second: &[&str]) -> Option<String> {
    let folder = Folder::new();
    let copy = folder.path("couloir-copy");
    std::fs::copy(PROGRAM, &copy).expect("a copy");
    let mut command = launcher(&folder, 1)?;
    let out = folder.path("out");
    let run = |command: &mut Command, program: &str, args: &[&str]| {
        command
            .arg(program)
            .args(["run", "--steps", "1", "--device", "none"]);
        command.args(args).arg("--out").arg(&out);
    };
    run(&mut command, PROGRAM, first);
    command.args([":", "-n", "1"]);
    let other = copy.to_str().expect("a path").to_owned();
    if second.is_empty() {
        let mut bytes = std::fs::read(&copy).expect("bytes");
        bytes.push(0);
        std::fs::write(&copy, bytes).expect("a file");
        run(&mut command, &other, first);
    } else {
        run(&mut command, PROGRAM, second);
    }
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let said = said(&mut command);
    assert_eq!(said.code, Some(2), "{}", said.err);
    let lines = said.err.lines().filter(|l| l.starts_with("error: "));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// The same case in two folders, each with a mesh of its own.
#[test]
fn another_mesh_is_found_at_the_start() {
    let mesh = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/meshes/hybrid_6_41.msh"
    );
    let mesh = std::fs::read(mesh).expect("a mesh");
    let text = r#"
        mesh.file = "own.msh"
        fluid.viscosity = 1e-2
        time = { steps = 1, max_courant = 0.5 }
        boundary.lid = { type = "wall", velocity = [1, 0, 0] }
        boundary.walls = { type = "wall" }
        "#;
    let side = |more: &[u8]| {
        let folder = Folder::new();
        std::fs::write(folder.path("own.msh"), [mesh.as_slice(), more].concat()).expect("a file");
        (folder.write("case.toml", text), folder)
    };
    let ((first, _a), (second, _b)) = (side(b""), side(b"\n"));
    let Some(line) = mixed(&[&first], &[&second]) else {
        return;
    };
    assert!(line.contains("the mesh file of rank 1"), "{line}");
    assert!(line.contains("copy one mesh"), "{line}");
}

#[test]
fn other_programs_and_cases_are_found_at_the_start() {
    let cube = ["cases/cube.toml"];
    let Some(line) = mixed(&cube, &[]) else {
        return;
    };
    assert!(line.contains("the program of rank 1"), "{line}");
    let line = mixed(&cube, &["cases/cube.toml", "--set", "fluid.viscosity=0.02"]);
    let line = line.expect("MPI is here");
    assert!(line.contains("the case file of rank 1"), "{line}");
}

/// One meter counts what all ranks of a machine do: none of them can tell what its cuts cost.
#[test]
fn ranks_that_share_a_meter_cannot_minimise_energy() {
    for objective in ["energy", "edp"] {
        let folder = Folder::new();
        let args = ["cases/cube.toml", "--steps=1", "--objective", objective];
        let Some(said) = run(&folder, 2, &args) else {
            return;
        };
        assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
        let mut errors = said.err.lines().filter(|l| l.starts_with("error: "));
        let line = errors.next().expect("an error");
        assert_eq!(errors.next(), None, "{}", said.err);
        assert!(line.contains("several processes share"), "{line}");
        assert!(line.contains("run with --objective time"), "{line}");
        assert!(!folder.list("").contains(&"report.json".to_owned()));
    }
}

/// The launcher of another MPI starts processes that do not find each other.
#[test]
fn the_launcher_of_another_mpi_is_refused() {
    let folder = Folder::new();
    if mpirun(&folder, 2).is_none() {
        return;
    }
    let (own, other) = match couloir::cluster::mpi_library() {
        Some(name) if name.contains("Open MPI") => ("Open MPI", "mpirun.mpich"),
        Some(name) if name.contains("MPICH") => ("MPICH", "mpirun.openmpi"),
        name => panic!("{name:?}"),
    };
    let mut command = Command::new(other);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
    command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null());
    command.args(["-n", "2", PROGRAM, "run", "cases/cube.toml", "--steps", "1"]);
    command.arg("--out").arg(folder.path("out"));
    if Command::new(other).arg("--version").output().is_err() {
        eprintln!("SKIPPED: {other} is not installed");
        return;
    }
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let said = said(&mut command);
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    let wanted = format!("2 processes were started, but by another MPI than {own}");
    let line = said.err.lines().find(|l| l.starts_with("error: "));
    let line = line.expect("an error");
    assert!(line.contains(&wanted) && line.contains("; "), "{line}");
    assert!(!folder.path("out").exists(), "a run has begun");
}

/// One rank tells what all have met, however long it takes until the others are ended: the one that has
/// told, and is to ask for it, is stopped here. (Each told, where a clock alone said whose turn it is.)
#[test]
fn an_error_is_told_once_however_slow_the_end() {
    let folder = Folder::new();
    let Some(mut command) = mpirun(&folder, 4) else {
        return;
    };
    command.args(["run", "cases/none.toml"]);
    let mut job = command.stderr(Stdio::piped()).spawn().expect("mpirun");
    let mut lines = BufReader::new(job.stderr.take().expect("a pipe")).lines();
    let mut said = Vec::new();
    for line in lines.by_ref().map_while(Result::ok) {
        let tells = line.contains("error: ");
        said.push(line);
        if tells {
            break;
        }
    }
    let first = *ranks_of(job.id() as i32).first().expect("a rank");
    for signal in [libc::SIGSTOP, libc::SIGCONT] {
        // SAFETY: a signal to a rank of this job.
        unsafe { libc::kill(first, signal) };
        if signal == libc::SIGSTOP {
            std::thread::sleep(Duration::from_millis(2500));
        }
    }
    said.extend(lines.map_while(Result::ok));
    let code = job.wait().expect("mpirun").code();
    let said = said.join("\n");
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
}
