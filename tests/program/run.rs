//! `couloir run` as a user meets it: report, log, and results that do not depend on how the work
//! is split.

use crate::folder::{Folder, is_file};
use serde_json::{Value, json};

/// A cavity of 1460 prisms, on the CPU.
pub const CAVITY: [&str; 5] = [
    "cases/cavity.toml",
    "--set",
    "mesh.file=tests/data/meshes/cavity_prism_24_22.msh",
    "--device",
    "none",
];
/// A periodic box of 512 hexahedra.
const VORTEX: [&str; 3] = [
    "cases/taylor-green.toml",
    "--set",
    "mesh.box.cells=[8, 8, 8]",
];

pub fn with<'a>(case: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [case, more].concat()
}

fn keys(value: &Value) -> String {
    let object = value.as_object().expect("an object");
    let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
    names.sort_unstable();
    names.join(" ")
}

pub fn positive(value: &Value) -> f64 {
    let x = value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"));
    assert!(x > 0.0, "{x}");
    x
}

#[test]
fn the_report_is_the_contract() {
    let folder = Folder::new();
    let report = folder.report(&with(&CAVITY, &["--steps", "4", "--threads", "1"]));
    let names = "board bytes_copied_per_step case cells cluster device discretisation divergence_max energy \
                 faces kernels kinetic_energy poisson precision predicted_per_step_s ranks \
                 resident_bytes steps threads time_s wall_per_step_s wall_s";
    assert_eq!(keys(&report), names);
    assert_eq!(keys(&report["board"]), "host id name peak_gb_s");
    assert_eq!(keys(&report["device"]), "fp64 kind memory name");
    assert_eq!(
        keys(&report["poisson"]),
        "iterations_mean relative_residual_max"
    );
    let names = "edp_js gflop_per_j idle_watts joules_per_step measured net_joules_per_step \
                 sampling_fraction source uncertainty_fraction watts_mean";
    assert_eq!(keys(&report["energy"]), names);
    assert_eq!(report["case"], "cavity");
    assert_eq!(report["cells"], 1460);
    assert_eq!(report["ranks"], 1);
    assert_eq!(report["threads"], 1);
    assert_eq!(report["steps"], 4);
    assert_eq!(report["precision"], "fp64");
    assert_eq!(report["discretisation"], "consistent");
    let device = json!({ "name": "none", "kind": "none", "memory": "host", "fp64": false });
    assert_eq!(report["device"], device);
    assert_eq!(report["bytes_copied_per_step"].as_f64(), Some(0.0));
    for name in [
        "time_s",
        "wall_per_step_s",
        "predicted_per_step_s",
        "kinetic_energy",
    ] {
        positive(&report[name]);
    }
    assert!(positive(&report["faces"]) > 2.0 * 1460.0);
    assert!(positive(&report["poisson"]["iterations_mean"]) >= 1.0);
    let tolerance = 1e-3;
    assert!(positive(&report["poisson"]["relative_residual_max"]) <= tolerance);
    assert!(report["divergence_max"].as_f64().expect("a number") < 1.0);
    let kernels = report["kernels"].as_array().expect("a list");
    assert!(kernels.len() > 10, "{}", kernels.len());
    for kernel in kernels {
        let names = "calls_per_step edp_js gb_per_s gflop_per_j joules joules_per_step name \
                     roofline_fraction split_ratio time_s watts_mean";
        assert_eq!(keys(kernel), names);
        assert!(kernel["name"].is_string());
        for name in ["calls_per_step", "time_s", "gb_per_s", "roofline_fraction"] {
            positive(&kernel[name]);
        }
    }
}

#[test]
fn mixed_precision_is_reported_and_keeps_the_tolerance() {
    let folder = Folder::new();
    let report = |precision: &str| {
        let tight = ["--set", "poisson.tolerance=1e-9", "--precision", precision];
        folder.report(&[&CAVITY[..], &["--steps", "3"], &tight].concat())
    };
    let (plain, mixed) = (report("auto"), report("mixed"));
    assert_eq!(plain["precision"], "fp64");
    assert_eq!(mixed["precision"], "mixed");
    assert!(positive(&mixed["poisson"]["relative_residual_max"]) <= 1e-9);
    let energy = |report: &Value| positive(&report["kinetic_energy"]);
    assert!((energy(&mixed) / energy(&plain) - 1.0).abs() < 1e-8);
    let kernels = mixed["kernels"].as_array().expect("a list").iter();
    let names: Vec<_> = kernels.filter_map(|k| k["name"].as_str()).collect();
    for name in ["(narrow)", "(widen)", "poisson residual, fp64"] {
        assert!(names.iter().any(|n| n.contains(name)), "{name}: {names:?}");
    }
}

#[test]
fn energy_is_an_estimate_or_null_where_nothing_measures_it() {
    let folder = Folder::new();
    let two_steps = |more: &[&str]| {
        let args = [&CAVITY[..], &["--steps", "2"], more].concat();
        folder.report(&args)
    };
    let board = two_steps(&["--board", "exynos5250"]);
    let generic = ["--board", "generic-x86_64"];
    let none = two_steps(&generic);
    assert_eq!(board["board"]["id"], "exynos5250");
    assert_eq!(board["board"]["peak_gb_s"].as_f64(), Some(12.8));
    assert_eq!(none["board"]["name"], "generic x86-64");
    assert!(none["board"]["peak_gb_s"].is_null());
    if none["energy"]["measured"] == true {
        // A machine with an energy sensor: measured with or without a nameplate.
        positive(&board["energy"]["joules_per_step"]);
        return;
    }
    let energy = &board["energy"];
    assert_eq!(energy["measured"], false);
    let source = energy["source"].as_str().expect("text");
    assert!(source.contains("nameplate 5 W"), "{source}");
    assert!((positive(&energy["watts_mean"]) - 5.0).abs() < 1e-6);
    let edp = positive(&energy["joules_per_step"]) * positive(&board["wall_s"]) / 2.0;
    assert!((positive(&energy["edp_js"]) / edp - 1.0).abs() < 0.05);
    // Joules and operations are shared out: the whole's GFLOP/J is below the best kernel's.
    let kernels = board["kernels"].as_array().expect("a list");
    let best = kernels.iter().map(|k| positive(&k["gflop_per_j"]));
    assert!(positive(&energy["gflop_per_j"]) <= best.fold(0.0, f64::max));
    let joules = |k: &Value| positive(&k["joules_per_step"]);
    let sum: f64 = kernels.iter().map(joules).sum();
    assert!(sum <= positive(&energy["joules_per_step"]) * (1.0 + 1e-9));
    for kernel in kernels {
        assert!((positive(&kernel["joules"]) / joules(kernel) - 2.0).abs() < 1e-9);
        assert!((positive(&kernel["watts_mean"]) - 5.0).abs() < 1e-6);
        positive(&kernel["edp_js"]);
    }

    assert_eq!(none["energy"]["measured"], false);
    for name in ["joules_per_step", "watts_mean", "edp_js", "gflop_per_j"] {
        assert!(none["energy"][name].is_null(), "{name}");
    }
    for name in ["joules", "joules_per_step", "watts_mean", "edp_js"] {
        assert!(none["kernels"][0][name].is_null(), "{name}");
    }
    // The case's own watts count, whatever the board says.
    let own = ["--board", "exynos5250", "--set", "node.nameplate_watts=15"];
    let source = two_steps(&own)["energy"]["source"].to_string();
    assert!(source.contains("nameplate 15 W"), "{source}");
}

#[test]
fn the_log_has_a_line_per_step_and_no_bar() {
    let folder = Folder::new();
    let said = folder.run(&with(&CAVITY, &["--steps", "3"]));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = said
        .out
        .lines()
        .filter(|l| l.starts_with("step ") && l.contains("Time = "))
        .collect();
    assert_eq!(lines.len(), 3, "{}", said.out);
    for part in [
        "step 3  Time = ",
        "dt = ",
        "Courant mean ",
        " max ",
        "initial residual ",
        "final ",
        "iterations ",
        "continuity ",
        "wall ",
        "energy ",
    ] {
        assert!(lines[2].contains(part), "{part}: {}", lines[2]);
    }
    for part in [
        "discretisation: consistent (",
        "device: none",
        "bandwidth (axpy",
        " predicted (",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    assert!(!said.out.contains(['\r', '\x1b']), "a bar in a file");

    let quiet = folder.run(&with(&CAVITY, &["--steps", "3", "--quiet"]));
    assert_eq!(quiet.code, Some(0));
    assert!(!quiet.out.contains("Time = "), "{}", quiet.out);
}

#[test]
fn steps_end_and_set_decide_when_a_run_ends() {
    let folder = Folder::new();
    let none = ["--device", "none"];
    let more = with(&none, &["--set", "time.dt=0.03", "--set", "time.end=0.1"]);
    let report = folder.report(&with(&VORTEX, &more));
    assert_eq!(report["steps"], 4);
    assert!((positive(&report["time_s"]) - 0.1).abs() < 1e-12);
    let report = folder.report(&with(&VORTEX, &with(&more, &["--steps", "2"])));
    assert_eq!(report["steps"], 2);
    assert!((positive(&report["time_s"]) - 0.06).abs() < 1e-12);
}

#[test]
fn results_do_not_depend_on_split_threads_or_device() {
    let folder = Folder::new();
    for case in [&CAVITY[..3], &VORTEX[..]] {
        let steps = ["--steps", "4", "--set", "output.profiles=[]"];
        let case = with(case, &steps);
        let result = |more: &[&str]| {
            let report = folder.report(&with(&case, more));
            ["kinetic_energy", "divergence_max", "time_s"].map(|name| report[name].to_string())
        };
        let alone = result(&["--device", "none", "--threads", "1"]);
        assert_eq!(alone, result(&["--device", "none", "--threads", "2"]));
        for split in ["0", "0.5", "1"] {
            assert_eq!(alone, result(&["--split", split]), "--split {split}");
        }
        let threads = ["--split", "0.5", "--threads", "1", "--memory", "discrete"];
        assert_eq!(alone, result(&threads));
    }
}

#[test]
fn every_case_runs() {
    let folder = Folder::new();
    let cases = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/cases")).unwrap();
    let mut count = 0;
    for case in cases.map(|e| e.unwrap().path()) {
        if case.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let name = case.file_stem().unwrap().to_str().unwrap().to_owned();
        let out = folder.path(&name);
        let path = case.to_str().unwrap();
        let out = out.to_str().unwrap();
        let report = folder.report(&[path, "--steps", "3", "--device", "none", "--out", out]);
        assert_eq!(report["steps"], 3, "{name}");
        assert_eq!(report["case"], name.as_str());
        assert!(is_file(&folder.path(&format!("{name}/{name}.pvd"))));
        count += 1;
    }
    assert!(count >= 4, "{count} cases");
}
