//! Ethier and Steinman's flow: order of accuracy of the whole step.

use std::f64::consts::PI;

use crate::flows::{cube, follow, gmsh, setup};
use couloir::flow::boundary::FaceKind;
use couloir::flow::exact::{Abc, EthierSteinman};
use couloir::flow::operators::Scheme;
use couloir::mesh::periodic::join_periodic;
use couloir::mesh::{BoxShape, Mesh};

/// Orders of velocity and pressure between two meshes of `[-1, 1]^3`.
fn orders(meshes: [Mesh; 2], scheme: Scheme, nu: f64, end: f64) -> [f64; 2] {
    let [coarse, fine] = meshes.map(|mesh| {
        let walls = setup(mesh, scheme, |_| FaceKind::Dirichlet);
        let steps = (end / walls.dt(nu, 1.0, 0.8)).ceil() as usize;
        let errors = follow(&walls, &EthierSteinman, nu, end, steps);
        eprintln!(
            "{scheme:?} nu {nu}: {} cells, {steps} steps: u {:.3e}, p {:.3e}",
            walls.ops.cells, errors[0], errors[1]
        );
        (errors, walls.ops.cells as f64)
    });
    let finer = (fine.1 / coarse.1).cbrt().ln();
    let orders = [0, 1].map(|k| (coarse.0[k] / fine.0[k]).ln() / finer);
    eprintln!("  orders {orders:.2?}");
    orders
}

#[test]
fn second_order_on_hexahedra() {
    let meshes = || [8, 16].map(|n| cube(BoxShape::Hexahedra, n, -1.0, 1.0));
    for nu in [1.0, 0.1] {
        let [u, p] = orders(meshes(), Scheme::SymmetryPreserving, nu, 0.1);
        assert!(u >= 1.8 && p > 0.5, "nu {nu}: u {u}, p {p}");
        let [u, p] = orders(meshes(), Scheme::Consistent, nu, 0.1);
        assert!(u >= 1.8 && p > 1.3, "nu {nu}: u {u}, p {p}");
    }
}

#[test]
fn second_order_on_gmsh_tetrahedra() {
    let meshes = ["cube_tet_8_22", "cube_tet_20_41"].map(|name| {
        let mut mesh = gmsh(name);
        let stretch = |x: &mut f64| *x = 2.0 * *x - 1.0;
        mesh.points.iter_mut().flatten().for_each(stretch);
        mesh
    });
    let [u, p] = orders(meshes, Scheme::Consistent, 0.02, 0.05);
    assert!(u >= 1.9 && p > 1.3, "u {u}, p {p}");
}

#[test]
fn second_order_on_kuhn_tetrahedra_and_prisms() {
    for (shape, n) in [(BoxShape::Tetrahedra, [4, 8]), (BoxShape::Prisms, [6, 12])] {
        for nu in [1.0, 0.1] {
            let meshes = n.map(|n| cube(shape, n, -1.0, 1.0));
            let [u, p] = orders(meshes, Scheme::Consistent, nu, 0.1);
            assert!(u >= 1.9 && p > 1.0, "{shape:?}, nu {nu}: u {u}, p {p}");
        }
    }
}

#[test]
fn second_order_in_a_periodic_box() {
    let abc = Abc {
        a: 1.0,
        b: 0.8,
        c: 0.6,
    };
    for (shape, n, scheme) in [
        (BoxShape::Hexahedra, [8, 16], Scheme::SymmetryPreserving),
        (BoxShape::Hexahedra, [8, 16], Scheme::Consistent),
        (BoxShape::Prisms, [8, 16], Scheme::Consistent),
        (BoxShape::Tetrahedra, [5, 10], Scheme::Consistent),
    ] {
        let errors = n.map(|n| {
            let mut mesh = cube(shape, n, 0.0, 2.0 * PI);
            for (a, b) in [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")] {
                join_periodic(&mut mesh, a, b).unwrap();
            }
            let periodic = setup(mesh, scheme, |_| FaceKind::Slip);
            let steps = (0.5 / periodic.dt(0.1, 1.0, 0.5)).ceil() as usize;
            follow(&periodic, &abc, 0.1, 0.5, steps)
        });
        let [u, p] = [0, 1].map(|k| (errors[0][k] / errors[1][k]).log2());
        eprintln!("{shape:?} {scheme:?}: {errors:.5?}, orders {u:.2}, {p:.2}");
        assert!(u >= 1.8 && p >= 1.4, "{shape:?} {scheme:?}: u {u}, p {p}");
    }
}
