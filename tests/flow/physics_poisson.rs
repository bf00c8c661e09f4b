//! The pressure equation against exact solutions: order of accuracy.

use std::f64::consts::PI;

use crate::flows::{Setup, cube, gmsh, setup};
use couloir::flow::boundary::FaceKind;
use couloir::flow::exact::{poisson_dirichlet, poisson_neumann};
use couloir::flow::operators::Scheme;
use couloir::flow::plain::solve;
use couloir::mesh::{BoxShape, Mesh};

/// Most sweeps of the deferred non-orthogonal correction.
const SWEEPS: usize = 8;

/// Relative L2 error of `lap p = -3 pi^2 p` for a product of cosines (no normal derivative on
/// the sides) or of sines (zero on the sides), and the number of cells.
fn error(mesh: Mesh, scheme: Scheme, given: bool) -> (f64, f64) {
    let kind = if given {
        FaceKind::Outlet(0.0)
    } else {
        FaceKind::Slip
    };
    let exact = if given {
        poisson_dirichlet
    } else {
        poisson_neumann
    };
    let problem = setup(mesh, scheme, |_| kind);
    let Setup { geometry, ops, .. } = &problem;
    let want: Vec<f64> = geometry.centre.iter().map(|&x| exact(x)).collect();
    let source: Vec<f64> = want
        .iter()
        .zip(&ops.volume)
        .map(|(p, v)| 3.0 * PI * PI * p * v)
        .collect();
    let mut p = vec![0.0; ops.cells];
    let sweeps = if scheme == Scheme::Consistent {
        SWEEPS
    } else {
        1
    };
    for _ in 0..sweeps {
        let lean = ops.pressure_flux_nodes.apply(&ops.nodal_pressure.apply(&p));
        let mut b = ops.divergence.apply(&lean);
        b.iter_mut().zip(&source).for_each(|(b, s)| *b += s);
        solve(&ops.laplacian, &b, &mut p, !given, 1e-9, 5000).unwrap();
    }
    let error = match given {
        true => {
            let square = |x: f64, v: &f64| x * x * v;
            let (mut e, mut size) = (0.0, 0.0);
            for (i, v) in ops.volume.iter().enumerate() {
                e += square(p[i] - want[i], v);
                size += square(want[i], v);
            }
            (e / size).sqrt()
        }
        false => problem.scalar_error(&p, &want),
    };
    (error, ops.cells as f64)
}

fn order(coarse: Mesh, fine: Mesh, scheme: Scheme, given: bool) -> f64 {
    let (a, b) = (error(coarse, scheme, given), error(fine, scheme, given));
    let order = (a.0 / b.0).ln() / (b.1 / a.1).cbrt().ln();
    eprintln!(
        "{scheme:?} given {given}: {:.2e} {:.2e} order {order:.2}",
        a.0, b.0
    );
    order
}

#[test]
fn second_order_on_hexahedra() {
    for scheme in [Scheme::SymmetryPreserving, Scheme::Consistent] {
        for given in [false, true] {
            let box_of = |n| cube(BoxShape::Hexahedra, n, 0.0, 1.0);
            assert!(order(box_of(8), box_of(16), scheme, given) >= 1.9);
            assert!(order(box_of(16), box_of(32), scheme, given) >= 1.9);
        }
    }
}

#[test]
fn second_order_on_gmsh_tetrahedra() {
    for given in [false, true] {
        let (coarse, fine) = (gmsh("cube_tet_8_22"), gmsh("cube_tet_20_41"));
        assert!(order(coarse, fine, Scheme::Consistent, given) >= 1.8);
    }
}

#[test]
fn kuhn_tetrahedra_and_prisms_converge() {
    for (shape, least) in [(BoxShape::Tetrahedra, 1.5), (BoxShape::Prisms, 1.8)] {
        for given in [false, true] {
            let box_of = |n| cube(shape, n, 0.0, 1.0);
            assert!(order(box_of(6), box_of(12), Scheme::Consistent, given) >= least);
        }
    }
}

#[test]
fn unit_source_on_the_cube() {
    // -lap p = 1, zero on the sides: the centre's value.
    let problem = setup(
        cube(BoxShape::Hexahedra, 31, 0.0, 1.0),
        Scheme::SymmetryPreserving,
        |_| FaceKind::Outlet(0.0),
    );
    let mut p = vec![0.0; problem.ops.cells];
    solve(
        &problem.ops.laplacian,
        &problem.ops.volume,
        &mut p,
        false,
        1e-10,
        1000,
    )
    .unwrap();
    let centre = p[15 + 31 * (15 + 31 * 15)];
    assert!((centre / 0.0562128298294 - 1.0).abs() < 2e-3, "{centre}");
}
