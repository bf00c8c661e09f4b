//! Whole steps in single precision: bit-identical for every split, on every device, near those in
//! double precision; the pressure to the tolerance, or to round-off in few iterations.

use couloir::flow::operators::Operators;
use couloir::mesh::BoxShape;
use couloir::node::{Config, DeviceChoice};
use couloir::split::{Engine, Policy, Precision};

use crate::mixed::{config, differences, operators, residual, rhs, solve, splits, steps};

fn engine(config: &Config, ratio: f64) -> Engine<f32> {
    Engine::open(config, Policy::Fixed(ratio)).unwrap()
}

fn cpu() -> Engine<f32> {
    engine(&config(DeviceChoice::None, None, 2), 0.0)
}

fn double() -> Engine<f64> {
    let config = config(DeviceChoice::None, None, 2);
    Engine::open(&config, Policy::Fixed(0.0)).unwrap()
}

fn flows() -> [(BoxShape, Operators); 3] {
    [
        (BoxShape::Hexahedra, 9, true),
        (BoxShape::Hexahedra, 9, false),
        (BoxShape::Tetrahedra, 5, false),
    ]
    .map(|(shape, n, singular)| (shape, operators(shape, n, singular)))
}

#[test]
fn steps_follow_double_precision_whatever_the_split() {
    let flows = flows();
    let mut expected = Vec::new();
    for (config, ratio) in splits() {
        let engine = engine(&config, ratio);
        for (i, (shape, ops)) in flows.iter().enumerate() {
            let got = steps(&engine, ops, 5, 5e-6);
            if i == expected.len() {
                expected.push(got.clone());
            }
            assert!(expected[i] == got, "{shape:?}: {config:?}, {ratio} differs");
        }
    }
    for ((shape, ops), got) in flows.iter().zip(&expected) {
        let plain = steps(&double(), ops, 5, 1e-9);
        let all: Vec<f64> = differences(ops, got, &plain).collect();
        eprintln!("{shape:?}: {all:?}");
        for (k, d) in all.into_iter().enumerate() {
            assert!(d < 1e-4, "{shape:?}: field {k} differs by {d:.1e}");
        }
    }
}

#[test]
fn a_solve_ends_at_the_tolerance_or_at_round_off() {
    for (shape, n) in [(BoxShape::Hexahedra, 20), (BoxShape::Tetrahedra, 10)] {
        for singular in [true, false] {
            let a = operators(shape, n, singular).laplacian;
            let b = rhs(a.rows);
            for tolerance in [1e-3f64, 1e-4, 1e-8, 1e-12] {
                let case = format!("{shape:?}, singular {singular}, {tolerance:.0e}");
                let (plain, _) = solve(&double(), &a, singular, &b, tolerance.max(1e-6));
                let (s, x) = solve(&cpu(), &a, singular, &b, tolerance);
                let truth = residual(&a, &b, &x);
                let (p, i) = (plain.iterations, s.iterations);
                eprintln!(
                    "{case}: {i} iterations for {p}, {:.1e}, true {truth:.1e}",
                    s.residual
                );
                assert!(s.converged, "{case}: {s:?}");
                assert!(i as f64 <= 1.3 * p as f64 + 2.0, "{case}: {i} for {p}");
                assert_eq!(s.residual > tolerance, tolerance < 1e-7, "{case}: {s:?}");
                assert!(truth <= (1.01 * tolerance).max(3e-5), "{case}: {truth:.1e}");
            }
        }
    }
}

/// Squares of such numbers are zero, or infinite, in single precision.
#[test]
fn small_and_large_right_hand_sides_are_solved_for() {
    let a = operators(BoxShape::Hexahedra, 8, false).laplacian;
    let b = rhs(a.rows);
    for size in [1e-18, 1e-15, 1e-9, 1e9, 1e15] {
        let b: Vec<f64> = b.iter().map(|b| size * b).collect();
        let (s, x) = solve(&cpu(), &a, false, &b, 1e-4);
        let truth = residual(&a, &b, &x);
        assert!(
            s.converged && truth < 1.05e-4,
            "{size:e}: {s:?}, true {truth:.1e}"
        );
        assert!((s.residual / truth - 1.0).abs() < 0.05, "{size:e}: {s:?}");
    }
    let (s, x) = solve(&cpu(), &a, false, &vec![0.0; a.rows], 1e-4);
    assert!(s.converged && s.iterations == 0 && x.iter().all(|&x| x == 0.0));
}

#[test]
fn the_node_is_shared_by_both_precisions() {
    let here = config(DeviceChoice::Auto, None, 1);
    let engine = Engine::<f64>::open_in(Some(Precision::Fp32), &here, Policy::Fixed(0.5)).unwrap();
    assert_eq!(engine.precision(), Precision::Fp32);
    assert_eq!(engine.precision().name(), "fp32");
    assert!(engine.node.device.is_none(), "fp64 is not for the device");
    let single = engine.single.as_ref().expect("an engine in fp32");
    assert_eq!(
        single.node.device.is_some(),
        engine.device_node().device.is_some()
    );
    assert!(single.node.notes.is_empty(), "{:?}", single.node.notes);
}
