//! Messages of a solve are counted; steps on more ranks are predicted.

use std::process::Command;

use couloir::cluster::Comm;
use couloir::linear::Pcg;
use couloir::node::{Config, DeviceChoice};
use couloir::sparse::Csr;
use couloir::split::{Engine, Policy};

use crate::folder::{Folder, said};
use crate::ranks::{ONE_AT_A_TIME, mpirun};

/// One reduction per iteration, whatever the number of sums.
#[test]
fn a_solve_sends_one_reduction_per_iteration() {
    let n = 3000;
    let a = Csr::from_rows(n, n, |i, row| {
        row.push((i as u32, 2.01));
        row.extend((i > 0).then(|| (i as u32 - 1, -1.0)));
        row.extend((i + 1 < n).then(|| (i as u32 + 1, -1.0)));
    });
    let config = Config {
        device: DeviceChoice::None,
        threads: Some(1),
        ..Config::default()
    };
    let mut engine = Engine::<f64>::open(&config, Policy::Auto).expect("a node");
    let comm = Comm::absent(0, 4);
    engine.join(&comm, true);
    for singular in [false, true] {
        let mut solver = Pcg::new(&engine, &a, singular).expect("a solver");
        let b: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
        for tolerance in [1e-2, 1e-8] {
            let mut b = engine.node.buffer_from(&b).expect("memory");
            let mut x = engine.node.buffer(n).expect("memory");
            let before = comm.spent().reductions;
            let solution = solver
                .solve(&engine, &mut b, &mut x, tolerance, 0.0, 1000)
                .expect("a solution");
            assert!(
                solution.converged && solution.iterations > 5,
                "{solution:?}"
            );
            let beside = comm.spent().reductions - before - solution.iterations as u64;
            // |b|, a residual at each end of the iterations, and r . r where they begin; the
            // iterations may begin twice.
            assert!(
                (4..=6 + u64::from(singular)).contains(&beside),
                "{beside}: {solution:?}"
            );
        }
    }
}

fn predicted(report: &serde_json::Value) -> Vec<[f64; 4]> {
    let points = report["networks"][0]["points"].as_array().expect("points");
    let number = |p: &serde_json::Value, name: &str| p[name].as_f64().expect("a number");
    let names = ["nodes", "step_s", "efficiency", "cells"];
    points.iter().map(|p| names.map(|n| number(p, n))).collect()
}

#[test]
fn more_nodes_are_predicted_over_several_networks() {
    let folder = Folder::new();
    let Some(_) = mpirun(&folder, 1) else {
        return;
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_couloir"));
    command.args(["predict", "cases/cube.toml", "--nodes", "4", "--steps", "2"]);
    command.args([
        "--device",
        "none",
        "--network",
        "gige, ib-qdr, board/cluster.toml",
    ]);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.env("XDG_CACHE_HOME", folder.path(""));
    command.arg("--out").arg(folder.path("predict"));
    let ran = said(&mut command);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("ib-qdr: 1.70 us"), "{}", ran.out);
    let report = folder.json("predict/predict.json");
    let points = predicted(&report);
    assert_eq!(
        points.iter().map(|p| p[0]).collect::<Vec<_>>(),
        [1.0, 2.0, 4.0]
    );
    assert_eq!(points[0][2], 1.0);
    assert!(points[2][3] < 0.3 * points[0][3], "{report}");
    let efficiency = |n: usize| report["networks"][n]["points"][2]["efficiency"].as_f64();
    assert!(efficiency(0) < efficiency(1), "{report}");
    assert!(folder.text("predict/efficiency.svg").contains("<svg"));
    for (flag, value, wanted) in [
        ("--network", "token-ring", "ib-qdr"),
        ("--network", "this", "mpirun"),
        ("--nodes", "none", "such as 64"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_couloir"));
        command.args(["predict", "cases/cube.toml", flag, value]);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        let ran = said(command.arg("--out").arg(folder.path("none")));
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(wanted), "{}", ran.err);
    }
}

/// Times on a machine that does other things are off by anything; a wrong model is off by more.
#[test]
fn a_prediction_is_near_a_run() {
    let folder = Folder::new();
    let case = ["cases/cube.toml", "--device=none", "--threads=1"];
    let Some(mut command) = mpirun(&folder, 2) else {
        return;
    };
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    command.arg("predict").args(case);
    command.args(["--nodes=2", "--network=this", "--steps=8"]);
    let ran = said(command.arg("--out").arg(folder.path("predict")));
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    // Steps of the case itself are measured in turns with those of the parts.
    let point = &folder.json("predict/predict.json")["networks"][0]["points"][1];
    let seconds = |name: &str| point[name].as_f64().expect("a time");
    let ratio = seconds("step_s") / seconds("measured_s");
    eprintln!("step on 2 ranks, predicted over measured: {ratio:.3} ({point})");
    assert!((0.4..2.5).contains(&ratio), "{point}");
    // And a run of its own, which knows nothing of predictions.
    let mut command = mpirun(&folder, 2).expect("MPI is here");
    command
        .arg("run")
        .args(case)
        .args(["--steps=16", "--quiet"]);
    command.arg("--json").arg(folder.path("run.json"));
    let ran = said(command.arg("--out").arg(folder.path("out")));
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let ran_s = folder.json("run.json")["wall_per_step_s"]
        .as_f64()
        .expect("a time");
    let ratio = seconds("step_s") / ran_s;
    eprintln!("step on 2 ranks, predicted over run: {ratio:.3} ({ran_s:.6} s)");
    assert!((0.2..5.0).contains(&ratio), "{point} {ran_s}");
}
