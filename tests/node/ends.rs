//! Solves that end without a solution, and what comes after them.

use couloir::linear::Pcg;
use couloir::node::{Buffer, DeviceChoice, MemoryKind};
use couloir::sparse::Csr;
use couloir::split::Engine;

use crate::linear::{devices_with_fp64, engine, laplacian, norm, right};

/// The same with powers of four on the diagonal, so that nothing is lost between the units of `x` and those
/// that the solver works in: what a solve has left is to the bit what the next one finds.
fn in_exact_units(a: &Csr) -> Csr {
    let d = a.diag();
    let unit = |i: usize| (1 << (i % 3)) as f64;
    let mut entries = Vec::new();
    for i in 0..a.rows {
        for e in a.row_ptr[i]..a.row_ptr[i + 1] {
            let j = a.col[e] as usize;
            let one = if i == j {
                1.0
            } else {
                a.val[e] / (d[i] * d[j]).sqrt()
            };
            entries.push((i as u32, j as u32, one * unit(i) * unit(j)));
        }
    }
    Csr::from_triplets(a.rows, a.cols, &entries)
}

#[test]
fn ends_that_are_no_solution() {
    ends_without_solution(&engine(DeviceChoice::None, None, 1, 0.0));
}

/// Devices look at their iterations now and then.
#[test]
fn ends_that_are_no_solution_on_devices() {
    for device in devices_with_fp64() {
        for memory in [MemoryKind::Svm, MemoryKind::ZeroCopy, MemoryKind::Discrete] {
            if !device.offers(memory) {
                continue;
            }
            let choice = DeviceChoice::Index(device.index);
            ends_without_solution(&engine(choice, Some(memory), 1, 1.0));
        }
    }
}

fn ends_without_solution(engine: &Engine<f64>) {
    let a = in_exact_units(&laplacian([9, 8, 7], 1.0, false));
    let b = right(a.rows, false);
    let mut solver = Pcg::new(engine, &a, false).unwrap();
    let (mut b, mut x) = (
        engine.node.buffer_from(&b).unwrap(),
        engine.node.buffer(a.rows).unwrap(),
    );
    let mut after = |most, x: &mut Buffer<f64>| {
        let s = solver.solve(engine, &mut b, x, 1e-10, 0.0, most);
        let s = s.unwrap();
        assert!(
            !s.converged && s.iterations == most && s.residual > 1e-10,
            "{s:?}"
        );
        s
    };
    for most in [1, 9] {
        after(most, &mut x);
    }
    x.write().unwrap().fill(0.0);
    let few = after(5, &mut x);
    let rest = solver
        .solve(engine, &mut b, &mut x, 1e-10, 0.0, 500)
        .unwrap();
    assert!(
        rest.converged && rest.initial == few.residual,
        "{rest:?}, {few:?}"
    );
    let none = solver
        .solve(engine, &mut b, &mut x, 1e-10, 0.0, 500)
        .unwrap();
    assert!(none.converged && none.iterations == 0, "{none:?}");
    // No need to go on below the round-off in b.
    x.write().unwrap().fill(0.0);
    let floor = norm(b.read().unwrap().iter().copied()) * 1e-3;
    let rough = solver
        .solve(engine, &mut b, &mut x, 1e-10, floor, 500)
        .unwrap();
    assert!(
        rough.converged && rough.iterations < rest.iterations,
        "{rough:?}"
    );
    // Not a number stays one and is told.
    b.write().unwrap()[3] = f64::NAN;
    let broken = solver
        .solve(engine, &mut b, &mut x, 1e-10, 0.0, 500)
        .unwrap();
    assert!(!broken.converged && broken.residual.is_nan(), "{broken:?}");
    // What it leaves is not in the next solve.
    let mut anew = |solver: &mut Pcg<f64>| {
        b.write().unwrap().fill(1.0);
        x.write().unwrap().fill(0.0);
        let s = solver.solve(engine, &mut b, &mut x, 1e-10, 0.0, 500);
        (s.unwrap(), x.read().unwrap().to_vec())
    };
    let next = anew(&mut solver);
    let mut other = Pcg::new(engine, &a, false).unwrap();
    assert!(next.0.converged && next == anew(&mut other), "{:?}", next.0);
    // Nothing to solve.
    b.write().unwrap().fill(0.0);
    x.write().unwrap().fill(0.0);
    let nothing = solver
        .solve(engine, &mut b, &mut x, 1e-10, 0.0, 500)
        .unwrap();
    assert!(nothing.converged && nothing.iterations == 0, "{nothing:?}");
    // A matrix that is not positive has a direction without curvature.
    let wrong = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 1.0)]);
    let mut solver = Pcg::new(engine, &wrong, false).unwrap();
    let mut b = engine.node.buffer_from(&[1.0, -1.0]).unwrap();
    let mut x = engine.node.buffer(2).unwrap();
    let indefinite = solver
        .solve(engine, &mut b, &mut x, 1e-10, 0.0, 500)
        .unwrap();
    assert!(
        !indefinite.converged && indefinite.iterations == 0,
        "{indefinite:?}"
    );
}
