//! Who watches, and goes on after steps that did nothing, gets the bits of who waits.

use crate::linear::{Pcg, Solution};
use crate::node::tuning::tests::launched;
use crate::node::{Config, DeviceChoice, MemoryKind, opencl};
use crate::sparse::Csr;
use crate::split::{Engine, Policy};

/// Set in the process whose devices are watched beside their kernels.
const BESIDE: &str = "COULOIR_TEST_BESIDE";

/// Of a series of solves, the last of which begins at its solution.
const TOLERANCES: [f64; 7] = [1e-3, 1e-10, 1e-6, 1e-12, 1e-8, 1e-8, 1e-2];

/// Seven points in a box of k^3, and something on the diagonal; in units that differ by rows, so that
/// the residual falls in other ways than that of the scaled system.
pub(in crate::linear::pcg) fn laplacian(k: usize) -> Csr {
    of_box([k; 3], |i| if i % k < k / 2 { 1.0 } else { 1.5 })
}

/// The same in any box and units.
pub(in crate::linear::pcg) fn of_box(k: [usize; 3], unit: impl Fn(usize) -> f64 + Sync) -> Csr {
    let [x, y, z] = k;
    let n = x * y * z;
    let row = |i: usize, row: &mut Vec<(u32, f64)>| {
        let axes = [(1, i % x, x), (x, i / x % y, y), (x * y, i / (x * y), z)];
        for (stride, at, k) in axes {
            let beside = [
                (at > 0).then(|| i - stride),
                (at + 1 < k).then(|| i + stride),
            ];
            let beside = beside.into_iter().flatten();
            row.extend(beside.map(|j| (j as u32, -unit(i) * unit(j))));
        }
        row.push((i as u32, 6.01 * unit(i).powi(2)));
        row.sort_unstable_by_key(|e| e.0);
    };
    Csr::from_rows(n, n, row)
}

/// Solves, one after the other, and all that they leave; and how often the residual was asked for.
fn solves(config: &Config, patience: Option<usize>) -> (Vec<Solution>, Vec<u64>, u64) {
    let engine = Engine::<f64>::open(config, Policy::Fixed(1.0)).unwrap();
    let a = laplacian(12);
    let mut solver = Pcg::new(&engine, &a, false).unwrap();
    if let (Some(patience), Some(watch)) = (patience, &mut solver.watch) {
        assert!(!watch.is_beside(), "they are few rows");
        let device = engine.node.device.as_ref().unwrap();
        *watch = super::Watch::new(&engine, device, super::ROWS).unwrap();
        assert!(watch.is_beside());
        watch.patience = patience;
    }
    solver.remember(&engine).unwrap();
    let mut x = engine.node.buffer(a.rows).unwrap();
    let (mut all, mut bits) = (Vec::new(), Vec::new());
    for (k, tolerance) in TOLERANCES.into_iter().enumerate() {
        let time = 0.1 * k.min(5) as f64;
        let value = |i: usize| (1.7 * i as f64 + time).sin() + time;
        let b: Vec<f64> = (0..a.rows).map(value).collect();
        let mut b = engine.node.buffer_from(&b).unwrap();
        let s = solver.solve(&engine, &mut b, &mut x, tolerance, 0.0, 500);
        all.push(s.unwrap());
        bits.extend(x.read().unwrap().iter().map(|x| x.to_bits()));
    }
    let sites = solver.sites();
    let residual = sites.iter().find(|s| s.label == "poisson check");
    (all, bits, residual.unwrap().stats.calls)
}

#[test]
fn whatever_is_seen_no_more_was_done_than_was_started() {
    let started = super::Started {
        rr: 1.0,
        before: 20.0,
        count: 7,
    };
    let seen = [20.0, 25.0, 27.0, 28.0, 3.0, -1e300, 1e300];
    let none = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    assert_eq!(seen.map(|n| started.done(n)), [0, 5, 7, 7, 0, 0, 7]);
    assert_eq!(none.map(|n| started.done(n)), [7, 0, 0]);
}

#[test]
fn a_device_is_waited_for_while_it_gets_on() {
    let looks = |patience: usize, seen: &[Option<usize>]| {
        let mut waiting = super::Waiting::new(patience);
        let gives_up = seen.iter().position(|&done| !waiting.goes_on(done));
        gives_up.map(|n| n + 1)
    };
    let slow: Vec<Option<usize>> = (0..100).map(|n| Some(n / 3)).collect();
    assert_eq!(looks(4, &slow), None);
    assert_eq!(looks(3, &slow), Some(3), "nothing is done at first");
    let stands: Vec<Option<usize>> = (0..100).map(|n| Some(n.min(5))).collect();
    assert_eq!(looks(3, &stands), Some(9));
    assert_eq!(looks(3, &[None; 9]), Some(3));
    // Any number, as it is a hint: less than before is not getting on.
    let back = [7, 1, 2, 3, 4].map(Some);
    assert_eq!(looks(3, &back), Some(4));
}

#[test]
fn who_watches_gets_the_same_bits_as_who_waits() {
    let on = |device, memory| Config {
        device,
        threads: Some(1),
        memory,
        ..Config::default()
    };
    let (want, bits, looks) = solves(&on(DeviceChoice::None, None), None);
    assert!(
        want.iter().all(|s| s.converged) && want[1].iterations > 9 && want[6].iterations == 0,
        "{want:?}"
    );
    let beside = std::env::var_os(BESIDE).is_some();
    let devices = opencl::devices().unwrap_or_default();
    let discrete = |d: &&opencl::DeviceInfo| d.fp64 && d.offers(MemoryKind::Discrete);
    for d in devices.iter().filter(discrete) {
        let config = on(DeviceChoice::Index(d.index), Some(MemoryKind::Discrete));
        // Not watched, for they are few; alarmed at each iteration, at those behind which the device
        // is far, or at the end alone.
        let all = [None, Some(0), Some(1), Some(super::PATIENCE)];
        for patience in all.into_iter().take(if beside { 4 } else { 1 }) {
            let (got, got_bits, asked) = solves(&config, patience);
            let same = got == want && got_bits == bits;
            assert!(same, "{}, {patience:?}: {got:?}, {want:?}", d.name);
            // Each alarm computes the residual.
            if patience == Some(0) {
                assert!(asked > 2 * looks, "{}: {asked} for {looks}", d.name);
            }
        }
    }
}

/// The first look is late; and the residual is not yet small enough where that of the scaled system is.
#[test]
fn who_goes_on_after_steps_that_did_nothing_gets_the_same_bits() {
    let all = |device, memory| {
        let config = Config {
            device,
            threads: Some(1),
            memory,
            ..Config::default()
        };
        let engine = Engine::<f64>::open(&config, Policy::Fixed(1.0)).unwrap();
        let a = laplacian(12);
        let solve = |k: i32| {
            // In rows of one unit, at first.
            let value = |i: usize| f64::from(i % 12 < 6) * (1.7 * i as f64).sin();
            let b: Vec<f64> = (0..a.rows).map(value).collect();
            let mut b = engine.node.buffer_from(&b).unwrap();
            let mut x = engine.node.buffer(a.rows).unwrap();
            let mut solver = Pcg::new(&engine, &a, false).unwrap();
            solver.pace = super::Pace::long();
            let s = solver.solve(&engine, &mut b, &mut x, 0.95f64.powi(k), 0.0, 500);
            let bits: Vec<u64> = x.read().unwrap().iter().map(|x| x.to_bits()).collect();
            (s.unwrap(), bits)
        };
        (40..300).map(solve).collect::<Vec<_>>()
    };
    let want = all(DeviceChoice::None, None);
    let devices = opencl::devices().unwrap_or_default();
    let discrete = |d: &&opencl::DeviceInfo| d.fp64 && d.offers(MemoryKind::Discrete);
    for d in devices.iter().filter(discrete) {
        let got = all(DeviceChoice::Index(d.index), Some(MemoryKind::Discrete));
        assert!(got == want, "{}", d.name);
    }
}

#[test]
fn any_device_may_be_watched_beside_its_kernels() {
    if !opencl::devices().is_ok_and(|all| !all.is_empty()) {
        return eprintln!("SKIPPED: no device");
    }
    let own = "linear::pcg::watch::tests::who_watches_gets_the_same_bits_as_who_waits";
    for more in ["", "waits = true\n"] {
        launched(
            &format!("vector = 8\nrows = \"block\"\n{more}beside = true"),
            own,
            BESIDE,
        );
    }
}
