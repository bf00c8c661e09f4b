//! Identities of the operators, to round-off.
#![allow(clippy::needless_range_loop)]

use crate::flows::{Setup, cube, field, meshes, moved, settings, setup};
use couloir::flow::boundary::FaceKind;
use couloir::flow::operators::{Momentum, Operators, Scheme};
use couloir::flow::plain::{Plain, solve};
use couloir::mesh::{BoxShape, Mesh};
use couloir::sparse::Csr;

fn random(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..n).map(|_| 2.0 * rng.f64() - 1.0).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Largest difference of two matrices, relative to the largest entry of the first.
fn difference(a: &Csr, b: &Csr) -> f64 {
    let largest = |a: &Csr| a.val.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let off = largest(&a.sum(1.0, b, -1.0));
    // Of a layer of cells nothing is left across it.
    if off == 0.0 { 0.0 } else { off / largest(a) }
}

fn symmetric(mesh: Mesh) -> Setup {
    setup(mesh, Scheme::SymmetryPreserving, |name| match name {
        "ymin" | "lid" => FaceKind::Dirichlet,
        _ => FaceKind::Slip,
    })
}

/// `C(phi)`, integrated over the cells.
fn convection(ops: &Operators, phi: &[f64]) -> Csr {
    let Momentum::Cells {
        diffusion,
        convection,
    } = &ops.momentum
    else {
        panic!("not the symmetry-preserving scheme");
    };
    let mut c = diffusion.clone();
    c.val = convection.apply(phi);
    c.scale_rows(&ops.volume).negated()
}

/// Fluxes without divergence, zero at the boundary.
fn solenoidal(ops: &Operators, seed: u64) -> Vec<f64> {
    let mut phi = random(ops.faces, seed);
    phi[ops.interior_faces..].fill(0.0);
    let b: Vec<f64> = ops.divergence.apply(&phi).iter().map(|b| -b).collect();
    let mut p = vec![0.0; ops.cells];
    solve(&ops.laplacian, &b, &mut p, true, 1e-15, 10_000).unwrap();
    for (phi, f) in phi.iter_mut().zip(ops.pressure_flux.apply(&p)) {
        *phi -= f;
    }
    phi
}

#[test]
fn gradients_are_adjoint_to_divergence() {
    for (name, mesh) in meshes() {
        let Setup { ops, geometry, .. } = symmetric(mesh);
        // Omega_s G_s = -M^T: F_0 = S G_s and Omega_s = S d_n, of the S / d_n that all operators have,
        // which are the mesh's to 41 bits.
        let d_n: Vec<f64> = (0..ops.faces)
            .map(|f| {
                let d: f64 = (0..3)
                    .map(|k| geometry.d[f][k] * geometry.face_normal[f][k])
                    .sum();
                let exact = geometry.face_area[f] / d;
                let bit = exact.log2().floor().exp2() * 0.5f64.powi(40);
                let rounded = (exact / bit).round() * bit;
                assert!((rounded / exact - 1.0).abs() <= 0.5f64.powi(41), "{name}");
                1.0 / rounded
            })
            .collect();
        let jump = ops.pressure_flux.clone().scale_rows(&d_n);
        let mut inner = ops.divergence.transpose();
        for f in ops.interior_faces..ops.faces {
            inner.val[inner.row_ptr[f]] = 0.0;
        }
        assert!(
            difference(&jump, &inner.negated()) < 1e-14,
            "{name}: Omega_s G_s"
        );
        for scheme in [Scheme::SymmetryPreserving, Scheme::Consistent] {
            let mesh = meshes().into_iter().find(|m| m.0 == name).unwrap().1;
            let Setup { ops, .. } = setup(mesh, scheme, |_| FaceKind::Slip);
            // Omega_c G_c = -(M Gamma)^T.
            for k in 0..3 {
                let weak = ops.divergence.product(&ops.flux_cells.plane(k)).transpose();
                let gradient = ops.gradient_cells.plane(k).scale_rows(&ops.volume);
                assert!(
                    difference(&gradient, &weak.negated()) < 1e-14,
                    "{name}: Omega_c G_c"
                );
            }
        }
    }
}

#[test]
fn laplacian_and_diffusion_are_symmetric_and_semi_definite() {
    for (name, mesh) in meshes() {
        let Setup { ops, .. } = symmetric(mesh);
        let l = &ops.laplacian;
        assert_eq!(difference(l, &l.transpose()), 0.0, "{name}: L");
        let size = l.diag().iter().fold(0.0f64, |m, d| m.max(*d));
        for sum in l.apply(&vec![1.0; ops.cells]) {
            assert!(sum.abs() < 1e-14 * size, "{name}: row sum {sum}");
        }
        let Momentum::Cells { diffusion, .. } = &ops.momentum else {
            panic!("{name}: not by cells");
        };
        let d = diffusion.clone().scale_rows(&ops.volume).negated();
        assert!(difference(&d, &d.transpose()) < 1e-14, "{name}: D");
        for seed in 0..20 {
            let x = random(ops.cells, seed);
            for a in [l, &d] {
                assert!(dot(&x, &a.apply(&x)) > 0.0, "{name}: not semi-definite");
            }
        }
    }
}

#[test]
fn convection_is_skew_symmetric_and_conserves() {
    for (name, mesh) in meshes() {
        let Setup { ops, .. } = symmetric(mesh);
        // C + C^T = diag(M u_s), whatever u_s.
        let mut phi = random(ops.faces, 3);
        phi[ops.interior_faces..].fill(0.0);
        let c = convection(&ops, &phi);
        let twice = c.sum(1.0, &c.transpose(), 1.0);
        let net = ops.divergence.apply(&phi);
        for i in 0..ops.cells {
            for (j, v) in twice.row(i) {
                let want = if i == j { net[i] } else { 0.0 };
                assert!((v - want).abs() < 1e-14, "{name}: C + C^T at {i}, {j}");
            }
        }
        let u = random(ops.cells, 4);
        let carried: f64 = c.apply(&u).iter().sum();
        assert!(carried.abs() < 1e-13, "{name}: sum C u = {carried}");
        // u^T C u = 0 when M u_s = 0.
        let phi = solenoidal(&ops, 5);
        let power = dot(&u, &convection(&ops, &phi).apply(&u));
        assert!(power.abs() < 1e-13, "{name}: u C u = {power}");
        assert!(dot(&phi, &phi) > 1.0);
    }
}

#[test]
fn a_step_leaves_fluxes_without_divergence() {
    for scheme in [Scheme::SymmetryPreserving, Scheme::Consistent] {
        for (name, mesh) in meshes() {
            let walls = setup(mesh, scheme, |name| match name {
                "ymax" | "walls" => FaceKind::Dirichlet,
                _ => FaceKind::Slip,
            });
            let ops = &walls.ops;
            let u = [
                random(ops.cells, 6),
                random(ops.cells, 7),
                random(ops.cells, 8),
            ];
            let lid = field(walls.boundary(), |_| [1.0, 0.0, 0.0]);
            let mut plain = Plain::new(ops, settings(0.01, 1e-13), u, &lid, 1e-3).unwrap();
            plain.step(1e-3, &lid).unwrap();
            plain.step(2e-3, &lid).unwrap();
            let largest = plain.state.phi.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let divergence = plain.divergence_max();
            assert!(
                divergence < 1e-11 * largest,
                "{name} {scheme:?}: {divergence:.1e} of {largest:.1e}"
            );
        }
    }
}

#[test]
fn symmetric_step_is_the_papers_face_velocity() {
    // u_s = Gamma u_c - dt (G_s p - Gamma G_c p) with p the pressure's increment.
    let walls = symmetric(moved(cube(BoxShape::Prisms, 4, 0.0, 1.0)));
    let ops = &walls.ops;
    let still = field(walls.boundary(), |_| [0.0; 3]);
    let u = [
        random(ops.cells, 1),
        random(ops.cells, 2),
        random(ops.cells, 3),
    ];
    let dt = 2e-3;
    let mut plain = Plain::new(ops, settings(0.02, 1e-14), u, &still, dt).unwrap();
    let before = plain.state.clone();
    plain.step(dt, &still).unwrap();
    let now = &plain.state;
    let increment: Vec<f64> = now.p.iter().zip(&before.p).map(|(a, b)| a - b).collect();
    let mut g: [Vec<f64>; 3] = std::array::from_fn(|_| vec![0.0; ops.cells]);
    ops.gradient_cells.add_each(&increment, &mut g);
    let centred: [Vec<f64>; 3] = std::array::from_fn(|k| {
        now.u[k]
            .iter()
            .zip(&g[k])
            .map(|(u, g)| u + dt * g)
            .collect()
    });
    let mut flux = vec![0.0; ops.faces];
    ops.flux_cells.add_dot(&centred, &mut flux);
    for (flux, g) in flux.iter_mut().zip(ops.pressure_flux.apply(&increment)) {
        *flux -= dt * g;
    }
    for f in 0..ops.faces {
        assert!((flux[f] - now.phi[f]).abs() < 1e-13, "face {f}");
    }
}
