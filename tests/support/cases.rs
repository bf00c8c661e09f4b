//! Cases of known outcome, run as `couloir run` runs them, and what is read off them.
#![allow(dead_code)]

use std::path::Path;

use couloir::flow::case::{Case, Override};
use couloir::flow::exact::Flow;
use couloir::flow::simulation::Simulation;
use couloir::report::profile::{CellField, Line, along};

/// Samples on a centreline: so many that linear interpolation between them is exact enough.
const SAMPLES: usize = 2001;

/// A simulation of the case `text`, on the CPU.
pub fn open(text: &str, threads: usize) -> Simulation {
    open_in(text, threads, "auto")
}

/// The same in a `precision`.
pub fn open_in(text: &str, threads: usize, precision: &str) -> Simulation {
    let sets = [
        Override::new("node.device", "none", "program"),
        Override::new("node.threads", &threads.to_string(), "program"),
        Override::new("node.precision", precision, "program"),
    ];
    let case = Case::parse(text, Path::new("program.toml"), &sets).expect("the case is valid");
    Simulation::open(case).expect("the case fits its mesh")
}

/// Lid-driven unit cavity, one layer of `n` by `n` bricks.
pub fn cavity(shape: &str, n: usize, stretch: f64, re: f64, end_s: f64) -> String {
    let nu = 1.0 / re;
    format!(
        r#"
        [mesh]
        box = {{ shape = "{shape}", cells = [{n}, {n}, 1], max = [1, 1, 0.1], stretch = [{stretch}, {stretch}, 0] }}
        [fluid]
        viscosity = {nu:e}
        [time]
        end = {end_s}
        max_courant = 0.7
        [poisson]
        tolerance = 1e-5
        [boundary]
        ymax = {{ type = "wall", velocity = [1, 0, 0] }}
        ymin = {{ type = "wall" }}
        xmin = {{ type = "wall" }}
        xmax = {{ type = "wall" }}
        zmin = {{ type = "slip" }}
        zmax = {{ type = "slip" }}
        "#
    )
}

/// Steps to the case's end, or until the kinetic energy changes by less than `still` of itself
/// per second. Returns the last rate of change.
pub fn run(sim: &mut Simulation, still: f64) -> f64 {
    let (mut before, mut then, mut rate) = (0.0, 0.0, f64::INFINITY);
    while !sim.finished() {
        let step = sim.advance().expect("the step succeeds");
        let energy = step.result.kinetic_energy;
        if sim.time_s > then + 0.5 {
            rate = ((energy - before) / energy / (sim.time_s - then)).abs();
            (before, then) = (energy, sim.time_s);
            if rate < still {
                break;
            }
        }
    }
    rate
}

/// Component `k` of the velocity along a line: distances and values.
pub fn profile(sim: &Simulation, k: usize, from: [f64; 3], to: [f64; 3]) -> Vec<(f64, f64)> {
    let (mesh, geometry) = sim.case.ordered_mesh().expect("the mesh is made again");
    let u = sim.stepper.velocity().expect("the field is readable");
    let inside = mesh.interior_faces();
    let values: Vec<[f64; 1]> = u[k].iter().map(|&u| [u]).collect();
    let field = CellField {
        mesh: &mesh,
        geometry: &geometry,
        values: &values,
        boundary: &|f| sim.given_velocity(f - inside).map(|u| [u[k]]),
    };
    let line = Line {
        from,
        to,
        samples: SAMPLES,
    };
    let samples = along(&field, &line).expect("one value per cell");
    let inside = samples.iter().filter_map(|s| Some((s.s_m, s.value?[0])));
    inside.collect()
}

/// u on x = 1/2 and v on y = 1/2 of a unit cavity.
pub fn centrelines(sim: &Simulation) -> [Vec<(f64, f64)>; 2] {
    [
        profile(sim, 0, [0.5, 0.0, 0.05], [0.5, 1.0, 0.05]),
        profile(sim, 1, [0.0, 0.5, 0.05], [1.0, 0.5, 0.05]),
    ]
}

/// The value at `s`, between its neighbours.
pub fn at(profile: &[(f64, f64)], s: f64) -> f64 {
    let after = profile.partition_point(|p| p.0 < s);
    let after = after.clamp(1, profile.len() - 1);
    let ((a, u), (b, v)) = (profile[after - 1], profile[after]);
    u + (v - u) * (s - a) / (b - a)
}

/// Largest difference from published points.
pub fn distance(profile: &[(f64, f64)], points: &[(f64, f64)]) -> f64 {
    let differences = points.iter().map(|&(s, u)| (at(profile, s) - u).abs());
    differences.fold(0.0, f64::max)
}

/// Relative L2 error of the cell velocities.
pub fn error(sim: &Simulation, flow: &impl Flow) -> f64 {
    let (_, geometry) = sim.case.ordered_mesh().expect("the mesh is made again");
    let u = sim.stepper.velocity().expect("the field is readable");
    let nu = sim.case.fluid.viscosity;
    let (mut e, mut size) = (0.0, 0.0);
    for (c, v) in geometry.volume.iter().enumerate() {
        let want = flow.velocity(geometry.centre[c], sim.time_s, nu);
        for k in 0..3 {
            e += v * (u[k][c] - want[k]).powi(2);
            size += v * want[k].powi(2);
        }
    }
    (e / size).sqrt()
}
