//! The command line as a user meets it: exit codes, and messages that say what to do.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

fn couloir(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_couloir"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts")
}

/// Runs couloir, which must refuse `args` with `code`, one line, and nothing on its output.
fn refused(args: &[&str], code: i32) -> String {
    let output = couloir(args);
    let error = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
    assert!(output.stdout.is_empty(), "{args:?} printed to stdout");
    assert!(error.starts_with("error: "), "{args:?}: {error}");
    assert_eq!(error.lines().count(), 1, "{args:?}: {error}");
    error
}

fn printed(args: &[&str]) -> String {
    let output = couloir(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    assert!(output.stderr.is_empty(), "{args:?}");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

#[test]
fn wrong_words_are_refused_with_a_suggestion() {
    for (args, word) in [
        (&[][..], "choose one of: run"),
        (&["rnu"], "did you mean run?"),
        (&["simulate"], "choose one of: run"),
        (&["run"], "CASE.toml is missing"),
        (&["mesh"], "FILE.msh|CASE.toml is missing"),
        (
            &["run", "a.toml", "b.toml"],
            "b.toml: this word is one too many",
        ),
        (&["devices", "all"], "all: this word is one too many"),
        (&["run", "a.toml", "--spilt", "1"], "did you mean --split?"),
        (
            &["run", "a.toml", "--frobnicate"],
            "see `couloir run --help`",
        ),
        (
            &["devices", "--split", "1"],
            "`couloir devices` has no such flag",
        ),
        (&["--steps", "3"], "flags follow the command"),
        (&["-x"], "-x: there is no such flag"),
        (
            &["run", "a.toml", "--steps"],
            "--steps: its value is missing",
        ),
        (&["run", "a.toml", "--quiet=3"], "takes no value"),
        (&["run", "a.toml", "--set", "x"], "--set x: there is no ="),
    ] {
        let error = refused(args, 2);
        assert!(error.contains(word), "{args:?}: {error}");
    }
}

#[test]
fn flags_are_checked_as_the_case_keys_that_they_set() {
    for (flag, value, word) in [
        ("--steps", "0", "--steps 0: "),
        ("--steps", "ten", "a whole number"),
        ("--split", "2", "--split 2: not a split ratio"),
        ("--device", "gpu", "--device gpu: not a device"),
        ("--memory", "shared", "zero-copy, svm, discrete, host"),
        ("--threads", "0", "--threads 0: not a number of threads"),
        ("--set", "fluid.viscosity=-1", "-1 is out of range"),
        ("--set", "fluid.density=1", "unknown key density"),
    ] {
        let error = refused(&["run", "cases/cavity.toml", flag, value], 2);
        assert!(error.contains(word), "{flag} {value}: {error}");
    }
}

#[test]
fn missing_cases_are_refused() {
    let error = refused(&["run", "cases/absent.toml"], 2);
    assert!(
        error.contains("cases/absent.toml: the case cannot be read"),
        "{error}"
    );
    let error = refused(&["run", "cases"], 2);
    assert!(error.contains("a folder, not a case file"), "{error}");
}

#[test]
fn meshes_are_described() {
    let text = printed(&["mesh", "cases/meshes/cube.msh"]);
    for part in [
        "3630: tetrahedron 3630",
        "1.000000000 m3",
        "walls",
        "consistent, because",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let text = printed(&[
        "mesh",
        "cases/channel.toml",
        "--set",
        "mesh.box.cells=[4, 5, 6]",
    ]);
    assert!(text.contains("hexahedron 120"), "{text}");
    assert!(
        text.contains("discretisation: symmetry-preserving"),
        "{text}"
    );
    let set = "scheme.discretisation=consistent";
    let text = printed(&["mesh", "cases/channel.toml", "--set", set]);
    assert!(
        text.contains("consistent, because the case asks for it"),
        "{text}"
    );
}

#[test]
fn bad_meshes_are_refused() {
    let folder = std::env::temp_dir().join(format!("couloir-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let garbage = folder.join("garbage.msh");
    let garbage = garbage.to_str().expect("a UTF-8 path");
    let bytes: Vec<u8> = (0..4096u32).map(|i| (i * i % 251) as u8).collect();
    std::fs::write(garbage, bytes).expect("a file");
    let truncated = folder.join("truncated.msh");
    let truncated = truncated.to_str().expect("a UTF-8 path");
    let whole = std::fs::read("cases/meshes/cavity.msh").expect("the cavity's mesh");
    std::fs::write(truncated, &whole[..whole.len() / 2]).expect("a file");
    for (mesh, code) in [
        ("absent.msh", 1),
        ("cases", 1),
        (garbage, 2),
        (truncated, 2),
    ] {
        assert!(refused(&["mesh", mesh], code).contains(mesh));
        let set = format!("mesh.file={mesh}");
        assert!(refused(&["mesh", "cases/cube.toml", "--set", &set], 2).contains(mesh));
    }
    std::fs::remove_dir_all(&folder).expect("the folder is ours");

    let error = refused(
        &[
            "mesh",
            "cases/cube.toml",
            "--set",
            "boundary.side.type=slip",
        ],
        2,
    );
    assert!(
        error.contains("the mesh has no boundary \"side\""),
        "{error}"
    );
    let error = refused(
        &[
            "mesh",
            "cases/cube.toml",
            "--set",
            "mesh.file=cases/meshes/cavity.msh",
        ],
        2,
    );
    assert!(error.contains("\"frontAndBack\" has no section"), "{error}");
    let error = refused(&["mesh", "cases/meshes/cube.msh", "--set", "a=1"], 2);
    assert!(error.contains("a mesh file has no keys"), "{error}");
}

#[test]
fn devices_are_listed_or_their_absence_explained() {
    let list = printed(&["devices"]);
    assert!(list.contains("CPU cores"), "{list}");
    let output = Command::new(env!("CARGO_BIN_EXE_couloir"))
        .arg("devices")
        .env("OCL_ICD_VENDORS", "/nonexistent")
        .output()
        .expect("the binary starts");
    let list = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{list}");
    assert!(list.contains("no OpenCL device: "), "{list}");
    // An estimate as in a run: where there is a sensor, it is no use.
    let list = printed(&["devices", "--board", "rk3588"]);
    assert!(
        list.contains("board: Rockchip RK3588 (asked for)"),
        "{list}"
    );
    assert!(
        list.contains("nameplate 11 W") || list.contains("energy: measured"),
        "{list}"
    );
}

#[test]
fn results_that_cannot_be_written_end_the_run_at_its_start() {
    let error = refused(&["run", "cases/cube.toml", "--out", "Cargo.toml/out"], 1);
    assert!(
        error.contains("in the way; choose another with --out"),
        "{error}"
    );
    let args = [
        "run",
        "cases/cube.toml",
        "--out",
        "target/tmp/out",
        "--json",
    ];
    let error = refused(&[&args[..], &["Cargo.toml/a.json"]].concat(), 1);
    assert!(error.contains("Cargo.toml"), "{error}");
}

/// Ranks are not started for what cannot be measured.
#[test]
fn scaling_of_nothing_is_refused_once() {
    for (args, wanted) in [
        (&["8000", "--ranks", "0"][..], "such as 1,2,4"),
        (&["8000", "--steps", "many"], "such as 3"),
        (&["8000", "--iterations", "0"], "such as 50"),
        (&["8000", "--series", "odd"], "no such series"),
        (&["cases/cube.toml", "--series", "weak"], "as many cells"),
        (&["8000", "--series", "strong", "--apart"], "weak scaling"),
        (&["cases/cube.toml", "--apart"], "number of rows"),
        (&["8000", "--network", "token-ring"], "gige"),
        (&["8000", "--network", "Cargo.toml"], "Cargo.toml"),
        (&["8000", "--split", "2"], "--split"),
        (&["0", "--ranks", "1"], "8 rows per rank"),
        (&["99999999999", "--ranks", "1"], "no such cube"),
        (&["8000x0"], "no such cube"),
        (&["nanx2"], "no such cube"),
        (&["cases/none.toml"], "cases/none.toml"),
        (
            &["cases/cube.toml", "--set", "fluid.viscosity=-1"],
            "viscosity",
        ),
    ] {
        let out = ["--out", "target/tmp/scale"];
        let error = refused(&[&["scale"], args, &out].concat(), 2);
        assert!(error.contains(wanted), "{args:?}: {error}");
    }
}

#[test]
fn help_lists_commands_and_flags() {
    let overview = printed(&["--help"]);
    for command in [
        "run", "tune", "bench", "mesh", "compare", "devices", "doctor", "scale", "predict",
        "cluster",
    ] {
        assert!(
            overview.contains(&format!("couloir {command}")),
            "{overview}"
        );
        assert!(printed(&[command, "--help"]).starts_with(&format!("couloir {command}")));
        assert_eq!(printed(&["help", command]), printed(&[command, "-h"]));
    }
    let run = printed(&["run", "--help"]);
    for flag in [
        "set", "steps", "split", "device", "memory", "threads", "json", "out", "quiet",
    ] {
        assert!(run.contains(&format!("--{flag}")), "{run}");
    }
    let version = printed(&["--version"]);
    let named = concat!("couloir ", env!("CARGO_PKG_VERSION"), " (with");
    assert!(version.starts_with(named), "{version}");
    assert_eq!(version.lines().count(), 1);
}

#[test]
fn lost_output_is_an_error_and_a_closed_pipe_is_none() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    if let Ok(full) = full {
        let output = Command::new(env!("CARGO_BIN_EXE_couloir"))
            .arg("--help")
            .stdout(full)
            .output()
            .expect("the binary starts");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("standard output"), "{error}");
    }
    let (writer, reader) = UnixStream::pair().expect("a pair of sockets");
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_couloir"))
        .arg("--help")
        .stdout(OwnedFd::from(writer))
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}

/// The best of some starts: others use the machine, too.
#[test]
fn the_first_output_comes_within_50_ms() {
    let mut best = f64::INFINITY;
    let out = std::env::temp_dir().join(format!("couloir-start-{}", std::process::id()));
    for _ in 0..8 {
        let start = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_couloir"))
            .args(["run", "cases/cube.toml", "--steps", "1", "--out"])
            .arg(&out)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut first = [0];
        let said = child.stdout.as_mut().expect("piped");
        said.read_exact(&mut first).expect("it says something");
        best = best.min(start.elapsed().as_secs_f64());
        let _ = child.kill();
        let _ = child.wait();
    }
    let _ = std::fs::remove_dir_all(out);
    println!("first output after {:.1} ms", 1e3 * best);
    assert!(best <= 0.05, "first output after {best} s");
}
