//! `couloir run --precision fp32`: what it reaches, and what it says of it.

use serde_json::Value;

use crate::folder::Folder;
use crate::run::{CAVITY, positive, with};

#[test]
fn single_precision_is_reported_and_its_round_off_told_once() {
    let folder = Folder::new();
    let run = |tolerance: &str| {
        let precision = ["--precision", "fp32", "--set", tolerance];
        let said = folder.run(&[&CAVITY[..], &["--steps", "3"], &precision].concat());
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(said.out.contains("precision: fp32"), "{}", said.out);
        said.out
    };
    let told = "the pressure is solved to round-off in fp32";
    let tight = run("poisson.tolerance=1e-8");
    let line: Vec<_> = tight.lines().filter(|l| l.contains(told)).collect();
    assert_eq!(line.len(), 1, "{tight}");
    for part in [
        "in 3 of 3 steps",
        "poisson.tolerance = 1e-8",
        "--precision mixed",
    ] {
        assert!(line[0].contains(part), "{part}: {}", line[0]);
    }
    let (worst, step) = worst(&tight);
    let part = format!("a relative residual of {worst:.1e} in the worst, step {step};");
    assert!(line[0].contains(&part), "{part}: {}", line[0]);
    assert!(!run("poisson.tolerance=1e-4").contains(told));

    let report = |precision: &str| {
        let flags = ["--steps", "3", "--precision", precision];
        folder.report(&[&CAVITY[..], &flags].concat())
    };
    let (single, plain) = (report("fp32"), report("fp64"));
    assert_eq!(single["precision"], "fp32");
    let energy = |report: &Value| positive(&report["kinetic_energy"]);
    let off = (energy(&single) / energy(&plain) - 1.0).abs();
    assert!(off > 0.0 && off < 1e-4, "{off}");
}

/// The largest final residual in a log, and its step.
fn worst(log: &str) -> (f64, usize) {
    let of = |line: &str| {
        let step = line.strip_prefix("step ")?.split(' ').next()?;
        let residual = line.split_once(", final ")?.1.split(',').next()?;
        Some((residual.parse().ok()?, step.parse().ok()?))
    };
    let steps: Vec<(f64, usize)> = log.lines().filter_map(of).collect();
    let worst = steps
        .into_iter()
        .reduce(|a, b| if b.0 > a.0 { b } else { a });
    worst.expect("lines of steps")
}

/// A box of `cells`, its other keys and its boundaries in the x direction.
fn walled(folder: &Folder, cells: &str, ends: &str) -> String {
    let text = format!(
        r#"
        mesh = {{ box = {{ {cells} }} }}
        fluid = {{ viscosity = 1e-3 }}
        time = {{ end = 5, max_courant = 0.5 }}
        [boundary]
        {ends}
        ymin = {{ type = "wall" }}
        ymax = {{ type = "wall", velocity = [1, 0, 0] }}
        zmin = {{ type = "wall" }}
        zmax = {{ type = "wall" }}
        "#
    );
    folder.write("box.toml", &text)
}

/// Wide enough that fp32 holds the pressure to no more than 1e-4: solves that went on below that
/// took all iterations, and lost what they had.
#[test]
fn single_precision_asked_for_too_much_is_steady_at_its_round_off() {
    let folder = Folder::new();
    let ends = r#"xmin = { type = "wall" }
        xmax = { type = "wall" }"#;
    let case = walled(&folder, "cells = [100, 100, 4]", ends);
    let mut before: Option<Vec<f64>> = None;
    for tolerance in ["1e-5", "1e-6", "1e-8"] {
        let aim = format!("poisson.tolerance={tolerance}");
        let flags = ["--steps", "20", "--device", "none", "--set", &aim];
        let run =
            |precision: &str| folder.report(&with(&[&case, "--precision", precision], &flags));
        let (single, plain) = (run("fp32"), run("fp64"));
        let residual = positive(&single["poisson"]["relative_residual_max"]);
        assert!(residual < 2e-4, "{tolerance}: {residual:.1e}");
        let iterations = |report: &Value| positive(&report["poisson"]["iterations_mean"]);
        let (i, p) = (iterations(&single), iterations(&plain));
        assert!(i < 1.1 * p, "{tolerance}: {i} iterations for {p}");
        let energy = |report: &Value| positive(&report["kinetic_energy"]);
        let off = (energy(&single) / energy(&plain) - 1.0).abs();
        assert!(off < 1e-4, "{tolerance}: {off:.1e}");
        // What is asked for does not matter where none of it is to be had.
        let now = vec![residual, i, energy(&single)];
        assert_eq!(*before.get_or_insert(now.clone()), now, "{tolerance}");
    }
}
