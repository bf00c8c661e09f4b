//! Iterates of conjugate gradients, of which every second step leaves its part of `y` to the next.

use couloir::flow::plain::solve;
use couloir::linear::Pcg;
use couloir::node::DeviceChoice;
use couloir::split::Engine;

use crate::linear::{devices_with_fp64, engine, laplacian, norm, right};

fn after_any_number(engine: &Engine<f64>) {
    let a = laplacian([13, 11, 9], 1.0, false);
    let b = right(a.rows, false);
    for iterations in 1..=8 {
        let mut solver = Pcg::new(engine, &a, false).unwrap();
        let mut x = engine.node.buffer(a.rows).unwrap();
        let mut right = engine.node.buffer_from(&b).unwrap();
        let s = solver.solve(engine, &mut right, &mut x, 1e-14, 0.0, iterations);
        assert_eq!(s.unwrap().iterations, iterations);
        // It is an error not to have converged, and x is there.
        let mut expected = vec![0.0; a.rows];
        solve(&a, &b, &mut expected, false, 1e-14, iterations).unwrap_err();
        let got = x.read().unwrap();
        let distance = norm(got.iter().zip(&expected).map(|(x, y)| x - y));
        let relative = distance / norm(expected.iter().copied());
        assert!(relative < 1e-13, "{iterations}: {relative:e}");

        // Of two steps one leaves y alone; a last one on its own does not.
        let sites = solver.sites();
        let step = sites.iter().find(|s| s.label == "poisson step").unwrap();
        let vectors = 6 * iterations - 2 * (iterations / 2);
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
