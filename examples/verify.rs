//! The long comparisons with published results: prints the rows of VERIFY.md's table.
//!
//! `cargo run --release --example verify [NAME...]`; without names, all of them.

#[path = "../tests/support/cases.rs"]
mod program;

use std::f64::consts::PI;
use std::time::Instant;

use couloir::flow::exact::EthierSteinman;
use program::{at, cavity, centrelines, error, open, run};

/// What was found, beside what was expected.
struct Row {
    what: String,
    expected: String,
    got: String,
    pass: bool,
}

/// A comparison.
type Compare = fn() -> Vec<Row>;

/// Every comparison by name.
const ALL: [(&str, Compare); 6] = [
    ("cavity-hexahedra", || extrema("hexahedra", 96, 1.0)),
    ("cavity-prisms", || extrema("prisms", 68, 0.0)),
    ("orders-hexahedra", || orders("hexahedra", [16, 32], 1.8)),
    ("orders-prisms", || orders("prisms", [12, 24], 1.8)),
    ("orders-tetrahedra", gmsh_orders),
    ("taylor-green", taylor_green),
];

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if let Some(name) = names.iter().find(|n| !ALL.iter().any(|(m, _)| n == m)) {
        let all = ALL.map(|(name, _)| name).join(", ");
        eprintln!("{name}: no such comparison; choose of: {all}");
        std::process::exit(2);
    }
    println!("| command | what | expected | got | |");
    println!("|---|---|---|---|---|");
    let mut failed = 0;
    for (name, make) in ALL {
        if !names.is_empty() && !names.iter().any(|n| n == name) {
            continue;
        }
        let start = Instant::now();
        for row in make() {
            let verdict = if row.pass { "pass" } else { "FAIL" };
            failed += usize::from(!row.pass);
            println!(
                "| `tools/verify {name}` | {} | {} | {} | {verdict} |",
                row.what, row.expected, row.got
            );
        }
        eprintln!("{name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    if failed > 0 {
        std::process::exit(1);
    }
}

/// As many as there are cores, or as VERIFY_THREADS says.
fn threads() -> usize {
    std::env::var("VERIFY_THREADS")
        .ok()
        .and_then(|n| n.parse().ok())
        .or_else(|| std::thread::available_parallelism().ok().map(usize::from))
        .unwrap_or(1)
}

/// Cavity at Re 1000 against Botella and Peyret (1998), on about 96^2 cells. Uniform hexahedra
/// are 2.8 % off there, so theirs are thinner towards the walls.
fn extrema(shape: &str, n: usize, stretch: f64) -> Vec<Row> {
    let mut sim = open(&cavity(shape, n, stretch, 1000.0, 60.0), threads());
    let rate = run(&mut sim, 2e-5);
    let [u, v] = centrelines(&sim);
    let least = |p: &[(f64, f64)]| p.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let most = |p: &[(f64, f64)]| p.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    eprintln!(
        "{shape}: {} steps to t = {:.1} s, energy changes by {rate:.1e} per second",
        sim.step, sim.time_s
    );
    [
        ("least u on x = 1/2", least(&u), -0.3885698),
        ("greatest v on y = 1/2", most(&v), 0.3769447),
        ("least v on y = 1/2", least(&v), -0.5270771),
    ]
    .into_iter()
    .map(|(name, got, want)| {
        let off: f64 = got / want - 1.0;
        Row {
            what: format!("cavity, Re 1000, {} {shape}: {name}", sim.mesh.cells()),
            expected: format!("{want:.4} within 2 %"),
            got: format!("{got:.4} ({:+.2} %)", 100.0 * off),
            pass: off.abs() <= 0.02,
        }
    })
    .collect()
}

/// Velocity error of Ethier and Steinman's flow on the mesh described by `mesh`, and its cells.
fn ethier_steinman(mesh: &str, sides: &[&str], nu: f64) -> (f64, f64) {
    let mut text = format!(
        "[mesh]\n{mesh}\n[fluid]\nviscosity = {nu}\n[time]\nend = 0.1\nmax_courant = 0.2\n\
         [poisson]\ntolerance = 1e-7\n[initial]\nfield = \"ethier-steinman\"\n[boundary]\n"
    );
    for side in sides {
        text += &format!("{side} = {{ type = \"exact\", solution = \"ethier-steinman\" }}\n");
    }
    let mut sim = open(&text, threads());
    run(&mut sim, 0.0);
    (error(&sim, &EthierSteinman), sim.mesh.cells() as f64)
}

fn order_row(shape: &str, [coarse, fine]: [(f64, f64); 2], least: f64) -> Row {
    let order = (coarse.0 / fine.0).ln() / (fine.1 / coarse.1).cbrt().ln();
    Row {
        what: format!(
            "Ethier-Steinman, {} to {} {shape}: order of the velocity",
            coarse.1, fine.1
        ),
        expected: format!("at least {least}"),
        got: format!("{order:.2} (errors {:.2e}, {:.2e})", coarse.0, fine.0),
        pass: order >= least,
    }
}

fn orders(shape: &str, n: [usize; 2], least: f64) -> Vec<Row> {
    let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
    let errors = n.map(|n| {
        let mesh =
            format!("box = {{ shape = \"{shape}\", cells = [{n}, {n}, {n}], min = [-1, -1, -1] }}");
        ethier_steinman(&mesh, &sides, 0.1)
    });
    vec![order_row(shape, errors, least)]
}

fn gmsh_orders() -> Vec<Row> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/meshes");
    let errors = ["cube_tet_8_22", "cube_tet_20_41"].map(|name| {
        let mesh = format!("file = \"{folder}/{name}.msh\"");
        ethier_steinman(&mesh, &["lid", "walls"], 0.02)
    });
    vec![order_row("Gmsh tetrahedra", errors, 1.9)]
}

/// Taylor-Green vortex at Re 1600 against a spectral solution.
fn taylor_green() -> Vec<Row> {
    let text = include_str!("../cases/taylor-green.toml")
        .replace("[32, 32, 32]", "[64, 64, 64]")
        .replace("end = 2", "end = 5")
        + "\n[poisson]\ntolerance = 1e-6\n";
    let reference: Vec<(f64, f64)> = include_str!("../tests/data/tgv_re1600_128_early.csv")
        .lines()
        .filter(|l| !l.starts_with('#'))
        .filter_map(|l| {
            let mut row = l.split(',').map(str::parse);
            Some((row.next()?.ok()?, row.next()?.ok()?))
        })
        .collect();
    let mut sim = open(&text, threads());
    let (mut worst, mut last) = (0.0f64, 0.0);
    while !sim.finished() {
        let step = sim.advance().expect("the step succeeds");
        last = step.result.kinetic_energy / (2.0 * PI).powi(3);
        worst = worst.max((last / at(&reference, sim.time_s) - 1.0).abs());
    }
    let want = at(&reference, sim.time_s);
    vec![Row {
        what: format!(
            "Taylor-Green, Re 1600, 64^3: kinetic energy at t = {:.1}",
            sim.time_s
        ),
        expected: format!("{want:.6} within 0.5 %"),
        got: format!(
            "{last:.6} ({:+.3} %; at most {:.3} % on the way)",
            100.0 * (last / want - 1.0),
            100.0 * worst
        ),
        pass: worst <= 0.005,
    }]
}
