//! Runs that cannot succeed: one clear message, the right exit code, no half-written file.

use std::path::Path;
use std::process::Command;

use crate::folder::{Folder, is_file, refused, said};

const CAVITY: [&str; 5] = [
    "cases/cavity.toml",
    "--set",
    "mesh.file=tests/data/meshes/cavity_prism_24_22.msh",
    "--device",
    "none",
];

fn cavity<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&CAVITY[..], more].concat()
}

#[test]
fn a_diverging_run_says_when_and_keeps_its_last_good_field() {
    let folder = Folder::new();
    let error = folder.refused(&cavity(&["--set", "time.dt=0.2"]), 1);
    let after = |word: &str| {
        let rest = error.split_once(word).map(|(_, rest)| rest);
        let rest = rest.unwrap_or_else(|| panic!("no {word:?} in {error}"));
        rest.split([' ', ')', ';']).next().unwrap().to_owned()
    };
    let step: usize = after("diverged at step ").parse().unwrap();
    assert!(step > 0, "{error}");
    after("largest Courant number ");
    let file = after("the last good field is in ");
    assert!(is_file(Path::new(&file)), "{error}");
    assert!(file.ends_with(".vtu"), "{error}");
    let text = std::fs::read(&file).unwrap();
    assert!(text.ends_with(b"</VTKFile>\n"), "{file} is whole");
    assert!(error.contains("smaller time.dt"), "{error}");
}

#[test]
fn a_pressure_solve_without_enough_iterations_is_reported() {
    let folder = Folder::new();
    let few = ["--set", "poisson.max_iterations=3", "--steps", "2"];
    let error = folder.refused(&cavity(&few), 1);
    assert!(error.contains("after 3 iterations"), "{error}");
    assert!(
        error.contains("raise poisson.max_iterations (3)"),
        "{error}"
    );
}

/// Neighbours in a long pipe that starts at once differ by less than fp32 tells apart.
#[test]
fn a_pressure_that_single_precision_cannot_hold_is_refused() {
    let folder = Folder::new();
    let pipe = CHANNEL
        .replace(
            "cells = [4, 4, 4]",
            "cells = [500, 4, 4], max = [125, 1, 1]",
        )
        .replace("0.1 }", "0.01 }");
    let case = folder.write("pipe.toml", &pipe);
    let run = ["--device", "none", "--set", "poisson.max_iterations=9000"];
    let run = [&[case.as_str()], &run[..]].concat();
    let error = folder.refused(&[&run[..], &["--precision", "fp32"]].concat(), 1);
    for part in [
        "round-off in fp32 leaves a relative residual of",
        "more than 1e-2",
        "run with --precision fp64",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    // The remedy helps.
    let said = folder.run(&[&run[..], &["--precision", "fp64"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
}

const CHANNEL: &str = r#"
    mesh = { box = { cells = [4, 4, 4] } }
    fluid = { viscosity = 0.1 }
    time = { dt = 0.01, steps = 3 }
    [boundary]
    xmin = { type = "inlet", velocity = [1, 0, 0] }
    xmax = { type = "outlet" }
    ymin = { type = "wall" }
    ymax = { type = "wall" }
    zmin = { type = "slip" }
    zmax = { type = "slip" }
"#;

#[test]
fn what_flows_in_needs_a_way_out() {
    let folder = Folder::new();
    let case = folder.write("channel.toml", CHANNEL);
    let report = folder.report(&[&case, "--device", "none"]);
    assert!(report["kinetic_energy"].as_f64().unwrap() > 0.1);
    let closed = CHANNEL.replace("\"outlet\"", "\"wall\"");
    let case = folder.write("closed.toml", &closed);
    let error = folder.refused(&[&case, "--device", "none"], 2);
    assert!(error.contains("closed.toml"), "{error}");
    assert!(error.contains("1.000000e0 m3/s flow in"), "{error}");
    assert!(error.contains("type = \"outlet\""), "{error}");
}

#[test]
fn meshes_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let file = "mesh.file=tests/data/meshes/broken_hybrid_8_41.msh";
    let error = folder.refused(&["cases/cube.toml", "--set", file, "--device", "none"], 2);
    assert!(
        error.contains("broken_hybrid_8_41.msh") || error.contains("cell"),
        "{error}"
    );
    let error = folder.refused(&["cases/cavity.toml", "--set", "mesh.file=Cargo.toml"], 2);
    assert!(error.contains("Cargo.toml"), "{error}");
    assert!(folder.list("out").is_empty(), "{:?}", folder.list("out"));
}

#[test]
fn results_that_cannot_be_written_are_reported() {
    let folder = Folder::new();
    let more = ["--steps", "1", "--out", "Cargo.toml/out"];
    let error = folder.refused(&cavity(&more), 1);
    assert!(error.contains("choose another with --out"), "{error}");
    if Path::new("/dev/full").exists() {
        let more = ["--steps", "1", "--json", "/dev/full"];
        let error = folder.refused(&cavity(&more), 1);
        assert!(error.contains("/dev/full"), "{error}");
        assert!(error.contains("free some space"), "{error}");
    }
}

#[test]
fn a_disk_that_fills_up_leaves_no_half_written_file() {
    let folder = Folder::new();
    let run = folder.command(&cavity(&["--steps", "1"]));
    // A limit on the size of files stands for the full disk.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(run.get_program())
        .args(run.get_args())
        .env("XDG_CACHE_HOME", folder.path("cache"))
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let error = refused(said(&mut limited), 1);
    assert!(error.contains("/cavity_0000"), "{error}");
    assert!(folder.list("out").is_empty(), "{:?}", folder.list("out"));
}

#[test]
fn without_opencl_the_run_goes_on_and_says_so() {
    let folder = Folder::new();
    let mut command = folder.command(&[&CAVITY[..3], &["--steps", "1"]].concat());
    let said = said(command.env("OCL_ICD_VENDORS", "/nonexistent"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("device: none"), "{}", said.out);
    assert!(said.out.contains("OpenCL"), "{}", said.out);
}
