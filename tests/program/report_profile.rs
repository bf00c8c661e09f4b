//! Cell fields along lines, and the published profiles to compare them with.

use std::path::Path;

use couloir::mesh::{BoxShape, BoxSpec, Geometry, Mesh, box_mesh, gmsh, join_periodic};
use couloir::report::profile::{self, CellField, Line, Sample};
use couloir::report::reference;

fn boxes(shape: BoxShape) -> Mesh {
    let spec = BoxSpec {
        shape,
        cells: [5, 4, 3],
        stretch: [1.5, 0.0, 0.7],
        ..BoxSpec::default()
    };
    box_mesh(&spec).unwrap()
}

fn hybrid() -> Mesh {
    gmsh::read(Path::new("tests/data/meshes/hybrid_6_41.msh")).unwrap()
}

fn meshes() -> Vec<Mesh> {
    let shapes = [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra];
    let mut meshes: Vec<Mesh> = shapes.into_iter().map(boxes).collect();
    meshes.push(hybrid());
    meshes
}

fn affine(at: [f64; 3]) -> [f64; 2] {
    let [x, y, z] = at;
    [1.0 + 2.0 * x - 3.0 * y + 0.5 * z, -y + 4.0 * z]
}

fn sampled<const N: usize>(
    mesh: &Mesh,
    f: impl Fn([f64; 3]) -> [f64; N],
    with_boundary: bool,
    line: &Line,
) -> Vec<Sample<N>> {
    let geometry = Geometry::of(mesh);
    let values: Vec<[f64; N]> = geometry.centre.iter().map(|&c| f(c)).collect();
    let field = CellField {
        mesh,
        geometry: &geometry,
        values: &values,
        boundary: &|face| with_boundary.then(|| f(geometry.face_centre[face])),
    };
    profile::along(&field, line).unwrap()
}

#[test]
fn profiles_are_exact_for_linear_fields() {
    let line = Line {
        from: [0.05, 0.1, 0.9],
        to: [0.9, 0.95, 0.08],
        samples: 37,
    };
    for mesh in meshes() {
        let samples = sampled(&mesh, affine, true, &line);
        assert_eq!(samples.len(), 37);
        for s in samples {
            let (got, want) = (s.value.unwrap(), affine(s.at));
            let error = (got[0] - want[0]).abs().max((got[1] - want[1]).abs());
            assert!(
                error < 1e-7,
                "{}: {got:?}, not {want:?} at {:?}",
                mesh.source,
                s.at
            );
        }
    }
}

#[test]
fn profiles_converge_at_second_order() {
    let smooth = |[x, y, z]: [f64; 3]| [(3.0 * x).sin() * (2.0 * y).cos() + z * z];
    let line = Line {
        from: [0.42, 0.0, 0.53],
        to: [0.61, 1.0, 0.38],
        samples: 101,
    };
    for shape in [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra] {
        let error = |n: usize| {
            let spec = BoxSpec {
                shape,
                cells: [n; 3],
                ..BoxSpec::default()
            };
            let samples = sampled(&box_mesh(&spec).unwrap(), smooth, true, &line);
            let square = |s: &Sample<1>| (s.value.unwrap()[0] - smooth(s.at)[0]).powi(2);
            // The ends take the value at their face's centre; that is first order.
            let inner = &samples[1..100];
            (inner.iter().map(square).sum::<f64>() / 99.0).sqrt()
        };
        let (coarse, fine) = (error(8), error(16));
        let order = (coarse / fine).log2();
        assert!(
            order > 1.7,
            "{shape:?}: {coarse:.2e} to {fine:.2e}, order {order:.2}"
        );
    }
}

#[test]
fn profiles_take_boundary_values_and_leave_out_the_outside() {
    let spec = BoxSpec {
        cells: [4, 4, 1],
        ..BoxSpec::default()
    };
    let mesh = box_mesh(&spec).unwrap();
    let geometry = Geometry::of(&mesh);
    let values = vec![[7.0]; mesh.cells()];
    let lid = mesh.patch("ymax").unwrap().faces.clone();
    let field = CellField {
        mesh: &mesh,
        geometry: &geometry,
        values: &values,
        boundary: &|face| lid.contains(&face).then_some([1.0]),
    };
    let line = Line {
        from: [0.4, -0.5, 0.5],
        to: [0.4, 1.0, 0.5],
        samples: 7,
    };
    let samples = profile::along(&field, &line).unwrap();
    let got: Vec<Option<f64>> = samples.iter().map(|s| s.value.map(|v| v[0])).collect();
    // Below the box; then 7 but for the cells beside the lid, whose gradient knows it.
    assert_eq!(got[..2], [None, None]);
    assert!(
        got[2..4].iter().all(|v| (v.unwrap() - 7.0).abs() < 1e-12),
        "{got:?}"
    );
    assert_eq!(got[6], Some(1.0), "on the lid");
    assert_eq!(samples[6].s_m, 1.5);

    let name = format!("couloir-profile-{}.csv", std::process::id());
    let path = std::env::temp_dir().join(name);
    profile::write_csv(&path, &["u_m_per_s"], &samples).unwrap();
    let csv = std::fs::read_to_string(&path).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0], "s_m,x_m,y_m,z_m,u_m_per_s");
    assert_eq!(rows[1], "0.000000000,0.400000000,-0.500000000,0.500000000,");
    assert!(rows[7].ends_with(",1.000000000e0"), "{}", rows[7]);
    let error = profile::write_csv(&path.join("a.csv"), &["u"], &samples).unwrap_err();
    assert!(error.to_string().contains("in the way"), "{error}");
    std::fs::remove_file(&path).unwrap();

    let field = CellField {
        values: &values[1..],
        ..field
    };
    let error = profile::along(&field, &line).unwrap_err().to_string();
    assert!(error.contains("values for 15 of 16 cells"), "{error}");
}

#[test]
fn profiles_do_not_walk_through_periodic_sides() {
    let mut mesh = boxes(BoxShape::Hexahedra);
    join_periodic(&mut mesh, "xmin", "xmax").unwrap();
    let line = Line {
        from: [-0.3, 0.4, 0.5],
        to: [1.3, 0.4, 0.5],
        samples: 17,
    };
    let constant = |_: [f64; 3]| [3.0];
    for s in sampled(&mesh, constant, false, &line) {
        let inside = (-1e-12..=1.0 + 1e-12).contains(&s.at[0]);
        assert_eq!(s.value.is_some(), inside, "{:?}", s.at);
        assert!(s.value.is_none_or(|v| (v[0] - 3.0).abs() < 1e-12));
    }
}

#[test]
fn reference_profiles_leave_out_misprints() {
    for (re, u_points, v_points) in [(100, 17, 17), (400, 17, 16), (1000, 17, 16), (3200, 16, 17)] {
        let ghia = reference::ghia(re).unwrap();
        assert_eq!(
            (ghia.u_vertical.len(), ghia.v_horizontal.len()),
            (u_points, v_points)
        );
        assert_eq!(ghia.u_vertical[0], (1.0, 1.0), "the lid");
        assert_eq!(ghia.u_vertical.last(), Some(&(0.0, 0.0)));
        assert_eq!(ghia.v_horizontal[0], (1.0, 0.0));
    }
    assert!(
        reference::ghia(100)
            .unwrap()
            .u_vertical
            .contains(&(0.5, -0.20581))
    );
    assert_eq!(reference::ghia(200), None);
    let spectral = reference::botella_peyret(1000).unwrap();
    assert_eq!(spectral.u_vertical.len(), 17);
    assert!(spectral.v_horizontal.contains(&(0.9063, -0.5264392)));
    assert_eq!(reference::botella_peyret(100), None);
    // Both papers, independently, within 2 % of the lid's speed away from it.
    let ghia = reference::ghia(1000).unwrap();
    for (g, b) in ghia.u_vertical.iter().zip(&spectral.u_vertical) {
        assert!(g.0 == b.0 && (g.1 - b.1).abs() < 0.02, "{g:?} and {b:?}");
    }
}
