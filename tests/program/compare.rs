//! `couloir compare`: boards side by side, and what cannot be compared.

use std::process::{Command, Stdio};

use crate::folder::{Folder, Said, refused, said};
use serde_json::{Value, json};

/// A report with what a comparison reads.
fn report(board: &str, time_s: f64, joules: Option<f64>, measured: bool) -> Value {
    json!({
        "case": "cavity", "cells": 5714, "faces": 20129, "ranks": 1, "precision": "fp64",
        "discretisation": "consistent", "board": { "id": "x", "name": board },
        "device": { "name": "Mali", "kind": "gpu", "memory": "zero-copy", "fp64": true },
        "threads": 2, "wall_per_step_s": time_s,
        "energy": {
            "source": if measured { "RAPL package-0" } else { "nameplate" },
            "measured": measured, "joules_per_step": joules,
            "watts_mean": joules.map(|j| j / time_s),
        },
    })
}

fn write(folder: &Folder, name: &str, report: &Value) -> String {
    folder.write(name, &report.to_string())
}

fn compare(args: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_couloir"));
    command.arg("compare").args(args).stdin(Stdio::null());
    said(&mut command)
}

/// The thesis' comparison: 5 W against 300 W and 25 times the speed make 2.4 times the energy.
#[test]
fn boards_are_put_side_by_side() {
    let folder = Folder::new();
    let slow = report("Mont-Blanc", 0.5, Some(2.5), false);
    let fast = report("MinoTauro", 0.02, Some(6.0), true);
    let a = write(&folder, "a.json", &slow);
    let b = write(&folder, "b.json", &fast);
    let json = folder.path("out/both.json");
    let svg = folder.path("out/both.svg");
    let files = [json.to_str().unwrap(), svg.to_str().unwrap()];
    let said = compare(&[&a, &b, "--json", files[0], "--svg", files[1]]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (Some(0), ""),
        "{}",
        said.err
    );
    let lines: Vec<&str> = said.out.lines().collect();
    let row = |name: &str| *lines.iter().find(|l| l.starts_with(name)).expect("a row");
    for part in ["500 ms", "1.00 x", "~5.00 W", "~2.50 J", "~1.25e0", "5714"] {
        assert!(row("Mont-Blanc").contains(part), "{part}: {}", said.out);
    }
    for part in [
        "20.0 ms", "0.0400 x", "300 W", "6.00 J", "2.40 x", "1.20e-1",
    ] {
        assert!(row("MinoTauro").contains(part), "{part}: {}", said.out);
    }
    assert!(!row("MinoTauro").contains('~'), "{}", said.out);
    assert!(
        said.out.contains("a.json: ~ is an estimate: nameplate"),
        "{}",
        said.out
    );

    let both = folder.json("out/both.json");
    assert_eq!(both["case"], "cavity");
    assert_eq!(both["per_cell"], false);
    assert_eq!(both["runs"][1]["joules_ratio"].as_f64(), Some(2.4));
    assert_eq!(both["runs"][1]["time_ratio"].as_f64(), Some(0.04));
    assert_eq!(both["runs"][0]["measured"], false);
    let drawn = folder.text("out/both.svg");
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    for part in [
        "Mont-Blanc",
        "MinoTauro",
        "6.00 J, 2.40 x",
        "fill=\"white\" stroke=\"#0072b2\"",
    ] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    // The longest bars are as long, in each panel; the shorter in proportion.
    assert_eq!(drawn.matches("width=\"240.0\"").count(), 2, "{drawn}");
    assert!(
        drawn.contains("width=\"9.6\"") && drawn.contains("width=\"100.0\""),
        "{drawn}"
    );
}

#[test]
fn absent_energy_is_not_zero() {
    let folder = Folder::new();
    let a = write(&folder, "a.json", &report("A", 0.5, None, false));
    let mut old = report("", 1.0, Some(3.0), true);
    // A report from before boards were known.
    old.as_object_mut().unwrap().remove("board");
    let b = write(&folder, "b.json", &old);
    let c = write(&folder, "c.json", &report("A", 0.25, Some(4.0), true));
    let json = folder.path("all.json");
    let svg = folder.path("all.svg");
    let more = [
        "--json",
        json.to_str().unwrap(),
        "--svg",
        svg.to_str().unwrap(),
    ];
    let said = compare(&[&[a.as_str(), &b, &c][..], &more].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let first = said
        .out
        .lines()
        .find(|l| l.starts_with("A ("))
        .expect("a row");
    assert!(
        first.contains("a.json)"),
        "two alike are told apart by file: {first}"
    );
    assert_eq!(first.matches("n/a").count(), 4, "{first}");
    assert!(said.out.contains("unknown board"), "{}", said.out);
    assert!(
        said.out
            .contains("a.json: no energy was measured or estimated"),
        "{}",
        said.out
    );
    // A meter that went away in mid-run.
    let mut gone = report("A", 0.5, None, true);
    gone["energy"]["source"] = json!("meter M");
    let d = write(&folder, "d.json", &gone);
    let out = compare(&[&a, &d]).out;
    assert!(
        out.contains("d.json: meter M did not deliver throughout the run"),
        "{out}"
    );

    let all = folder.json("all.json");
    for name in ["joules", "joules_ratio", "watts", "edp_js"] {
        assert!(all["runs"][0][name].is_null(), "{name}");
    }
    // No ratio to what is not known.
    assert!(all["runs"][2]["joules_ratio"].is_null());
    assert_eq!(all["runs"][2]["time_ratio"].as_f64(), Some(0.5));
}

#[test]
fn other_sizes_are_compared_per_cell_and_differences_are_said() {
    let folder = Folder::new();
    let a = write(&folder, "a.json", &report("A", 0.5, Some(5.0), true));
    let mut larger = report("B", 1.0, Some(5.0), true);
    larger["cells"] = json!(4 * 5714);
    larger["precision"] = json!("mixed");
    larger["discretisation"] = json!("symmetry-preserving");
    let b = write(&folder, "b.json", &larger);
    let json = folder.path("both.json");
    let said = compare(&[&a, &b, "--json", json.to_str().unwrap()]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for part in [
        "cavity: per step and cell",
        "different sizes: 5714 cells",
        "22856 cells",
        "per step and cell",
        "different precisions: fp64",
        "different discretisations: consistent",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let both = folder.json("both.json");
    assert_eq!(both["per_cell"], true);
    assert_eq!(both["runs"][1]["time_ratio"].as_f64(), Some(0.5));
    assert_eq!(both["runs"][1]["joules_ratio"].as_f64(), Some(0.25));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = Folder::new();
    let good = report("A", 0.5, Some(5.0), true);
    let a = write(&folder, "a.json", &good);
    let refuses = |args: &[&str], parts: &[&str]| {
        let error = refused(compare(args), 2);
        for part in parts {
            assert!(error.contains(part), "{part:?} is not in: {error}");
        }
    };
    refuses(&[], &["REPORT.json... is missing"]);
    refuses(&[&a], &["one run is no comparison", "two or more"]);
    refuses(&[&a, "absent.json"], &["absent.json", "cannot be read"]);
    refuses(&[&a, "src"], &["src: it cannot be read"]);
    let text = folder.write("text.json", "cells: 3");
    refuses(
        &[&a, &text],
        &["text.json", "no report of a run", "--json FILE"],
    );
    let other = folder.write("other.json", "{\"checks\": [], \"status\": \"ok\"}");
    refuses(&[&a, &other], &["other.json", "missing field `case`"]);
    for (key, value, part) in [
        ("case", json!("channel"), "run of the case \"channel\""),
        ("cells", json!(0), "without cells or time"),
        ("cells", json!(-5), "no report of a run"),
        ("wall_per_step_s", json!(0.0), "without cells or time"),
        ("wall_per_step_s", json!(null), "no report of a run"),
        ("energy", json!(3), "no report of a run"),
    ] {
        let mut bad = good.clone();
        bad[key] = value;
        let b = write(&folder, "b.json", &bad);
        refuses(&[&a, &b], &["b.json", part]);
    }
    let mut bad = good.clone();
    bad["energy"]["joules_per_step"] = json!(0.0);
    let b = write(&folder, "b.json", &bad);
    refuses(&[&a, &b], &["b.json", "energy is not above 0"]);
    let out = compare(&[&a, &a, "--svg", "/proc/none/a.svg"]);
    assert_eq!(out.code, Some(1), "{}", out.err);
}

/// What `couloir run` writes is what `couloir compare` reads.
#[test]
fn reports_of_runs_are_read() {
    let folder = Folder::new();
    let run = |name: &str, board: &str| {
        let file = folder.path(name);
        let args = [
            "cases/taylor-green.toml",
            "--set",
            "mesh.box.cells=[8, 8, 8]",
        ];
        let mut command = folder.command(&args);
        command.args([
            "--steps",
            "3",
            "--device",
            "none",
            "--threads",
            "1",
            "--board",
            board,
        ]);
        let said = said(command.arg("--json").arg(&file));
        assert_eq!(said.code, Some(0), "{}", said.err);
        file.to_str().unwrap().to_owned()
    };
    let (a, b) = (run("a.json", "exynos5250"), run("b.json", "minotauro"));
    let said = compare(&[&a, &b]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("Exynos 5250"), "{}", said.out);
    assert!(said.out.contains("MinoTauro node"), "{}", said.out);
}
