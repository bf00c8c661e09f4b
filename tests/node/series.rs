//! Solves that begin along the steps of those before: fewer iterations, the same solutions, the same
//! bits for every split, and no harm where the memory tells nothing.

use couloir::linear::{Bounds, Preconditioner, Solver};
use couloir::node::{Buffer, DeviceChoice, MemoryKind};
use couloir::sparse::Csr;
use couloir::split::{Engine, Precision};

use crate::linear::{devices_with_fp64, laplacian, right};
use crate::mixed::{config, engine, residual};

const TOLERANCE: f64 = 1e-8;

fn cpu(precision: Precision, threads: usize) -> Engine<f64> {
    engine(precision, &config(DeviceChoice::None, None, threads), 0.0)
}

/// Right-hand sides that change smoothly, but for one.
fn sides(n: usize) -> Vec<Vec<f64>> {
    let (first, other) = (right(n, true), {
        let mut b = right(n, true);
        b.reverse();
        b
    });
    let at = |t: f64| {
        let both = first.iter().zip(&other);
        both.map(|(a, b)| a + (0.3 * t).sin() * b).collect()
    };
    let mut all: Vec<Vec<f64>> = (0..9).map(|t| at(f64::from(t))).collect();
    all.push(other.clone());
    all.extend((9..12).map(|t| at(f64::from(t))));
    all
}

/// Iterations and solution of each of a series, from the solution before.
fn series(
    engine: &Engine<f64>,
    a: &Csr,
    singular: bool,
    preconditioner: Preconditioner,
    remembers: bool,
) -> Vec<(usize, Vec<f64>)> {
    let mut solver = Solver::with(engine, a, singular, preconditioner).unwrap();
    if remembers {
        solver.remember(engine).unwrap();
    }
    let mut x = engine.node.buffer(a.rows).unwrap();
    let solve = |b: &Vec<f64>| {
        let mut rhs = engine.node.buffer_from(b).unwrap();
        let s = solver.solve(engine, &mut rhs, &mut x, TOLERANCE, 0.0, 3000);
        let (s, x) = (s.unwrap(), x.read().unwrap().to_vec());
        let left = residual(a, b, &x);
        assert!(s.converged && left <= 1.01 * TOLERANCE, "{left:e}: {s:?}");
        assert!(
            (s.residual - left).abs() <= 1e-2 * TOLERANCE,
            "{left:e}: {s:?}"
        );
        (s.iterations, x)
    };
    sides(a.rows).iter().map(solve).collect()
}

fn iterations(all: &[(usize, Vec<f64>)]) -> usize {
    all.iter().map(|(n, _)| n).sum()
}

#[test]
fn what_changes_smoothly_takes_fewer_iterations() {
    for singular in [true, false] {
        let a = laplacian([23, 17, 9], 2.0, singular);
        for precision in [Precision::Fp64, Precision::Mixed] {
            let engine = cpu(precision, 1);
            for p in [Preconditioner::Jacobi, Preconditioner::Fsai] {
                let all = series(&engine, &a, singular, p, true);
                let plain = series(&engine, &a, singular, p, false);
                let what = format!("{precision:?} {p:?} {singular}");
                // The first begins as ever, and so it goes.
                assert!(all[0] == plain[0], "{what}");
                // Once three steps are known.
                let (less, more) = (iterations(&all[4..9]), iterations(&plain[4..9]));
                println!("{what}: {more} iterations of five solves, {less} with a memory");
                assert!(5 * less < 4 * more, "{what}: {less} of {more}");
                // A side of another kind, and the way back, are at most as far as they were.
                let (less, more) = (iterations(&all[9..]), iterations(&plain[9..]));
                assert!(less <= more + more / 20, "{what}: {less} of {more}");
            }
        }
    }
}

#[test]
fn a_memory_does_not_depend_on_the_split() {
    let a = laplacian([23, 17, 9], 2.0, true);
    for precision in [Precision::Fp64, Precision::Mixed] {
        for p in [Preconditioner::Jacobi, Preconditioner::Fsai] {
            let run = |engine: &Engine<f64>| series(engine, &a, true, p, true);
            let expected = run(&cpu(precision, 1));
            assert!(run(&cpu(precision, 2)) == expected, "{precision:?} {p:?}");
            for d in devices_with_fp64() {
                for (memory, ratio) in [
                    (MemoryKind::Svm, 0.4),
                    (MemoryKind::ZeroCopy, 1.0),
                    (MemoryKind::Discrete, 0.4),
                    (MemoryKind::Discrete, 1.0),
                ] {
                    if d.offers(memory) {
                        let config = config(DeviceChoice::Index(d.index), Some(memory), 1);
                        let engine = engine(precision, &config, ratio);
                        let same = run(&engine) == expected;
                        assert!(same, "{}, {memory:?}, {ratio}, {precision:?} {p:?}", d.name);
                    }
                }
            }
        }
    }
}

/// A beginning that is no solution of the series, a right-hand side that is solved already, and one
/// that is not a number.
#[test]
fn a_memory_does_no_harm() {
    let a = laplacian([13, 11, 7], 2.0, true);
    for precision in [Precision::Fp64, Precision::Mixed] {
        let engine = cpu(precision, 1);
        let mut solver = Solver::new(&engine, &a, true).unwrap();
        solver.remember(&engine).unwrap();
        let mut solve = |b: &[f64], x: &[f64]| {
            let mut rhs = engine.node.buffer_from(b).unwrap();
            let mut start = engine.node.buffer_from(x).unwrap();
            let s = solver.solve(&engine, &mut rhs, &mut start, TOLERANCE, 0.0, 3000);
            (s.unwrap(), start.read().unwrap().to_vec())
        };
        let all = sides(a.rows);
        let mut x = vec![0.0; a.rows];
        for b in &all[..5] {
            x = solve(b, &x).1;
        }
        let far: Vec<f64> = right(a.rows, true).iter().map(|v| 1e3 * v).collect();
        for start in [vec![0.0; a.rows], far] {
            let (s, x) = solve(&all[5], &start);
            assert!(
                s.converged && residual(&a, &all[5], &x) <= 1.01 * TOLERANCE,
                "{s:?}"
            );
        }
        let (_, x) = solve(&all[6], &x);
        let (s, again) = solve(&all[6], &x);
        assert_eq!(s.iterations, 0);
        let moved = residual(&a, &all[6], &again);
        assert!(moved <= 1.01 * TOLERANCE, "{moved:e}");
        let mut bad = all[7].clone();
        bad[5] = f64::NAN;
        let (s, _) = solve(&bad, &x);
        assert!(!s.converged && s.residual.is_nan(), "{s:?}");
        for b in &all[7..] {
            let (s, x) = solve(b, &x);
            assert!(
                s.converged && residual(&a, b, &x) <= 1.01 * TOLERANCE,
                "{s:?}"
            );
        }
    }
}

/// Where the device tells whether it has the solution while it goes on, what follows begins from that
/// very one; elsewhere nothing is begun.
#[test]
fn what_follows_begins_from_the_solution() {
    let a = laplacian([23, 17, 9], 2.0, false);
    for d in devices_with_fp64() {
        for (ratio, p) in [
            (1.0, Preconditioner::Jacobi),
            (1.0, Preconditioner::Fsai),
            (0.4, Preconditioner::Jacobi),
        ] {
            let config = config(DeviceChoice::Index(d.index), Some(MemoryKind::Discrete), 1);
            let engine = engine(Precision::Fp64, &config, ratio);
            let mut solver = Solver::with(&engine, &a, false, p).unwrap();
            let mut x = engine.node.buffer(a.rows).unwrap();
            let mut times = 0;
            for b in sides(a.rows) {
                let mut rhs = engine.node.buffer_from(&b).unwrap();
                let mut from = None;
                let mut follow = |x: &Buffer<f64>| {
                    from = Some(x.read()?.to_vec());
                    Ok(())
                };
                let bounds = Bounds {
                    tolerance: TOLERANCE,
                    floor: 0.0,
                    max_iterations: 3000,
                };
                let solved =
                    solver.solve_then(&engine, &mut rhs, &mut x, bounds, Some(&mut follow));
                let (s, followed) = solved.unwrap();
                assert!(s.converged && (ratio == 1.0 || from.is_none()));
                if followed {
                    assert_eq!(from.as_deref(), Some(x.read().unwrap()), "{p:?}");
                    times += 1;
                }
            }
            println!(
                "{}, {ratio}, {p:?}: {times} solves are followed at once",
                d.name
            );
            assert_eq!(times > 0, ratio == 1.0, "{}, {ratio}, {p:?}", d.name);
        }
    }
}
