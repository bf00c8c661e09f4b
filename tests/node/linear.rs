//! The linear solvers: true residuals, iterations beside the plain form's, and the same iterates
//! for every split, memory and number of threads.

use couloir::flow::plain::solve;
use couloir::linear::{Pcg, Solution};
use couloir::node::opencl::{DeviceInfo, devices};
use couloir::node::{Config, DeviceChoice, MemoryKind};
use couloir::sparse::Csr;
use couloir::split::{Engine, Policy};

/// A Laplacian of `nx x ny x nz` cells whose coefficients spread over `spread` powers of ten;
/// where not `singular`, the value is given on one side.
pub fn laplacian([nx, ny, nz]: [usize; 3], spread: f64, singular: bool) -> Csr {
    let n = nx * ny * nz;
    let mut rng = fastrand::Rng::with_seed(3);
    let mut entries = Vec::new();
    let mut join = |i: usize, j: usize| {
        let c = 10f64.powf(spread * (rng.f64() - 0.5));
        let (i, j) = (i as u32, j as u32);
        entries.extend([(i, j, -c), (j, i, -c), (i, i, c), (j, j, c)]);
    };
    for i in 0..n {
        let (x, y, z) = (i % nx, i / nx % ny, i / (nx * ny));
        if x + 1 < nx {
            join(i, i + 1);
        }
        if y + 1 < ny {
            join(i, i + nx);
        }
        if z + 1 < nz {
            join(i, i + nx * ny);
        }
    }
    if !singular {
        entries.extend((0..nx * ny).map(|i| (i as u32, i as u32, 1.0)));
    }
    Csr::from_triplets(n, n, &entries)
}

/// A right-hand side of like size everywhere; of mean zero where `singular`.
pub fn right(n: usize, singular: bool) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(4);
    let mut b: Vec<f64> = (0..n).map(|_| rng.f64() - 0.3).collect();
    if singular {
        let mean = b.iter().sum::<f64>() / n as f64;
        b.iter_mut().for_each(|b| *b -= mean);
    }
    b
}

pub fn norm(v: impl IntoIterator<Item = f64>) -> f64 {
    v.into_iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// `|b - A x| / |b|`.
fn residual(a: &Csr, b: &[f64], x: &[f64]) -> f64 {
    norm(a.apply(x).iter().zip(b).map(|(ax, b)| b - ax)) / norm(b.iter().copied())
}

pub fn engine(
    device: DeviceChoice,
    memory: Option<MemoryKind>,
    threads: usize,
    ratio: f64,
) -> Engine<f64> {
    let config = Config {
        device,
        memory,
        threads: Some(threads),
        ..Config::default()
    };
    Engine::open(&config, Policy::Fixed(ratio)).unwrap()
}

fn run(
    engine: &Engine<f64>,
    a: &Csr,
    b: &[f64],
    singular: bool,
    tolerance: f64,
) -> (Solution, Vec<f64>) {
    let mut solver = Pcg::new(engine, a, singular).unwrap();
    let (mut b, mut x) = (
        engine.node.buffer_from(b).unwrap(),
        engine.node.buffer(a.rows).unwrap(),
    );
    let s = solver
        .solve(engine, &mut b, &mut x, tolerance, 0.0, 3000)
        .unwrap();
    (s, x.read().unwrap().to_vec())
}

#[test]
fn the_true_residual_reaches_the_tolerance_in_as_many_iterations_as_the_plain_form() {
    let cpu = engine(DeviceChoice::None, None, 1, 0.0);
    for singular in [false, true] {
        for spread in [0.0, 2.0, 4.0] {
            let a = laplacian([19, 14, 11], spread, singular);
            let b = right(a.rows, singular);
            for tolerance in [1e-4, 1e-8, 1e-10, 1e-12] {
                let mut plain = vec![0.0; a.rows];
                let want = solve(&a, &b, &mut plain, singular, tolerance, 3000).unwrap();
                let (got, x) = run(&cpu, &a, &b, singular, tolerance);
                let (true_residual, plain_residual) =
                    (residual(&a, &b, &x), residual(&a, &b, &plain));
                let case = format!(
                    "singular {singular}, spread {spread}, {tolerance:e}: {got:?}, true residual \
                     {true_residual:.2e}; plain: {want:?}, true residual {plain_residual:.2e}"
                );
                eprintln!("{case}");
                assert!(got.converged, "{case}");
                assert!(
                    true_residual <= (1.001 * tolerance).max(plain_residual),
                    "{case}"
                );
                assert!(
                    (got.residual / true_residual - 1.0).abs() < 0.2 || true_residual < 1e-13,
                    "{case}"
                );
                let most = want.iterations as f64 * 1.1 + 3.0;
                assert!((got.iterations as f64) <= most, "{case}");
            }
        }
    }
}

#[test]
fn iterates_do_not_depend_on_the_split() {
    let a = laplacian([23, 17, 9], 3.0, true);
    let b = right(a.rows, true);
    let expected = run(
        &engine(DeviceChoice::None, None, 1, 0.0),
        &a,
        &b,
        true,
        1e-9,
    );
    for threads in [2, 3] {
        let got = run(
            &engine(DeviceChoice::None, None, threads, 0.0),
            &a,
            &b,
            true,
            1e-9,
        );
        assert!(got == expected, "{threads} threads: {:?}", got.0);
    }
    let found = devices().unwrap_or_else(|why| {
        eprintln!("SKIPPED on devices: {why}");
        Vec::new()
    });
    for d in found.iter().filter(|d| d.fp64) {
        for memory in [MemoryKind::Svm, MemoryKind::ZeroCopy, MemoryKind::Discrete] {
            if !d.offers(memory) {
                continue;
            }
            for (ratio, threads) in [(0.3, 1), (0.3, 3), (1.0, 1), (1.0, 2)] {
                let engine = engine(DeviceChoice::Index(d.index), Some(memory), threads, ratio);
                let got = run(&engine, &a, &b, true, 1e-9);
                assert!(
                    got == expected,
                    "{}, {memory:?}, {threads} threads, ratio {ratio}: {:?}, not {:?}",
                    d.name,
                    got.0,
                    expected.0
                );
            }
        }
    }
}

/// The first solve of a solver is measured, the next is not: then a device is asked for sums while it
/// goes on.
#[test]
fn solves_one_after_the_other_do_not_depend_on_the_split() {
    let a = laplacian([23, 17, 9], 3.0, true);
    let b = right(a.rows, true);
    let reversed = b.iter().rev().copied().collect();
    // The mean of the last is taken off.
    let sides: [Vec<f64>; 3] = [b.clone(), reversed, b.iter().map(|b| b + 0.7).collect()];
    let solves = |engine: &Engine<f64>| {
        let mut solver = Pcg::new(engine, &a, true).unwrap();
        let mut all = Vec::new();
        for b in &sides {
            let mut x = engine.node.buffer(a.rows).unwrap();
            let mut b = engine.node.buffer_from(b).unwrap();
            let solved = solver.solve(engine, &mut b, &mut x, 1e-9, 0.0, 3000);
            all.push((solved.unwrap(), x.read().unwrap().to_vec()));
        }
        let mut sites = solver.sites().into_iter();
        let means = sites
            .find(|s| s.label.ends_with("mean"))
            .unwrap()
            .stats
            .calls;
        assert_eq!(means, 1, "only a mean beyond round-off is computed");
        all
    };
    let expected = solves(&engine(DeviceChoice::None, None, 1, 0.0));
    let (first, last) = (&expected[0].1, &expected[2].1);
    let apart = norm(first.iter().zip(last).map(|(a, b)| a - b));
    assert!(apart < 1e-7 * norm(first.iter().copied()), "{apart:e}");
    for d in devices_with_fp64() {
        for memory in [MemoryKind::Svm, MemoryKind::ZeroCopy, MemoryKind::Discrete] {
            if d.offers(memory) {
                let engine = engine(DeviceChoice::Index(d.index), Some(memory), 1, 1.0);
                assert!(solves(&engine) == expected, "{}, {memory:?}", d.name);
            }
        }
    }
}

/// Devices with double precision; says so where there is none.
pub fn devices_with_fp64() -> Vec<DeviceInfo> {
    let mut all = devices().unwrap_or_else(|why| {
        eprintln!("SKIPPED on devices: {why}");
        Vec::new()
    });
    all.retain(|d| d.fp64);
    if all.is_empty() {
        eprintln!("SKIPPED: no device with double precision");
    }
    all
}

/// A device runs ahead of the host; iterations after the last do nothing and are not counted.
#[test]
fn only_iterations_that_did_something_are_counted() {
    let a = laplacian([23, 17, 9], 1.0, true);
    let b = right(a.rows, true);
    for device in devices_with_fp64() {
        let engine = engine(DeviceChoice::Index(device.index), None, 1, 1.0);
        let mut solver = Pcg::new(&engine, &a, true).unwrap();
        let (mut b, mut x) = (
            engine.node.buffer_from(&b).unwrap(),
            engine.node.buffer(a.rows).unwrap(),
        );
        let mut iterations = 0;
        for tolerance in [1e-2, 1e-4, 1e-10] {
            let s = solver.solve(&engine, &mut b, &mut x, tolerance, 0.0, 3000);
            iterations += s.unwrap().iterations as u64;
            for name in ["poisson product", "poisson step"] {
                let sites = solver.sites();
                let site = sites.iter().find(|s| s.label == name).unwrap();
                assert_eq!(site.stats.calls, iterations, "{name} on {}", device.name);
            }
        }
        assert!(iterations > 20);
    }
}
