//! Iterates of conjugate gradients, of which every second step leaves its part of `y` to the next.

use couloir::linear::Pcg;
use couloir::node::DeviceChoice;
use couloir::sparse::Csr;
use couloir::split::Engine;

use crate::linear::{devices_with_fp64, engine, laplacian, norm, right};

/// The plain loop (Hestenes and Stiefel 1952, with Jacobi's preconditioner); `x`, and the least
/// ratio of two residuals.
fn plain(a: &Csr, b: &[f64], iterations: usize) -> (Vec<f64>, f64) {
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    let d = a.diag();
    let scaled = |r: &[f64]| -> Vec<f64> { r.iter().zip(&d).map(|(r, d)| r / d).collect() };
    let (mut x, mut r) = (vec![0.0; b.len()], b.to_vec());
    let mut p = scaled(&r);
    let (mut rz, mut least) = (dot(&r, &p), f64::INFINITY);
    for _ in 0..iterations {
        let q = a.apply(&p);
        let alpha = rz / dot(&p, &q);
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += alpha * p);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        let z = scaled(&r);
        let beta = dot(&r, &z) / rz;
        (rz, least) = (rz * beta, least.min(beta));
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
    }
    (x, least)
}

fn after_any_number(engine: &Engine<f64>) {
    let a = laplacian([13, 11, 9], 1.0, false);
    let b = right(a.rows, false);
    for iterations in 1..=8 {
        let mut solver = Pcg::new(engine, &a, false).unwrap();
        let mut x = engine.node.buffer(a.rows).unwrap();
        let mut right = engine.node.buffer_from(&b).unwrap();
        let s = solver.solve(engine, &mut right, &mut x, 1e-14, 0.0, iterations);
        assert_eq!(s.unwrap().iterations, iterations);
        let (expected, beta) = plain(&a, &b, iterations);
        let got = x.read().unwrap();
        let distance = norm(got.iter().zip(&expected).map(|(x, y)| x - y));
        let relative = distance / norm(expected.iter().copied());
        assert!(relative < 1e-13, "{iterations}: {relative:e}");

        // Of two steps one moves neither y nor y's update; a last one on its own does.
        assert!(beta > 0.1, "{beta}");
        let sites = solver.sites();
        let step = sites.iter().find(|s| s.label == "poisson step").unwrap();
        let vectors = 7 * iterations - 2 * (iterations / 2);
        assert_eq!(step.stats.bytes(), (8 * vectors * a.rows) as f64);
    }
}

#[test]
fn x_after_any_number_of_iterations_is_that_of_the_plain_loop() {
    after_any_number(&engine(DeviceChoice::None, None, 2, 0.0));
    for device in devices_with_fp64() {
        for ratio in [0.5, 1.0] {
            let choice = DeviceChoice::Index(device.index);
            after_any_number(&engine(choice, None, 1, ratio));
        }
    }
}
