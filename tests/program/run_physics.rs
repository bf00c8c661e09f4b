//! Flows of known outcome through the whole program: case, mesh, split time step, profiles.

use std::f64::consts::PI;

use crate::cases::{cavity, centrelines, distance, open_in, run};
use couloir::report::reference::ghia;

/// Relative change of the kinetic energy per second of a flow that is called steady.
const STILL: f64 = 1e-4;

fn against_ghia(shape: &str, n: usize, precision: &str, re: u32) {
    let mut sim = open_in(&cavity(shape, n, 0.0, re.into(), 40.0), 1, precision);
    let rate = run(&mut sim, STILL);
    assert!(rate < STILL, "no steady flow: {rate}");
    let published = ghia(re).expect("a Reynolds number of the tables");
    let [u, v] = centrelines(&sim);
    let off = [
        distance(&u, &published.u_vertical),
        distance(&v, &published.v_horizontal),
    ];
    eprintln!(
        "{shape} {n}, {precision}, Re {re}: {} steps to t = {:.1}, {off:.4?}",
        sim.step, sim.time_s
    );
    assert!(off[0] < 0.01 && off[1] < 0.01, "{shape}, Re {re}: {off:?}");
}

#[test]
fn cavity_on_hexahedra() {
    against_ghia("hexahedra", 64, "fp64", 100);
    against_ghia("hexahedra", 64, "fp64", 400);
}

#[test]
fn cavity_on_prisms() {
    against_ghia("prisms", 32, "fp64", 100);
    against_ghia("prisms", 45, "fp64", 400);
}

#[test]
fn cavity_in_mixed_precision() {
    against_ghia("hexahedra", 64, "mixed", 100);
    against_ghia("prisms", 32, "mixed", 100);
}

#[test]
fn cavity_in_single_precision() {
    against_ghia("hexahedra", 64, "fp32", 100);
    against_ghia("prisms", 32, "fp32", 100);
}

#[test]
fn a_vortex_decays_at_the_exact_rate() {
    for precision in ["fp64", "mixed", "fp32"] {
        vortex(precision);
    }
}

fn vortex(precision: &str) {
    let (nu, side, thin) = (0.1, 2.0 * PI, PI / 32.0);
    let text = format!(
        r#"
        [mesh]
        box = {{ cells = [64, 64, 1], max = [{side}, {side}, {thin}] }}
        [fluid]
        viscosity = {nu}
        [time]
        end = 1
        max_courant = 0.5
        [initial]
        field = "taylor-green-2d"
        [boundary]
        xmin = {{ type = "periodic", with = "xmax" }}
        xmax = {{ type = "periodic", with = "xmin" }}
        ymin = {{ type = "periodic", with = "ymax" }}
        ymax = {{ type = "periodic", with = "ymin" }}
        zmin = {{ type = "slip" }}
        zmax = {{ type = "slip" }}
        "#
    );
    let mut sim = open_in(&text, 1, precision);
    let first = sim.advance().expect("a step");
    let mut last = first;
    while !sim.finished() {
        last = sim.advance().expect("a step");
    }
    let ratio = first.result.kinetic_energy / last.result.kinetic_energy;
    let rate = ratio.ln() / (last.time_s - first.time_s) / (4.0 * nu);
    eprintln!(
        "{rate:.5} of the exact rate in {precision}, {} steps",
        sim.step
    );
    assert!((rate - 1.0).abs() < 5e-3, "{rate} of the exact rate");
}
