//! Mixed precision: the same tolerance as double precision at nearly the same number of
//! iterations, bit-identical for every split, on every device; a device without fp64 takes part.

use couloir::flow::boundary::{FaceKind, Vectors};
use couloir::flow::operators::{Operators, Scheme};
use couloir::flow::plain::Settings;
use couloir::flow::stepper::Stepper;
use couloir::linear::{Precise, Solution, Solver};
use couloir::mesh::{BoxShape, BoxSpec, Geometry, box_mesh};
use couloir::node::opencl::devices;
use couloir::node::{Config, DeviceChoice, MemoryKind};
use couloir::sparse::Csr;
use couloir::split::{Engine, Policy, Precision};

pub fn config(device: DeviceChoice, memory: Option<MemoryKind>, threads: usize) -> Config {
    Config {
        device,
        memory,
        threads: Some(threads),
        ..Config::default()
    }
}

pub fn engine(precision: Precision, config: &Config, ratio: f64) -> Engine<f64> {
    Engine::open_in(Some(precision), config, Policy::Fixed(ratio)).unwrap()
}

pub fn cpu(precision: Precision) -> Engine<f64> {
    engine(precision, &config(DeviceChoice::None, None, 2), 0.0)
}

/// Operators on a stretched box, all sides with given velocities or one with a given pressure.
pub fn operators(shape: BoxShape, n: usize, singular: bool) -> Operators {
    let spec = BoxSpec {
        shape,
        cells: [n, n + 1, n - 1],
        max: [1.0, 2.0, 0.5],
        stretch: [0.0, 1.5, 0.7],
        ..BoxSpec::default()
    };
    let mesh = box_mesh(&spec).unwrap();
    let geometry = Geometry::of(&mesh);
    let kind = |name: &str| match name {
        "xmax" if !singular => FaceKind::Outlet(0.3),
        _ => FaceKind::Dirichlet,
    };
    let kinds: Vec<FaceKind> = mesh
        .patches
        .iter()
        .flat_map(|p| p.faces.clone().map(|_| kind(&p.name)).collect::<Vec<_>>())
        .collect();
    let scheme = match shape {
        BoxShape::Hexahedra => Scheme::SymmetryPreserving,
        _ => Scheme::Consistent,
    };
    Operators::build(&mesh, &geometry, &kinds, scheme).unwrap()
}

/// A right-hand side, smooth and rough, of mean zero.
pub fn rhs(n: usize) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut b: Vec<f64> = (0..n)
        .map(|i| (9.0 * i as f64 / n as f64).sin() + rng.f64())
        .collect();
    let mean = b.iter().sum::<f64>() / n as f64;
    b.iter_mut().for_each(|b| *b -= mean);
    b
}

pub fn solve<T: Precise>(
    engine: &Engine<T>,
    a: &Csr,
    singular: bool,
    b: &[f64],
    tolerance: f64,
) -> (Solution, Vec<f64>) {
    let mut solver = Solver::new(engine, a, singular).unwrap();
    let b: Vec<T> = b.iter().map(|&b| T::of(b)).collect();
    let mut rhs = engine.node.buffer_from(&b).unwrap();
    let mut x = engine.node.buffer(a.rows).unwrap();
    let s = solver
        .solve(engine, &mut rhs, &mut x, tolerance, 0.0, 3000)
        .unwrap();
    (s, widened(x.read().unwrap()))
}

fn widened<T: Precise>(x: &[T]) -> Vec<f64> {
    x.iter().map(|x| x.f64()).collect()
}

/// `|b - A x| / |b|`, by plain loops.
pub fn residual(a: &Csr, b: &[f64], x: &[f64]) -> f64 {
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let r: Vec<f64> = a.apply(x).iter().zip(b).map(|(p, b)| b - p).collect();
    norm(&r) / norm(b)
}

#[test]
fn the_tolerance_is_reached_in_nearly_as_many_iterations() {
    for (shape, n) in [(BoxShape::Hexahedra, 20), (BoxShape::Tetrahedra, 10)] {
        for singular in [true, false] {
            let a = operators(shape, n, singular).laplacian;
            let b = rhs(a.rows);
            for tolerance in [1e-4, 1e-8, 1e-12] {
                let case = format!("{shape:?}, singular {singular}, {tolerance:.0e}");
                let (plain, _) = solve(&cpu(Precision::Fp64), &a, singular, &b, tolerance);
                let (mixed, x) = solve(&cpu(Precision::Mixed), &a, singular, &b, tolerance);
                let truth = residual(&a, &b, &x);
                let (p, m) = (plain.iterations, mixed.iterations);
                eprintln!("{case}: {m} iterations for {p}, true residual {truth:.2e}");
                assert!(mixed.converged && plain.converged, "{case}: {mixed:?}");
                assert!(truth <= 1.01 * tolerance, "{case}: {truth:.2e}");
                assert!((mixed.residual / truth - 1.0).abs() < 0.05, "{case}");
                // Near round-off the directions are lost sooner in single precision.
                let most = if tolerance < 1e-10 { 1.3 } else { 1.15 };
                assert!(m as f64 <= most * p as f64 + 2.0, "{case}: {m} for {p}");
            }
        }
    }
}

#[test]
fn units_do_not_matter() {
    let a = operators(BoxShape::Hexahedra, 10, false).laplacian;
    let b = rhs(a.rows);
    let engine = cpu(Precision::Mixed);
    let (expected, _) = solve(&engine, &a, false, &b, 1e-10);
    // Far beyond what single precision holds, in either.
    for (unit, size) in [(1e-60, 1e60), (1e60, 1e-60), (1e-30, 1e-50)] {
        let mut scaled = a.clone();
        scaled.val.iter_mut().for_each(|v| *v *= unit);
        let big: Vec<f64> = b.iter().map(|b| b * size).collect();
        let (s, x) = solve(&engine, &scaled, false, &big, 1e-10);
        assert!(s.converged, "{unit:e} {size:e}: {s:?}");
        assert!(residual(&scaled, &big, &x) < 1.01e-10, "{unit:e} {size:e}");
        // A rounding more or less ends each of some ten inner solves an iteration sooner or later.
        let differ = s.iterations.abs_diff(expected.iterations);
        assert!(
            differ <= expected.iterations / 10,
            "{s:?}, not {expected:?}"
        );
    }
}

#[test]
fn ends_where_nothing_is_to_be_done_or_nothing_helps() {
    let a = operators(BoxShape::Hexahedra, 8, true).laplacian;
    let engine = cpu(Precision::Mixed);
    let (s, x) = solve(&engine, &a, true, &vec![0.0; a.rows], 1e-8);
    assert!(s.converged && s.iterations == 0 && x.iter().all(|&x| x == 0.0));
    // Below round-off: not reached, and said so after a few attempts.
    let b = rhs(a.rows);
    let (s, x) = solve(&engine, &a, true, &b, 1e-18);
    assert!(!s.converged && s.iterations < 1000, "{s:?}");
    assert!(residual(&a, &b, &x) < 1e-13);
    let mut spoilt = b.clone();
    spoilt[7] = f64::NAN;
    let (s, _) = solve(&engine, &a, true, &spoilt, 1e-8);
    assert!(!s.converged && s.residual.is_nan(), "{s:?}");
    // The bound on iterations holds over all refinements.
    let mut solver = Solver::new(&engine, &a, true).unwrap();
    let mut rhs = engine.node.buffer_from(&b).unwrap();
    let mut x = engine.node.buffer(a.rows).unwrap();
    let s = solver.solve(&engine, &mut rhs, &mut x, 1e-12, 0.0, 20);
    let s = s.unwrap();
    assert!(!s.converged && s.iterations == 20, "{s:?}");
    // A second solve by the same solver is as good as the first.
    let (first, again) = (solve(&engine, &a, true, &b, 1e-10), {
        let mut rhs = engine.node.buffer_from(&b).unwrap();
        let mut x = engine.node.buffer(a.rows).unwrap();
        let s = solver.solve(&engine, &mut rhs, &mut x, 1e-10, 0.0, 3000);
        (s.unwrap(), x.read().unwrap().to_vec())
    });
    assert_eq!(first, again);
}

/// Every device in every kind of memory, with shares and threads. An engine on Rusticl takes seconds to
/// open, for that compiles anew: one for all that is solved.
pub fn splits() -> Vec<(Config, f64)> {
    let mut all = vec![
        (config(DeviceChoice::None, None, 1), 0.0),
        (config(DeviceChoice::None, None, 3), 0.0),
    ];
    let found = devices().unwrap_or_else(|why| {
        eprintln!("SKIPPED on devices: {why}");
        Vec::new()
    });
    if found.iter().all(|d| d.fp64) {
        eprintln!("SKIPPED on a device without fp64: there is none (RUSTICL_ENABLE=llvmpipe)");
    }
    for d in &found {
        let device = DeviceChoice::Index(d.index);
        all.push((config(device, None, 1), 0.6));
        all.push((config(device, None, 2), 1.0));
        for memory in [MemoryKind::ZeroCopy, MemoryKind::Discrete] {
            // What `None` has taken already is not run again.
            if d.offers(memory) && d.best_memory() != memory {
                all.push((config(device, Some(memory), 1), 0.25));
            }
        }
    }
    all
}

#[test]
fn solutions_do_not_depend_on_the_split() {
    let systems = [true, false].map(|s| (s, operators(BoxShape::Hexahedra, 11, s).laplacian));
    let mut expected = [None, None];
    for (config, ratio) in splits() {
        let engine = engine(Precision::Mixed, &config, ratio);
        for ((singular, a), expected) in systems.iter().zip(&mut expected) {
            let got = solve(&engine, a, *singular, &rhs(a.rows), 1e-9);
            assert!(got.0.converged);
            let expected = expected.get_or_insert_with(|| got.clone());
            assert!(*expected == got, "{config:?}, {ratio}: {:?}", got.0);
        }
    }
}

/// Velocities, pressure and fluxes after some steps.
pub fn steps<T: Precise>(
    engine: &Engine<T>,
    ops: &Operators,
    steps: usize,
    tolerance: f64,
) -> Vec<Vec<f64>> {
    let settings = Settings {
        nu: 0.05,
        force: [0.1, 0.0, -0.05],
        tolerance,
        max_iterations: 2000,
    };
    let mut rng = fastrand::Rng::with_seed(5);
    let u: Vectors = std::array::from_fn(|_| (0..ops.cells).map(|_| rng.f64()).collect());
    let given: Vectors = std::array::from_fn(|_| vec![0.0; ops.faces - ops.interior_faces]);
    let mut s = Stepper::new(engine, ops, settings, &u, &given, 1e-3).unwrap();
    for _ in 0..steps {
        s.step(engine, 1e-3, &given).unwrap();
    }
    let mut out: Vec<Vec<f64>> = s.velocity().unwrap().map(widened).into();
    out.push(widened(s.pressure().unwrap()));
    out.push(widened(&s.flux().unwrap()));
    out
}

/// Of the fields of [`steps`], relative to the largest value of each.
pub fn differences<'a>(
    ops: &'a Operators,
    got: &'a [Vec<f64>],
    want: &'a [Vec<f64>],
) -> impl Iterator<Item = f64> + 'a {
    got.iter().zip(want).enumerate().map(|(k, (got, want))| {
        // Without a given pressure it is defined up to a constant.
        let level = |v: &[f64]| match k {
            3 if ops.boundary.is_singular() => v.iter().sum::<f64>() / v.len() as f64,
            _ => 0.0,
        };
        let shift = level(got) - level(want);
        let size = want.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let differences = got.iter().zip(want).map(|(a, b)| (a - b - shift).abs());
        differences.fold(0.0, f64::max) / size
    })
}

#[test]
fn steps_follow_double_precision_whatever_the_split() {
    let flows = [(BoxShape::Hexahedra, 9), (BoxShape::Tetrahedra, 5)]
        .map(|(shape, n)| (shape, operators(shape, n, shape == BoxShape::Hexahedra)));
    let mut expected = [None, None];
    for (config, ratio) in splits() {
        let engine = engine(Precision::Mixed, &config, ratio);
        for ((shape, ops), expected) in flows.iter().zip(&mut expected) {
            let got = steps(&engine, ops, 3, 1e-9);
            let expected = expected.get_or_insert_with(|| got.clone());
            assert!(*expected == got, "{shape:?}: {config:?}, {ratio} differs");
        }
    }
    for ((_, ops), expected) in flows.iter().zip(expected) {
        let plain = steps(&cpu(Precision::Fp64), ops, 3, 1e-9);
        for (k, d) in differences(ops, &expected.unwrap(), &plain).enumerate() {
            assert!(d < 1e-7, "field {k} differs by {d:.1e}");
        }
    }
}

#[test]
fn a_device_without_fp64_is_used() {
    let Some(info) = devices().unwrap_or_default().into_iter().find(|d| !d.fp64) else {
        eprintln!("SKIPPED: no device without fp64 (RUSTICL_ENABLE=llvmpipe)");
        return;
    };
    let here = config(DeviceChoice::Index(info.index), None, 1);
    let engine = Engine::<f64>::open_in(None, &here, Policy::Fixed(0.5)).unwrap();
    assert_eq!(engine.precision(), Precision::Mixed);
    assert!(engine.node.device.is_none());
    assert!(engine.device_node().device.is_some());
    let notes = engine.node.notes.join("\n");
    assert!(notes.contains("has no double precision"), "{notes}");
    let a = operators(BoxShape::Hexahedra, 11, true).laplacian;
    let mut solver = Solver::new(&engine, &a, true).unwrap();
    let mut b = engine.node.buffer_from(&rhs(a.rows)).unwrap();
    let mut x = engine.node.buffer(a.rows).unwrap();
    let s = solver.solve(&engine, &mut b, &mut x, 1e-8, 0.0, 3000);
    assert!(s.unwrap().converged);
    assert_eq!(solver.copied_bytes(), 0, "memory is shared");
    let sites = solver.sites();
    let on_device = |p: &&&couloir::split::Place| p.precision == "fp32" && p.ratio() > 0.0;
    assert!(sites.iter().filter(on_device).count() >= 3);
    let fp64 = sites.iter().filter(|p| p.precision == "fp64");
    assert!(fp64.into_iter().all(|p| p.ratio() == 0.0));

    let refused = Engine::<f64>::open_in(Some(Precision::Fp64), &here, Policy::Fixed(0.5));
    let error = refused.map(|_| ()).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("--precision mixed"), "{error}");
}
