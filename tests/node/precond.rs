//! Preconditioners beyond the diagonal: properties of the factor, iterations, and the same
//! iterates for every split; the choice by measurement.

use std::time::{Duration, Instant};

use couloir::linear::precond::Pattern;
use couloir::linear::precond::fsai::factor;
use couloir::linear::{Auto, Pcg, Preconditioner, Solution};
use couloir::node::opencl::{DeviceInfo, devices};
use couloir::node::{Config, DeviceChoice, MemoryKind};
use couloir::sparse::Csr;
use couloir::split::{Engine, Policy};

/// A Laplacian of `nx x ny x nz` cells whose coefficients spread over two powers of ten; where not
/// `singular`, the value is given on one side.
fn laplacian([nx, ny, nz]: [usize; 3], singular: bool) -> Csr {
    let n = nx * ny * nz;
    let mut rng = fastrand::Rng::with_seed(7);
    let mut entries = Vec::new();
    let mut join = |i: usize, j: usize| {
        let c = 10f64.powf(2.0 * rng.f64());
        let (i, j) = (i as u32, j as u32);
        entries.extend([(i, j, -c), (j, i, -c), (i, i, c), (j, j, c)]);
    };
    for i in 0..n {
        for (step, inside) in [
            (1, i % nx + 1 < nx),
            (nx, i / nx % ny + 1 < ny),
            (nx * ny, i / (nx * ny) + 1 < nz),
        ] {
            if inside {
                join(i, i + step);
            }
        }
    }
    if !singular {
        entries.extend((0..nx * ny).map(|i| (i as u32, i as u32, 1.0)));
    }
    Csr::from_triplets(n, n, &entries)
}

fn unit(a: &Csr) -> Csr {
    let d: Vec<f64> = a.diag().iter().map(|d| 1.0 / d.sqrt()).collect();
    Csr::from_rows(a.rows, a.cols, |i, row| {
        row.extend(a.row(i).map(|(j, v)| (j as u32, v * (d[i] * d[j]))));
    })
}

fn right(n: usize) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(8);
    let b: Vec<f64> = (0..n).map(|_| rng.f64()).collect();
    let mean = b.iter().sum::<f64>() / n as f64;
    b.iter().map(|b| b - mean).collect()
}

fn engine(device: DeviceChoice, threads: usize, ratio: f64) -> Engine<f64> {
    let config = Config {
        device,
        memory: None,
        threads: Some(threads),
        ..Config::default()
    };
    Engine::open(&config, Policy::Fixed(ratio)).unwrap()
}

fn run(
    engine: &Engine<f64>,
    a: &Csr,
    singular: bool,
    fsai: Option<Pattern>,
) -> (Solution, Vec<f64>) {
    let mut solver = Pcg::with(engine, a, singular, fsai).unwrap();
    let mut b = engine.node.buffer_from(&right(a.rows)).unwrap();
    let mut x = engine.node.buffer(a.rows).unwrap();
    let s = solver
        .solve(engine, &mut b, &mut x, 1e-9, 0.0, 3000)
        .unwrap();
    (s, x.read().unwrap().to_vec())
}

const PATTERNS: [Pattern; 3] = [
    Pattern {
        power: 1,
        drop: 0.0,
        by_colour: false,
    },
    Pattern {
        power: 2,
        drop: 0.0,
        by_colour: false,
    },
    Pattern {
        power: 2,
        drop: 0.05,
        by_colour: false,
    },
];

#[test]
fn the_factor_is_lower_and_gives_a_unit_diagonal() {
    for singular in [false, true] {
        let a = unit(&laplacian([7, 6, 5], singular));
        let mut entries = Vec::new();
        for pattern in PATTERNS {
            let g = factor(&a, pattern);
            entries.push(g.entries());
            for i in 0..g.rows {
                assert!(g.row(i).all(|(j, _)| j <= i));
            }
            let product = g.product(&a).product(&g.transpose());
            for (i, d) in product.diag().iter().enumerate() {
                assert!((d - 1.0).abs() < 1e-12, "{pattern:?}: row {i} has {d}");
            }
        }
        assert!(
            entries[0] < entries[2] && entries[2] < entries[1],
            "{entries:?}"
        );
    }
    // Two rows, by hand: G A G^T = I.
    let a = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 0.6), (1, 0, 0.6), (1, 1, 1.0)]);
    let g = factor(&a, Pattern::default());
    let want = [(0, 0, 1.0), (1, 0, -0.75), (1, 1, 1.25)];
    for ((i, j, v), (k, got)) in want.iter().zip((0..2).flat_map(|i| g.row(i))) {
        assert!(*j == k && (v - got).abs() < 1e-14, "{i} {j}: {got}");
    }
    // A whole singular system in one pattern has no such row: the diagonal is left.
    let a = Csr::from_triplets(
        2,
        2,
        &[(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)],
    );
    assert_eq!(factor(&a, Pattern::default()).val, [1.0, 1.0]);
}

#[test]
fn iterations_fall_and_the_true_residual_holds() {
    let cpu = engine(DeviceChoice::None, 1, 0.0);
    for singular in [false, true] {
        let a = laplacian([13, 12, 11], singular);
        let b = right(a.rows);
        let jacobi = run(&cpu, &a, singular, None).0.iterations;
        let mut last = jacobi;
        for pattern in &PATTERNS[..2] {
            let (s, x) = run(&cpu, &a, singular, Some(*pattern));
            let square = |v: f64| v * v;
            let rr: f64 = a
                .apply(&x)
                .iter()
                .zip(&b)
                .map(|(ax, b)| square(b - ax))
                .sum();
            let bb: f64 = b.iter().map(|b| square(*b)).sum();
            let case = format!("{pattern:?}, singular {singular}: {s:?}, jacobi {jacobi}");
            eprintln!("{case}");
            assert!(s.converged && (rr / bb).sqrt() <= 1.01e-9, "{case}");
            assert!(s.iterations * 10 < last * 9, "{case}, before {last}");
            last = s.iterations;
        }
    }
}

#[test]
fn iterates_do_not_depend_on_the_split() {
    let a = laplacian([13, 12, 11], true);
    let fsai = Some(PATTERNS[0]);
    let expected = run(&engine(DeviceChoice::None, 1, 0.0), &a, true, fsai);
    let threads = run(&engine(DeviceChoice::None, 3, 0.0), &a, true, fsai);
    assert!(threads == expected, "{:?}", threads.0);
    let found = devices().unwrap_or_else(|why| {
        eprintln!("SKIPPED on devices: {why}");
        Vec::new()
    });
    for d in found.iter().filter(|d| d.fp64) {
        for (ratio, threads) in [(0.3, 2), (1.0, 1)] {
            let got = run(
                &engine(DeviceChoice::Index(d.index), threads, ratio),
                &a,
                true,
                fsai,
            );
            assert!(got == expected, "{}, ratio {ratio}: {:?}", d.name, got.0);
        }
    }
}

#[test]
fn one_is_chosen_after_both_were_measured() {
    let cpu = engine(DeviceChoice::None, 1, 0.0);
    let a = laplacian([9, 8, 7], false);
    let mut solver = Auto::new(&cpu, &a, false).unwrap();
    let sites = solver.sites().len();
    let mut b = cpu.node.buffer_from(&right(a.rows)).unwrap();
    for solve in 1..=12 {
        let mut x = cpu.node.buffer(a.rows).unwrap();
        let s = solver.solve(&cpu, &mut b, &mut x, 1e-9, 0.0, 3000).unwrap();
        assert!(s.converged, "{s:?}");
        assert_eq!(solver.chosen().is_some(), solve >= 10, "solve {solve}");
    }
    assert!(matches!(
        solver.chosen(),
        Some(Preconditioner::Jacobi | Preconditioner::Fsai)
    ));
    assert_eq!(solver.sites().len(), sites);
}

/// A mean that no right-hand side has is never called: its search for a cut is not waited for.
#[test]
fn one_is_chosen_once_the_split_is_found() {
    let found = devices().unwrap_or_default();
    // Where memory is the device's own, whole steps are searched for one cut.
    let shares = |d: &&DeviceInfo| d.fp64 && d.best_memory() != MemoryKind::Discrete;
    for d in found.iter().filter(shares) {
        let config = Config {
            device: DeviceChoice::Index(d.index),
            threads: Some(1),
            ..Config::default()
        };
        let split = Engine::open(&config, Policy::Auto).unwrap();
        let a = laplacian([9, 8, 7], false);
        let mut solver = Auto::new(&split, &a, false).unwrap();
        let searches = |solver: &Auto<f64>| split.is_untuned(&solver.sites());
        assert!(searches(&solver), "{}", d.name);
        let mut b = split.node.buffer_from(&right(a.rows)).unwrap();
        // Beside other work calls are slow: what is enough is a time, not a number.
        let (begun, mut solves) = (Instant::now(), 0);
        while solver.chosen().is_none() && begun.elapsed() < Duration::from_secs(60) {
            let mut x = split.node.buffer(a.rows).unwrap();
            let s = solver.solve(&split, &mut b, &mut x, 1e-9, 0.0, 3000);
            assert!(s.unwrap().converged);
            solves += 1;
        }
        assert!(
            solver.chosen().is_some() && solves > 10,
            "{}, {solves}",
            d.name
        );
    }
}

#[test]
fn two_colours_need_half_of_the_iterations_whatever_the_split() {
    for (size, singular) in [
        ([13, 12, 11], false),
        ([8, 9, 10], true),
        ([1, 1, 600], false),
    ] {
        let a = laplacian(size, singular);
        let cpu = engine(DeviceChoice::None, 1, 0.0);
        let jacobi = run(&cpu, &a, singular, None).0.iterations;
        let by_colour = Some(Pattern::default());
        let expected = run(&cpu, &a, singular, by_colour);
        let (s, x) = &expected;
        let product = a.apply(x);
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let b = right(a.rows);
        let rest: Vec<f64> = b.iter().zip(&product).map(|(b, p)| b - p).collect();
        let case = format!("{size:?}, singular {singular}: {s:?}, jacobi {jacobi}");
        assert!(s.converged && norm(&rest) <= 1.01e-9 * norm(&b), "{case}");
        assert!(s.iterations * 20 < jacobi * 11, "{case}");
        let threads = run(&engine(DeviceChoice::None, 3, 0.0), &a, singular, by_colour);
        assert!(threads == expected, "{case}: {:?}", threads.0);
        for d in devices().unwrap_or_default().iter().filter(|d| d.fp64) {
            for (ratio, threads) in [(0.3, 2), (1.0, 1)] {
                let split = engine(DeviceChoice::Index(d.index), threads, ratio);
                let got = run(&split, &a, singular, by_colour);
                assert!(got == expected, "{case}, {}: {:?}", d.name, got.0);
            }
        }
    }
}
