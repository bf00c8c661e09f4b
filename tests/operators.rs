//! Identities of the operators, to round-off.
#![allow(clippy::needless_range_loop)]

mod flow_support;

use couloir::flow::boundary::FaceKind;
use couloir::flow::operators::{Momentum, Operators, Scheme};
use couloir::flow::plain::{Plain, solve};
use couloir::mesh::periodic::join_periodic;
use couloir::mesh::{BoxShape, BoxSpec, Geometry, Mesh, box_mesh};
use couloir::sparse::Csr;
use flow_support::{Setup, cube, field, gmsh, settings, setup};

const SHAPES: [BoxShape; 3] = [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra];

/// Boxes of each shape: stretched, with inner points moved, and periodic in x and z.
fn meshes() -> Vec<(String, Mesh)> {
    let mut out = Vec::new();
    for shape in SHAPES {
        let spec = BoxSpec {
            shape,
            cells: [5, 4, 3],
            max: [1.5, 1.0, 0.8],
            stretch: [0.0, 1.5, 0.5],
            ..BoxSpec::default()
        };
        out.push((format!("{shape:?} stretched"), box_mesh(&spec).unwrap()));
        out.push((format!("{shape:?} moved"), moved(cube(shape, 4, 0.0, 1.0))));
        let mut periodic = box_mesh(&spec).unwrap();
        join_periodic(&mut periodic, "xmin", "xmax").unwrap();
        join_periodic(&mut periodic, "zmin", "zmax").unwrap();
        out.push((format!("{shape:?} periodic"), periodic));
    }
    for file in ["cube_tet_8_22", "hybrid_6_41", "cavity_prism_24_22"] {
        out.push((file.to_string(), gmsh(file)));
    }
    out
}

/// Moves the inner points of a unit cube of 4 blocks by up to a fifth of a block.
fn moved(mut mesh: Mesh) -> Mesh {
    let mut rng = fastrand::Rng::with_seed(9);
    for point in &mut mesh.points {
        if point.iter().all(|x| *x > 1e-9 && *x < 1.0 - 1e-9) {
            for x in point {
                *x += 0.05 * (2.0 * rng.f64() - 1.0);
            }
        }
    }
    mesh
}

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
    largest(&a.sum(1.0, b, -1.0)) / largest(a)
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
        // Omega_s G_s = -M^T: F_0 = S G_s and Omega_s = S d_n.
        let d_n: Vec<f64> = (0..ops.faces)
            .map(|f| {
                (0..3)
                    .map(|k| geometry.d[f][k] * geometry.face_normal[f][k])
                    .sum::<f64>()
                    / geometry.face_area[f]
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

/// Whether a face is not flat: its centroid and normal are then those of several triangles,
/// and no sum over faces is exact.
fn warped(mesh: &Mesh) -> bool {
    let geometry = Geometry::of(mesh);
    (0..mesh.faces()).any(|f| {
        let (n, centre) = (geometry.face_normal[f], geometry.face_centre[f]);
        mesh.face(f).iter().any(|&p| {
            let x = mesh.points[p as usize];
            (0..3).map(|k| n[k] * (x[k] - centre[k])).sum::<f64>().abs() > 1e-9
        })
    })
}

/// A linear scalar field and its slope.
const SLOPE: [f64; 3] = [1.3, -0.7, 2.1];

fn linear(x: [f64; 3]) -> f64 {
    0.4 + SLOPE[0] * x[0] + SLOPE[1] * x[1] + SLOPE[2] * x[2]
}

#[test]
fn consistent_operators_are_exact_for_linear_fields() {
    let mut checked = 0;
    for (name, mesh) in meshes() {
        // The cavity is one cell thick: its cells do not see a slope along z.
        if name.contains("periodic") || name.contains("cavity") || warped(&mesh) {
            continue;
        }
        checked += 1;
        let Setup {
            mesh,
            geometry,
            ops,
        } = setup(mesh, Scheme::Consistent, |name| match name {
            "xmin" | "ymax" | "lid" => FaceKind::Dirichlet,
            "zmin" => FaceKind::Outlet(0.0),
            _ => FaceKind::Slip,
        });
        let cells: Vec<f64> = geometry.centre.iter().map(|&x| linear(x)).collect();
        let nodes: Vec<f64> = mesh.points.iter().map(|&x| linear(x)).collect();
        let centres = &geometry.face_centre;
        let given: Vec<f64> = (0..ops.boundary.len())
            .map(|b| linear(centres[ops.interior_faces + b]))
            .collect();
        let close = |got: f64, want: f64, what: &str, i: usize| {
            assert!(
                (got - want).abs() < 1e-11,
                "{name}: {what} {i}: {got} not {want}"
            );
        };
        let mut at_nodes = ops.nodal_velocity.apply(&cells);
        for (v, b) in at_nodes
            .iter_mut()
            .zip(ops.nodal_velocity_boundary.apply(&given))
        {
            *v += b;
        }
        for v in 0..ops.nodes {
            close(at_nodes[v], nodes[v], "H_v", v);
        }
        // Fluxes of the field as each velocity component, and its normal derivative.
        let velocity: [Vec<f64>; 3] = std::array::from_fn(|_| cells.clone());
        let smooth: [Vec<f64>; 3] = std::array::from_fn(|_| nodes.clone());
        let mut flux = vec![0.0; ops.faces];
        ops.flux_cells.add_dot(&velocity, &mut flux);
        ops.flux_nodes.add_dot(&smooth, &mut flux);
        let normal = ops.pressure_flux.apply(&cells);
        let lean = ops.pressure_flux_nodes.apply(&nodes);
        for f in 0..ops.interior_faces {
            let (n, s) = (geometry.face_normal[f], geometry.face_area[f]);
            close(
                flux[f],
                s * linear(centres[f]) * n.iter().sum::<f64>(),
                "Gamma",
                f,
            );
            let slope: f64 = (0..3).map(|k| n[k] * SLOPE[k]).sum();
            close(normal[f] + lean[f], s * slope, "F", f);
        }
        // Gradient, with the boundary values added where they are given.
        let mut g = ops.gradient_base.clone();
        ops.gradient_cells.add_each(&cells, &mut g);
        ops.gradient_nodes.add_each(&nodes, &mut g);
        for b in 0..ops.boundary.len() {
            let owner = ops.boundary.owner[b] as usize;
            if ops.boundary.kind[b] == FaceKind::Outlet(0.0) {
                let pull = ops.boundary.area[b] * given[b] / ops.volume[owner];
                (0..3).for_each(|k| g[k][owner] += pull * ops.boundary.normal[b][k]);
            }
        }
        for i in 0..ops.cells {
            (0..3).for_each(|k| close(g[k][i], SLOPE[k], "G", i));
        }
        let beyond = ops.boundary.pressure_nodes.apply(&nodes);
        for b in 0..ops.boundary.len() {
            if ops.boundary.kind[b] != FaceKind::Outlet(0.0) {
                let owner = ops.boundary.owner[b] as usize;
                close(cells[owner] + beyond[b], given[b], "pressure at face", b);
            }
        }
        let Momentum::Faces {
            cells: planes,
            nodes: corrections,
        } = &ops.momentum
        else {
            panic!("{name}: not by faces");
        };
        let part = |k: usize| -> Vec<f64> {
            let a = planes.plane(k).apply(&cells);
            a.iter()
                .zip(corrections.plane(k).apply(&nodes))
                .map(|(a, b)| a + b)
                .collect()
        };
        let (carried, jump, viscous) = (part(0), part(1), part(2));
        for f in 0..ops.interior_faces {
            close(carried[f], linear(centres[f]), "Gamma_m", f);
            close(jump[f], 0.0, "E (u - A_c uhat)", f);
            close(viscous[f], normal[f] + lean[f], "F_0 u + T uhat", f);
        }
        for b in 0..ops.boundary.len() {
            let f = ops.interior_faces + b;
            let n = geometry.face_normal[f];
            let slope: f64 = (0..3).map(|k| n[k] * SLOPE[k]).sum();
            if ops.boundary.kind[b] == FaceKind::Dirichlet {
                let flux = viscous[f] + ops.boundary.diffusion[b] * given[b];
                close(flux, geometry.face_area[f] * slope, "wall", b);
            }
        }
    }
    assert!(checked >= 6);
}

#[test]
fn corrections_vanish_on_uniform_hexahedra() {
    for periodic in [false, true] {
        let mut mesh = cube(BoxShape::Hexahedra, 4, 0.0, 1.0);
        if periodic {
            for (a, b) in [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")] {
                join_periodic(&mut mesh, a, b).unwrap();
            }
        }
        let Setup { ops, .. } = setup(mesh, Scheme::Consistent, |_| FaceKind::Dirichlet);
        assert_eq!(ops.nodes, if periodic { 64 } else { 125 });
        for v in &ops.pressure_flux_nodes.val {
            assert!(v.abs() < 1e-14);
        }
        for plane in &ops.flux_nodes.val {
            assert!(plane.iter().all(|v| v.abs() < 1e-14));
        }
    }
}

#[test]
fn periodic_nodes_see_through_the_boundary() {
    // A wave of one period: its nodal values do not know where the period was cut.
    for shape in SHAPES {
        let mut mesh = cube(shape, 6, 0.0, 1.0);
        join_periodic(&mut mesh, "xmin", "xmax").unwrap();
        let Setup {
            mesh,
            geometry,
            ops,
        } = setup(mesh, Scheme::Consistent, |_| FaceKind::Slip);
        let wave = |x: f64| (2.0 * std::f64::consts::PI * x).sin();
        let cells: Vec<f64> = geometry.centre.iter().map(|x| wave(x[0])).collect();
        let nodes = ops.nodal_pressure.apply(&cells);
        for (p, x) in mesh.points.iter().enumerate() {
            let inner = (1..3).all(|k| x[k] > 0.3 && x[k] < 0.7);
            if inner {
                let v = mesh.point_class[p] as usize;
                assert!(
                    (nodes[v] - wave(x[0])).abs() < 0.12,
                    "{shape:?}: {x:?} {}",
                    nodes[v]
                );
            }
        }
    }
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let mesh = cube(BoxShape::Hexahedra, 2, 0.0, 1.0);
    let geometry = Geometry::of(&mesh);
    let build = |geometry: &Geometry, kinds: &[FaceKind]| {
        Operators::build(&mesh, geometry, kinds, Scheme::Consistent)
            .unwrap_err()
            .to_string()
    };
    let text = build(&geometry, &[FaceKind::Slip; 3]);
    assert!(text.contains("24 boundary faces have 3 kinds"), "{text}");
    let mut folded = geometry.clone();
    folded.d[0] = folded.d[0].map(|x| -x);
    let text = build(&folded, &[FaceKind::Slip; 24]);
    assert!(
        text.contains("cell 0 and cell 1 overlap") && text.contains("repair"),
        "{text}"
    );
}
