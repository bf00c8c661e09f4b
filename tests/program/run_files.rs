//! What `couloir run` writes: profiles, and fields that other programs read.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use couloir::flow::case::{Case, Override};
use couloir::flow::simulation::Simulation;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::run::{CAVITY, with};

#[test]
fn profiles_are_written_as_csv_and_svg() {
    let folder = Folder::new();
    folder.report(&with(&CAVITY, &["--steps", "2"]));
    let csv = folder.text("out/u_vertical.csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("s_m,x_m,y_m,z_m,u_m_s,v_m_s,w_m_s"));
    let rows: Vec<Vec<f64>> = lines
        .map(|l| l.split(',').map(|x| x.parse().expect("a number")).collect())
        .collect();
    assert_eq!(rows.len(), 101);
    assert!(rows[0][4] == 0.0 && rows[100][4] == 1.0, "wall and lid");
    for name in ["u_vertical.svg", "v_horizontal.svg"] {
        let svg = folder.text(&format!("out/{name}"));
        assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("Ghia et al. (1982)"), "{name}");
    }
}

const SERIES: &str = r#"
    mesh = { box = { cells = [5, 4, 3], shape = "prisms" } }
    fluid = { viscosity = 0.1 }
    time = { dt = 0.01, steps = 4 }
    output = { interval = 0.02 }
    [boundary]
    ymax = { type = "wall", velocity = [1, 0, 0.5] }
    ymin = { type = "wall" }
    xmin = { type = "wall" }
    xmax = { type = "wall" }
    zmin = { type = "wall" }
    zmax = { type = "slip" }
"#;

#[test]
fn other_programs_read_the_fields_that_the_library_computes() {
    let folder = Folder::new();
    let case = folder.write("series.toml", SERIES);
    folder.report(&[&case, "--device", "none"]);
    let files = folder.list("out");
    let want = [
        "series.pvd",
        "series_000000.vtu",
        "series_000002.vtu",
        "series_000004.vtu",
    ];
    assert_eq!(files, want);

    let none = [Override::new("node.device", "none", "test")];
    let case = Case::parse(SERIES, Path::new("series.toml"), &none).unwrap();
    let mut sim = Simulation::open(case).unwrap();
    let (_, geometry) = sim.case.ordered_mesh().unwrap();
    let mut expected = Vec::new();
    loop {
        if sim.step.is_multiple_of(2) {
            let now = sim.snapshot().unwrap();
            let [u, v, w] = &now.velocity;
            let velocity: Vec<f64> = (0..u.len()).flat_map(|c| [u[c], v[c], w[c]]).collect();
            expected.push(json!({
                "time": now.time_s,
                "points": sim.mesh.points.as_flattened(),
                "types": vec![13; sim.mesh.cells()],
                "cells": sim.mesh.cell_points,
                "volumes": geometry.volume,
                "arrays": { "velocity": velocity, "pressure": now.pressure },
            }));
        }
        if sim.finished() {
            break;
        }
        sim.advance().unwrap();
    }
    let pvd = folder.text("out/series.pvd");
    assert_eq!(pvd.matches("<DataSet").count(), expected.len());
    folder.write("out/expected.json", &Value::from(expected).to_string());

    let python = std::env::var("COULOIR_PYTHON").unwrap_or_else(|_| "python3".into());
    let run = Command::new(&python)
        .arg("tests/vtu_check.py")
        .arg(folder.path("out"))
        .output();
    match run {
        Ok(run) if run.status.code() != Some(3) => {
            let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{said}");
        }
        // Past the test harness, which would swallow it.
        _ => std::io::stderr()
            .write_all(b"SKIPPED: no VTU reader; `pip install vtk meshio`\n")
            .unwrap(),
    }
}
