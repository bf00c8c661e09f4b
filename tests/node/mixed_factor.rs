//! Mixed precision behind a factor: nearly the iterations of double precision, for directions are
//! kept from one refinement to the next there, too, and the same bits for every split.

use couloir::linear::{Preconditioner, Solution, Solver};
use couloir::mesh::BoxShape;
use couloir::node::DeviceChoice;
use couloir::sparse::Csr;
use couloir::split::{Engine, Policy, Precision};

use crate::mixed::{config, operators, residual, rhs, splits};

fn cpu(precision: Precision) -> Engine<f64> {
    let config = config(DeviceChoice::None, None, 2);
    Engine::open_in(Some(precision), &config, Policy::Fixed(0.0)).unwrap()
}

fn solve(engine: &Engine<f64>, a: &Csr, singular: bool, tolerance: f64) -> (Solution, Vec<f64>) {
    let mut solver = Solver::with(engine, a, singular, Preconditioner::Fsai).unwrap();
    let mut b = engine.node.buffer_from(&rhs(a.rows)).unwrap();
    let mut x = engine.node.buffer(a.rows).unwrap();
    let s = solver.solve(engine, &mut b, &mut x, tolerance, 0.0, 3000);
    (s.unwrap(), x.read().unwrap().to_vec())
}

#[test]
fn directions_outlive_refinements() {
    for (shape, n) in [(BoxShape::Hexahedra, 24), (BoxShape::Tetrahedra, 12)] {
        for singular in [true, false] {
            let a = operators(shape, n, singular).laplacian;
            for tolerance in [1e-4, 1e-8] {
                let (plain, _) = solve(&cpu(Precision::Fp64), &a, singular, tolerance);
                let (mixed, x) = solve(&cpu(Precision::Mixed), &a, singular, tolerance);
                let truth = residual(&a, &rhs(a.rows), &x);
                let (p, m) = (plain.iterations, mixed.iterations);
                let case = format!("{shape:?}, singular {singular}, {tolerance:.0e}: {m} for {p}");
                eprintln!("{case}");
                assert!(plain.converged && mixed.converged, "{case}");
                assert!(truth <= 1.01 * tolerance, "{case}: {truth:.2e}");
                assert!(m as f64 <= 1.15 * p as f64 + 1.0, "{case}");
            }
        }
    }
}

#[test]
fn solutions_do_not_depend_on_the_split() {
    let shapes = [BoxShape::Hexahedra, BoxShape::Tetrahedra];
    let both = shapes
        .into_iter()
        .flat_map(|shape| [(shape, true), (shape, false)]);
    let systems: Vec<_> = both
        .map(|(shape, singular)| (operators(shape, 8, singular).laplacian, singular))
        .collect();
    let mut expected = vec![None; systems.len()];
    for (config, ratio) in splits() {
        let mixed = Some(Precision::Mixed);
        let engine = Engine::open_in(mixed, &config, Policy::Fixed(ratio)).unwrap();
        for ((a, singular), expected) in systems.iter().zip(&mut expected) {
            let got = solve(&engine, a, *singular, 1e-9);
            assert!(got.0.converged);
            let expected = expected.get_or_insert_with(|| got.clone());
            assert!(*expected == got, "{config:?}, {ratio}: {:?}", got.0);
        }
    }
}

#[test]
fn small_numbers_begin_anew_in_a_unit_of_their_own() {
    // Far below what squares in single precision hold, late inner solves are in other units.
    let a = operators(BoxShape::Hexahedra, 10, false).laplacian;
    let (s, x) = solve(&cpu(Precision::Mixed), &a, false, 1e-13);
    assert!(s.converged, "{s:?}");
    assert!(residual(&a, &rhs(a.rows), &x) <= 1.1e-13);
}
