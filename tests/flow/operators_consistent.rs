//! The consistent operators: exact for linear fields, on every mesh with flat faces.
#![allow(clippy::needless_range_loop)]

use crate::flows::{SHAPES, Setup, cube, meshes, setup};
use couloir::flow::boundary::FaceKind;
use couloir::flow::operators::{Momentum, Operators, Scheme};
use couloir::mesh::periodic::join_periodic;
use couloir::mesh::{BoxShape, Geometry, Mesh};

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
