//! Channels with inlet and outlet: the outlet lets the flow out, and keeps it stable.

use crate::flows::{Setup, field, settings, setup};
use couloir::flow::boundary::FaceKind;
use couloir::flow::operators::Scheme;
use couloir::flow::plain::Plain;
use couloir::mesh::{BoxShape, BoxSpec, box_mesh};

/// A channel of height 1: velocity given at the left and at the walls, `outlet` at the right,
/// slip in front and behind.
fn channel(
    shape: BoxShape,
    scheme: Scheme,
    cells: [usize; 3],
    size: [f64; 2],
    outlet: f64,
) -> Setup {
    let spec = BoxSpec {
        shape,
        cells,
        max: [size[0], 1.0, size[1]],
        ..BoxSpec::default()
    };
    setup(box_mesh(&spec).unwrap(), scheme, |patch| match patch {
        "xmin" | "ymin" | "ymax" => FaceKind::Dirichlet,
        "xmax" => FaceKind::Outlet(outlet),
        _ => FaceKind::Slip,
    })
}

/// Flow through the outlet: net, and what of it comes back.
fn through(setup: &Setup, plain: &Plain) -> [f64; 2] {
    let boundary = &setup.ops.boundary;
    let outlet = |b: &usize| matches!(boundary.kind[*b], FaceKind::Outlet(_));
    let flux = |b: usize| plain.state.phi[setup.ops.interior_faces + b];
    let faces = || (0..boundary.len()).filter(outlet).map(flux);
    [faces().sum(), faces().map(|phi| phi.min(0.0)).sum()]
}

/// Runs to `end` with the largest stable steps, from and with the inflow `inlet(y)`.
fn run<'a>(
    setup: &'a Setup,
    nu: f64,
    end: f64,
    inlet: impl Fn(f64) -> f64,
    mut each: impl FnMut(&Plain),
) -> Plain<'a> {
    let given = field(setup.boundary(), |x| match x[0] < 1e-9 {
        true => [inlet(x[1]), 0.0, 0.0],
        false => [0.0; 3],
    });
    let start = field(&setup.geometry.centre, |x| [inlet(x[1]), 0.0, 0.0]);
    let rate = setup.ops.viscous_rate.iter().fold(0.0f64, |m, r| m.max(*r));
    let mut plain = Plain::new(&setup.ops, settings(nu, 1e-7), start, &given, 1e-3).unwrap();
    let mut t = 0.0;
    while t < end {
        let dt = (0.8 / (nu * rate)).min(0.7 / plain.courant_max(1.0));
        plain.step(dt, &given).unwrap();
        t += dt;
        each(&plain);
    }
    plain
}

#[test]
fn uniform_inflow_becomes_poiseuille_flow() {
    let nu = 0.05;
    for (shape, scheme, cells, depth, tolerance) in [
        (
            BoxShape::Hexahedra,
            Scheme::SymmetryPreserving,
            [40, 16, 1],
            0.1,
            0.01,
        ),
        (
            BoxShape::Hexahedra,
            Scheme::Consistent,
            [40, 16, 1],
            0.1,
            0.01,
        ),
        (BoxShape::Prisms, Scheme::Consistent, [30, 12, 1], 0.1, 0.02),
        (
            BoxShape::Tetrahedra,
            Scheme::Consistent,
            [24, 8, 2],
            0.25,
            0.03,
        ),
    ] {
        let duct = channel(shape, scheme, cells, [4.0, depth], 0.0);
        let plain = run(&duct, nu, 5.0, |_| 1.0, |_| {});
        let (u, p) = (&plain.state.u[0], &plain.state.p);
        let mut worst = 0.0f64;
        let (mut n, mut sum_x, mut sum_p, mut xx, mut xp) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (i, &[x, y, _]) in duct.geometry.centre.iter().enumerate() {
            if x > 2.0 && x < 3.5 {
                worst = worst.max((u[i] - 6.0 * y * (1.0 - y)).abs());
                (n, sum_x, sum_p) = (n + 1.0, sum_x + x, sum_p + p[i]);
                (xx, xp) = (xx + x * x, xp + x * p[i]);
            }
        }
        let slope = (n * xp - sum_x * sum_p) / (n * xx - sum_x * sum_x);
        let [net, back] = through(&duct, &plain);
        eprintln!(
            "{shape:?} {scheme:?}: u {worst:.4}, dp/dx {slope:.4} of {:.4}",
            -12.0 * nu
        );
        assert!(
            worst < tolerance,
            "{shape:?} {scheme:?}: {worst} from Poiseuille"
        );
        assert!(
            (slope / (-12.0 * nu) - 1.0).abs() < 0.02,
            "{shape:?}: dp/dx {slope}"
        );
        assert!(
            (net / depth - 1.0).abs() < 1e-5 && back == 0.0,
            "{net}, {back}"
        );
    }
}

#[test]
fn the_outlets_pressure_shifts_the_pressure_alone() {
    for (shape, scheme) in [
        (BoxShape::Hexahedra, Scheme::SymmetryPreserving),
        (BoxShape::Prisms, Scheme::Consistent),
        (BoxShape::Tetrahedra, Scheme::Consistent),
    ] {
        let fields = [0.0, 3.0].map(|outlet| {
            let duct = channel(shape, scheme, [8, 4, 2], [2.0, 0.5], outlet);
            run(&duct, 0.02, 0.3, |y| 1.0 + y, |_| {}).state
        });
        for i in 0..fields[0].p.len() {
            for k in 0..3 {
                let difference = fields[1].u[k][i] - fields[0].u[k][i];
                assert!(difference.abs() < 1e-5, "{shape:?}: u {difference}");
            }
            let difference = fields[1].p[i] - fields[0].p[i] - 3.0;
            assert!(difference.abs() < 1e-4, "{shape:?}: p {difference}");
        }
    }
}

#[test]
fn flow_that_comes_back_through_the_outlet_does_no_harm() {
    // A jet along the upper half; its recirculation is longer than the channel.
    for (shape, scheme, cells, depth) in [
        (
            BoxShape::Hexahedra,
            Scheme::SymmetryPreserving,
            [32, 24, 1],
            0.1,
        ),
        (BoxShape::Prisms, Scheme::Consistent, [20, 16, 1], 0.1),
        (BoxShape::Tetrahedra, Scheme::Consistent, [16, 8, 2], 0.25),
    ] {
        let duct = channel(shape, scheme, cells, [2.0, depth], 0.0);
        let jet = |y: f64| f64::from(u8::from(y > 0.5));
        let (mut most, mut back) = (0.0f64, 0.0f64);
        let plain = run(&duct, 1e-3, 10.0, jet, |plain| {
            most = most.max(plain.kinetic_energy() / depth);
            back = back.min(through(&duct, plain)[1] / depth);
        });
        eprintln!("{shape:?}: K at most {most:.4}, back flow {back:.4}");
        assert!(
            back < -1e-3,
            "{shape:?}: nothing came back, the test tests nothing"
        );
        assert!(most < 0.55, "{shape:?}: K up to {most}");
        let [net, _] = through(&duct, &plain);
        assert!((net / depth - 0.5).abs() < 1e-5, "{shape:?}: {net}");
    }
}
