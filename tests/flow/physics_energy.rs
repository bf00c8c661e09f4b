//! Kinetic energy: kept without viscosity, lost at the right rate with it.

use std::f64::consts::PI;

use crate::flows::{cube, energies, gmsh, setup};
use couloir::flow::boundary::FaceKind;
use couloir::flow::exact::{Abc, Flow, TaylorGreen2d, taylor_green_3d};
use couloir::flow::operators::Scheme;
use couloir::mesh::periodic::join_periodic;
use couloir::mesh::{BoxShape, BoxSpec, Mesh, box_mesh};

/// The Taylor-Green vortex that fills the unit cube, which has slip walls.
fn vortex(x: [f64; 3]) -> [f64; 3] {
    taylor_green_3d(x.map(|x| PI * x))
}

/// `|K/K_0 - 1|` at t = 1 on 12^3 hexahedra for dt = 0.02, 0.01, 0.005.
fn lost(mesh: Mesh, start: impl Fn([f64; 3]) -> [f64; 3]) -> [f64; 3] {
    let closed = setup(mesh, Scheme::SymmetryPreserving, |_| FaceKind::Slip);
    let lost = [0.02, 0.01, 0.005].map(|dt: f64| {
        let steps = (1.0 / dt).round() as usize;
        (energies(&closed, 0.0, dt, steps, &start)[steps - 1] - 1.0).abs()
    });
    eprintln!("{lost:?}");
    assert!(lost[0] < 2e-4, "{lost:?}");
    lost
}

#[test]
fn inviscid_energy_on_hexahedra_falls_at_second_order() {
    let hexahedra = |side| cube(BoxShape::Hexahedra, 12, 0.0, side);
    lost(hexahedra(1.0), vortex);
    let whole = lost(hexahedra(2.0 * PI), taylor_green_3d);
    let mut periodic = hexahedra(2.0 * PI);
    for (a, b) in [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")] {
        join_periodic(&mut periodic, a, b).unwrap();
    }
    let abc = Abc {
        a: 1.0,
        b: 0.7,
        c: 0.4,
    };
    let mixed = |x: [f64; 3]| {
        let (u, v) = (abc.velocity(x, 0.0, 0.0), taylor_green_3d(x));
        [0.3 + u[0] + v[0], u[1] + v[1], u[2] + v[2]]
    };
    for [a, b, c] in [whole, lost(periodic, mixed)] {
        assert!(b < a / 3.5 && c < b / 3.5, "{a:e} {b:e} {c:e}");
    }
}

#[test]
fn inviscid_energy_never_grows_on_any_mesh() {
    let mut hybrid = gmsh("hybrid_6_41");
    hybrid.points.iter_mut().for_each(|x| x[2] /= 1.25);
    let meshes: [(&str, Mesh); 5] = [
        ("Gmsh tetrahedra", gmsh("cube_tet_8_22")),
        ("Kuhn tetrahedra", cube(BoxShape::Tetrahedra, 8, 0.0, 1.0)),
        ("prisms", cube(BoxShape::Prisms, 8, 0.0, 1.0)),
        ("hexahedra", cube(BoxShape::Hexahedra, 8, 0.0, 1.0)),
        ("hybrid", hybrid),
    ];
    for (name, mesh) in meshes {
        let slip = setup(mesh, Scheme::Consistent, |_| FaceKind::Slip);
        for (dt, steps) in [(0.01, 100), (0.005, 200)] {
            let k = energies(&slip, 0.0, dt, steps, vortex);
            let largest = k.iter().fold(0.0f64, |m, k| m.max(*k));
            eprintln!("{name}: K/K0 = {:.4}, at most {largest:.6}", k[steps - 1]);
            assert!(largest <= 1.001, "{name}, dt = {dt}: {largest}");
            assert!(k[steps - 1] > 0.9, "{name}, dt = {dt}: {}", k[steps - 1]);
        }
    }
}

#[test]
fn taylor_green_decays_at_the_exact_rate() {
    let nu = 0.1;
    for (shape, scheme, end) in [
        (BoxShape::Hexahedra, Scheme::SymmetryPreserving, 1.0),
        (BoxShape::Prisms, Scheme::Consistent, 0.5),
    ] {
        let spec = BoxSpec {
            shape,
            cells: [64, 64, 1],
            max: [2.0 * PI, 2.0 * PI, PI / 32.0],
            ..BoxSpec::default()
        };
        let mut mesh = box_mesh(&spec).unwrap();
        join_periodic(&mut mesh, "xmin", "xmax").unwrap();
        join_periodic(&mut mesh, "ymin", "ymax").unwrap();
        let box_of = setup(mesh, scheme, |_| FaceKind::Slip);
        let steps = (end / box_of.dt(nu, 0.5, 0.9)).ceil() as usize;
        let k = energies(&box_of, nu, end / steps as f64, steps, |x| {
            TaylorGreen2d.velocity(x, 0.0, nu)
        });
        let rate = -k[steps - 1].ln() / end / (4.0 * nu);
        eprintln!("{shape:?}: {rate:.5} of the exact rate, {steps} steps");
        assert!(
            (rate - 1.0).abs() < 5e-3,
            "{shape:?}: {rate} of the exact rate"
        );
    }
}
