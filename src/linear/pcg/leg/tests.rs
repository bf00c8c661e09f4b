//! Legs leave the bits of iterations one by one, and so do those that are started ahead.

use crate::Result;
use crate::kernel::Real;
use crate::linear::pcg::watch::tests::{laplacian, of_box};
use crate::linear::{Bounds, Pcg, Solution};
use crate::node::tuning::tests::{device, launched};
use crate::node::{Buffer, Config, DeviceChoice, MemoryKind, Tuning, opencl};
use crate::sparse::Csr;
use crate::split::{Engine, Policy};

/// Set in the process whose groups run together.
const TOGETHER: &str = "COULOIR_TEST_TOGETHER";

/// What a right-hand side has.
#[derive(Clone, Copy, PartialEq)]
enum Has {
    /// No mean.
    Waves,
    /// One that is to be taken off where the system is singular, with another entry.
    Mean,
    /// Squares that are no numbers but in another unit, with another entry.
    Little,
}

/// Right-hand sides, tolerances and most iterations of solves, one after the other, each from the one
/// before, but from 0 where there is [little](Has::Little); the fifth begins at its solution, and the last
/// but one takes few, so that of the last one more is started ahead than comes to anything: its steps are an
/// odd number.
const SOLVES: [(Has, usize, f64, usize); 12] = [
    (Has::Waves, 0, 1e-6, 500),
    (Has::Waves, 1, 1e-12, 9),
    (Has::Waves, 2, 1e-12, 9),
    (Has::Waves, 3, 1e-6, 500),
    (Has::Waves, 3, 1e-6, 500),
    (Has::Waves, 4, 1e-6, 500),
    (Has::Mean, 5, 1e-6, 500),
    (Has::Waves, 6, 1e-6, 500),
    (Has::Little, 7, 1e-6, 500),
    (Has::Waves, 8, 1e-6, 500),
    (Has::Waves, 9, 0.3, 500),
    (Has::Waves, 10, 1e-12, 9),
];

fn right_hand_side<T: Real>(has: Has, n: usize, rows: usize) -> Vec<T> {
    let waves: Vec<f64> = (0..rows)
        .map(|i| (1.7 * i as f64 + n as f64).sin())
        .collect();
    let mean = waves.iter().sum::<f64>() / rows as f64;
    let value = |v: f64| match has {
        Has::Waves => v - mean,
        Has::Mean => v + 0.5,
        Has::Little => (v - mean) * T::LEAST.sqrt(),
    };
    waves.into_iter().map(|v| T::of(value(v))).collect()
}

fn bits<T: Real>(v: &[T]) -> Vec<u64> {
    v.iter().map(|x| x.f64().to_bits()).collect()
}

fn on(device: DeviceChoice) -> Config {
    Config {
        device,
        threads: Some(1),
        memory: (device != DeviceChoice::None).then_some(MemoryKind::Discrete),
        ..Config::default()
    }
}

/// Devices of which groups may run together.
fn devices() -> impl Iterator<Item = opencl::DeviceInfo> {
    let all = opencl::devices().unwrap_or_default().into_iter();
    let together = |d: &opencl::DeviceInfo| Tuning::of(d).unwrap().together.is_some();
    all.filter(move |d| {
        d.compiles_legs() && together(d) && d.fp64 && d.offers(MemoryKind::Discrete)
    })
}

/// A solve from 0 with 1 in every row, whose vectors go as soon as it has returned.
fn from_zero(engine: &Engine<f64>, solver: &mut Pcg<f64>, n: usize) -> Result<Solution> {
    let mut b = engine.node.buffer_from(&vec![1.0; n])?;
    let mut x = engine.node.buffer(n)?;
    solver.solve(engine, &mut b, &mut x, 1e-8, 0.0, 500)
}

/// Rows beyond which a solver does less.
const MANY: usize = 20_000;

/// What a solver is to do.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// A mean is taken off.
    singular: bool,
    /// It begins along the steps of the solves before.
    remembers: bool,
}

const PLAIN: Way = Way {
    singular: false,
    remembers: false,
};

/// Solves with `a`, and the bits of their solutions, by legs of so many groups at most. What follows a
/// solution sees it, the last time.
fn solves<T: Real>(
    config: &Config,
    a: &Csr,
    way: Way,
    groups: Option<usize>,
) -> (Vec<Solution>, Vec<u64>) {
    let engine = Engine::<T>::open(config, Policy::Fixed(1.0)).unwrap();
    let mut solver = Pcg::new(&engine, a, way.singular).unwrap();
    if way.remembers {
        solver.remember(&engine).unwrap();
    }
    assert_eq!(solver.legs.is_some(), groups.is_some());
    if let (Some(legs), Some(groups)) = (&mut solver.legs, groups) {
        legs.limit(groups, None);
    }
    let mut x = engine.node.buffer(a.rows).unwrap();
    let (mut all, mut all_bits, mut follows) = (Vec::new(), Vec::new(), 0);
    // Of many rows those of few iterations.
    let some = match a.rows <= MANY {
        true => 0..SOLVES.len(),
        false => 1..3,
    };
    for &(has, n, tolerance, max_iterations) in &SOLVES[some] {
        let b = right_hand_side::<T>(has, n, a.rows);
        let mut b = engine.node.buffer_from(&b).unwrap();
        if has == Has::Little {
            x.write().unwrap().fill(T::ZERO);
        }
        let bounds = Bounds {
            tolerance,
            floor: 0.0,
            max_iterations,
        };
        let mut seen = None;
        let mut follow = |x: &Buffer<T>| {
            seen = Some(bits(x.read()?));
            Ok(())
        };
        let solved = solver.solve_then(&engine, &mut b, &mut x, bounds, Some(&mut follow));
        let (solution, followed) = solved.unwrap();
        let left = bits(x.read().unwrap());
        if followed {
            assert!(seen.is_some_and(|seen| seen == left));
            follows += 1;
        }
        all.push(solution);
        all_bits.extend(left);
    }
    assert!(solver.legs.iter().all(|legs| legs.left_clear()));
    if let Some(legs) = &solver.legs {
        // Of two forms, where slices are the same ones: see `groups_of_any_device_may_run_together`.
        let same = solver.system.beside.is_same();
        let most: &[f64] = match same {
            true => &[2e6, f64::INFINITY],
            false => &[f64::INFINITY],
        };
        assert_eq!(legs.most_bytes(), most);
        let form = engine.form_of(legs, [&solver.product, &solver.step]);
        assert_eq!(form, Some(usize::from(same && a.rows > MANY)));
        assert!(same || !(MANY..1_000_000).contains(&a.rows));
    }
    let (ahead, whole) = (solver.started_ahead, all.len() == SOLVES.len());
    if whole && groups.is_some() {
        // In single precision the host begins.
        let firsts = T::EPSILON == f64::EPSILON;
        let enough = follows > 3 && (ahead[0] > 3) == firsts && ahead[1] > 3;
        assert!(enough, "{follows} {ahead:?} {all:?}");
    }
    assert!(!whole || (1..=9).contains(&all[10].iterations), "{all:?}");
    let calls = |what: &str| {
        let sites = solver.sites();
        sites.iter().find(|s| s.label == what).unwrap().stats.calls
    };
    // One product is started before it is known that it is the first, or where it turns out not to be.
    let iterations: usize = all.iter().map(|s| s.iterations).sum();
    let products = calls("poisson product") - iterations as u64;
    assert!(products <= SOLVES.len() as u64, "{products} more, {all:?}");
    assert_eq!(calls("poisson step"), iterations as u64);
    (all, all_bits)
}

fn same_bits<T: Real>(a: &Csr, way: Way, all_groups: &[usize]) {
    let want = solves::<T>(&on(DeviceChoice::None), a, way, None);
    let takes = |n: usize| want.0.iter().any(|s| s.iterations == n);
    let all = want.0.len() == SOLVES.len();
    assert!(takes(9) && takes(0) == all, "{:?}", want.0);
    for d in devices() {
        for &groups in all_groups {
            let config = on(DeviceChoice::Index(d.index));
            let got = solves::<T>(&config, a, way, Some(groups));
            let what = format!("{}, {} rows, {groups} groups, {way:?}", d.name, a.rows);
            assert_eq!(got.0, want.0, "{what}");
            assert!(got.1 == want.1, "{what}");
        }
    }
}

/// More groups than cores never meet.
fn who_waits_in_vain_gives_up() {
    for d in devices().filter(|d| d.software && d.units < 64) {
        let config = on(DeviceChoice::Index(d.index));
        let engine = Engine::<f64>::open(&config, Policy::Fixed(1.0)).unwrap();
        let a = laplacian(32);
        let mut solver = Pcg::new(&engine, &a, false).unwrap();
        let solve = |solver: &mut Pcg<f64>| from_zero(&engine, solver, a.rows);
        let want = solve(&mut solver).unwrap();
        let legs = solver.legs.as_mut().unwrap();
        let met = [1, 1 << 12, 1].map(|groups| legs.meet(&engine, groups));
        assert_eq!(met, [true, false, true]);
        let groups = legs.limit(usize::MAX, Some(1 << 12));
        let error = solve(&mut solver).unwrap_err();
        assert!(error.to_string().contains("together = 0"), "{error}");
        assert_eq!(error.exit_code(), 1);
        assert!(solver.legs.as_ref().unwrap().left_clear());
        // Who has heard of it may go on with fewer, or one by one.
        solver.legs.as_mut().unwrap().limit(groups, Some(1 << 30));
        assert_eq!(solve(&mut solver).unwrap(), want);
        let legs = solver.legs.as_mut().unwrap();
        legs.limit(usize::MAX, Some(1 << 12));
        legs.refuse();
        assert_eq!(solve(&mut solver).unwrap(), want);
    }
}

/// An iteration that is measured and turns out to be the last comes after a leg that it cuts short.
fn the_last_one_may_be_measured() {
    for d in devices() {
        let config = on(DeviceChoice::Index(d.index));
        let engine = Engine::<f64>::open(&config, Policy::Fixed(1.0)).unwrap();
        let a = laplacian(12);
        let mut solver = Pcg::new(&engine, &a, false).unwrap();
        let solve = |solver: &mut Pcg<f64>| from_zero(&engine, solver, a.rows);
        let want = solve(&mut solver).unwrap();
        // Calls are measured at multiples of some power of two.
        let turn = 1 << 20;
        for before in 1..4 {
            solver.product.stats.calls = turn + 9;
            solver.step.stats.calls = turn - (want.iterations - before) as u64;
            assert_eq!(solve(&mut solver).unwrap(), want, "{}, {before}", d.name);
        }
    }
}

#[test]
fn a_leg_leaves_the_bits_of_its_iterations() {
    let together = std::env::var_os(TOGETHER).is_some();
    let groups: &[usize] = if together { &[1, 5, usize::MAX] } else { &[] };
    let remembers = Way {
        remembers: true,
        ..PLAIN
    };
    let singular = Way {
        singular: true,
        ..PLAIN
    };
    // Slices of many kinds, and mostly the same ones.
    for a in [laplacian(12), of_box([161, 11, 9], |_| 1.0)] {
        let both = Way {
            remembers: true,
            ..singular
        };
        for way in [PLAIN, remembers, singular, both] {
            same_bits::<f64>(&a, way, groups);
        }
        same_bits::<f32>(&a, PLAIN, groups);
    }
    if together {
        // More blocks than a lane takes at once; and the form for many bytes.
        same_bits::<f64>(&laplacian(103), PLAIN, &[usize::MAX]);
        let a = of_box([161, 21, 19], |_| 1.0);
        same_bits::<f64>(&a, PLAIN, &[1, usize::MAX]);
        same_bits::<f32>(&a, PLAIN, &[usize::MAX]);
        the_last_one_may_be_measured();
        who_waits_in_vain_gives_up();
    }
}

#[test]
fn compilers_that_fail_on_legs_are_not_given_them() {
    let mut pocl = device("cpu", "basic");
    assert!(pocl.compiles_legs());
    pocl.platform = "Portable Computing Language".into();
    for (driver, takes) in [("3.1+debian", true), ("5.0+debian", false), ("", false)] {
        pocl.driver = driver.into();
        assert_eq!(pocl.compiles_legs(), takes, "{driver}");
    }
}

#[test]
fn groups_of_any_device_may_run_together() {
    // PoCL 3.1 mixes up what larger groups add on 32-bit ARM.
    let mixed_up = cfg!(target_arch = "arm");
    if mixed_up || !opencl::devices().is_ok_and(|all| !all.is_empty()) {
        return eprintln!("SKIPPED: no device");
    }
    let all = opencl::devices().unwrap();
    for d in all.iter().filter(|d| !d.compiles_legs()) {
        eprintln!("SKIPPED on {}: {} {}", d.name, d.platform, d.driver);
    }
    // More groups than run at once are found out; of a software device, one does.
    let launch = "vector = 1\nrows = \"vector\"\nadding = 1\nwaits = true\nahead = true\n\
                  together = 3\ntogether_large_mb = 2";
    let own = "linear::pcg::leg::tests::a_leg_leaves_the_bits_of_its_iterations";
    launched(launch, own, TOGETHER);
}
