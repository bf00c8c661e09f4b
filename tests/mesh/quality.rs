//! Checks that a mesh must pass, and its measures.

use std::path::{Path, PathBuf};

use couloir::mesh::lambda::lambda_max;
use couloir::mesh::{
    BoxShape, BoxSpec, Discretisation, Geometry, Mesh, Quality, box_mesh, check, gmsh,
    join_periodic,
};

fn path(name: &str) -> PathBuf {
    Path::new("tests/data/meshes").join(name)
}

fn cube(shape: BoxShape, n: usize) -> Mesh {
    box_mesh(&BoxSpec {
        shape,
        cells: [n; 3],
        ..BoxSpec::default()
    })
    .unwrap()
}

fn quality(mesh: &Mesh) -> Quality {
    let geometry = Geometry::of(mesh);
    check(mesh, &geometry).unwrap();
    Quality::of(mesh, &geometry)
}

fn refused(mesh: &Mesh, words: &[&str]) {
    let text = check(mesh, &Geometry::of(mesh)).unwrap_err().to_string();
    assert!(words.iter().all(|w| text.contains(w)), "{text}");
}

#[test]
fn overlapping_cells_are_named_in_the_file_s_numbers() {
    let mesh = gmsh::read(&path("broken_hybrid_8_41.msh")).unwrap();
    refused(
        &mesh,
        &[
            "broken_hybrid_8_41.msh: element 1230 (tetrahedron)",
            "volume -3.99",
            "overlaps element 1074 (tetrahedron), element 1228 (tetrahedron)",
            "mesh the geometry again",
        ],
    );
}

#[test]
fn moved_points_turn_cells_inside_out_or_past_each_other() {
    // The only inner point of two blocks cubed leaves the cube.
    let mut mesh = cube(BoxShape::Tetrahedra, 2);
    mesh.points[13] = [1.5, 1.5, 1.5];
    refused(
        &mesh,
        &["cell ", "has the volume -", "the first of", "overlaps"],
    );

    // Flat: two layers of points in one place.
    let mut mesh = cube(BoxShape::Hexahedra, 2);
    for p in mesh.points.iter_mut().filter(|p| p[0] == 0.5) {
        p[0] = 0.0;
    }
    refused(&mesh, &["hexahedron", "volume 0", "(the first of 4)"]);

    let mut mesh = cube(BoxShape::Hexahedra, 2);
    mesh.points[13][1] = f64::NAN;
    refused(&mesh, &["volume NaN"]);
}

#[test]
fn cells_on_the_wrong_side_of_a_face_are_named() {
    let mesh = cube(BoxShape::Hexahedra, 2);
    let mut geometry = Geometry::of(&mesh);
    geometry.d[0] = geometry.d[0].map(|x| -x);
    let text = check(&mesh, &geometry).unwrap_err().to_string();
    assert!(
        text.contains("cell 0 (hexahedron) and cell 1 (hexahedron) overlap"),
        "{text}"
    );
    assert!(text.contains("d.n = -5.000e-1"), "{text}");
    let mut geometry = Geometry::of(&mesh);
    geometry.d[mesh.faces() - 1] = [0.0; 3];
    let text = check(&mesh, &geometry).unwrap_err().to_string();
    assert!(text.contains("outside of its boundary face"), "{text}");
}

#[test]
fn faces_that_do_not_close_and_separate_parts_are_refused() {
    let mut mesh = cube(BoxShape::Hexahedra, 2);
    mesh.face_points[..4].swap(1, 2);
    refused(
        &mesh,
        &["do not close", "cell 0 (hexahedron)", "(the first of 2)"],
    );

    // Two boxes in one mesh.
    let one = cube(BoxShape::Hexahedra, 1);
    let mut two = one.clone();
    let moved = one.points.iter().map(|p| [p[0] + 2.0, p[1], p[2]]);
    two.points.extend(moved);
    two.kinds.extend(&one.kinds);
    two.cell_points
        .extend(one.cell_points.iter().map(|v| v + 8));
    two.cell_ptr.push(16);
    two.face_points
        .extend(one.face_points.iter().map(|v| v + 8));
    two.face_ptr
        .extend(one.face_ptr[1..].iter().map(|p| p + 24));
    two.owner.extend([1; 6]);
    refused(&two, &["2 parts", "cell 1 (hexahedron) at (2.5"]);
}

#[test]
fn warped_and_periodic_meshes_pass() {
    for shape in [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra] {
        let mut mesh = cube(shape, 3);
        join_periodic(&mut mesh, "xmin", "xmax").unwrap();
        join_periodic(&mut mesh, "zmin", "zmax").unwrap();
        check(&mesh, &Geometry::of(&mesh)).unwrap();
        let mut rng = fastrand::Rng::with_seed(3);
        let mut mesh = cube(shape, 3);
        for x in mesh
            .points
            .iter_mut()
            .flatten()
            .filter(|x| **x > 0.0 && **x < 1.0)
        {
            *x += 0.05 * (rng.f64() - 0.5);
        }
        check(&mesh, &Geometry::of(&mesh)).unwrap();
    }
}

#[test]
fn measures_of_regular_meshes_are_known() {
    let hexahedra = quality(&cube(BoxShape::Hexahedra, 12));
    assert_eq!(hexahedra.cells, [0, 0, 0, 1728]);
    assert_eq!((hexahedra.faces, hexahedra.boundary_faces), (5616, 864));
    assert!(hexahedra.non_orthogonality_max_deg < 1e-10);
    assert!(hexahedra.skewness_max < 1e-12);
    assert!((hexahedra.volume_max * 1728.0 - 1.0).abs() < 1e-12);
    // Modes of a line of n cells: cos^2(pi / 2n), three times alike.
    let expected = (std::f64::consts::PI / 24.0).cos().powi(2);
    assert!(
        (hexahedra.lambda_max - expected).abs() < 1e-4,
        "{}",
        hexahedra.lambda_max
    );

    // Prisms: a third of the faces at atan(1/2), none skewed.
    let prisms = quality(&cube(BoxShape::Prisms, 6));
    assert!((prisms.non_orthogonality_max_deg - 0.5f64.atan().to_degrees()).abs() < 1e-9);
    assert!(prisms.skewness_max < 1e-12);
    assert!(
        (prisms.lambda_max - 4.0 / 3.0).abs() < 0.05,
        "{}",
        prisms.lambda_max
    );

    let tetrahedra = quality(&cube(BoxShape::Tetrahedra, 6));
    let angle = 0.5f64.sqrt().atan().to_degrees();
    assert!((tetrahedra.non_orthogonality_max_deg - angle).abs() < 1e-9);
    assert_eq!(tetrahedra.cells, [1296, 0, 0, 0]);
}

/// Largest eigenvalue of the dense `Gamma Gamma_{s->c}` on the faces, by squaring.
fn dense_lambda(mesh: &Mesh) -> f64 {
    let geometry = Geometry::of(mesh);
    let count = mesh.interior_faces();
    let gamma = |f: usize, c: usize| -> f64 {
        let of = mesh.owner[f] as usize == c || mesh.neighbour[f] as usize == c;
        if of { 0.5 } else { 0.0 }
    };
    let dot = |f: usize, g: usize| -> f64 {
        let (a, b) = (geometry.face_normal[f], geometry.face_normal[g]);
        a.iter().zip(&b).map(|(a, b)| a * b).sum()
    };
    let omega = |f: usize| -> f64 {
        let (d, n) = (geometry.d[f], geometry.face_normal[f]);
        geometry.face_area[f] * d.iter().zip(&n).map(|(d, n)| d * n).sum::<f64>()
    };
    let mut a = vec![vec![0.0; count]; count];
    for (f, row) in a.iter_mut().enumerate() {
        for (g, entry) in row.iter_mut().enumerate() {
            for c in [mesh.owner[f] as usize, mesh.neighbour[f] as usize] {
                *entry += gamma(f, c) * gamma(g, c) * dot(f, g) * omega(g) / geometry.volume[c];
            }
        }
    }
    // lambda = lim |A^(2^k)|^(1/2^k), with the scale kept apart.
    let (mut log, mut power) = (0.0, 1.0);
    for _ in 0..16 {
        let size = a.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        log += size.ln() / power;
        power *= 2.0;
        let old = a.clone();
        for row in &mut a {
            let left: Vec<f64> = row.iter().map(|x| x / size).collect();
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = left.iter().zip(&old).map(|(l, r)| l * r[j] / size).sum();
            }
        }
    }
    log.exp()
}

#[test]
fn lambda_max_agrees_with_a_dense_matrix() {
    for shape in [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra] {
        let mesh = box_mesh(&BoxSpec {
            shape,
            cells: [2, 3, 2],
            stretch: [0.0, 1.5, 0.0],
            ..BoxSpec::default()
        })
        .unwrap();
        let (fast, dense) = (lambda_max(&mesh, &Geometry::of(&mesh)), dense_lambda(&mesh));
        assert!(
            (fast - dense).abs() < 1e-4 * dense,
            "{shape:?} {fast} {dense}"
        );
    }
    let one = cube(BoxShape::Hexahedra, 1);
    assert_eq!(lambda_max(&one, &Geometry::of(&one)), 0.0);
}

#[test]
fn the_discretisation_follows_the_measures() {
    let recommended = |quality: &Quality, words: &str| {
        let (choice, why) = quality.recommend();
        assert!(why.contains(words), "{why}");
        choice
    };
    let stretched = quality(
        &box_mesh(&BoxSpec {
            cells: [12; 3],
            stretch: [0.0, 2.0, 2.0],
            ..BoxSpec::default()
        })
        .unwrap(),
    );
    assert!(stretched.lambda_max < 1.01);
    let symmetric = recommended(&stretched, "at most 0.0 degrees");
    assert_eq!(symmetric, Discretisation::SymmetryPreserving);
    let amplifying = Quality {
        lambda_max: 1.2,
        ..stretched
    };
    let choice = recommended(&amplifying, "eigenvalue of Gamma Gamma_sc is 1.200");
    assert_eq!(choice, Discretisation::Consistent);

    let tetrahedra = quality(&gmsh::read(&path("cube_tet_8_41.msh")).unwrap());
    assert!(
        (2.0..6.0).contains(&tetrahedra.lambda_max),
        "{}",
        tetrahedra.lambda_max
    );
    for name in [
        "cube_tet_8_41.msh",
        "hybrid_6_22.msh",
        "cavity_prism_24_22.msh",
    ] {
        let quality = quality(&gmsh::read(&path(name)).unwrap());
        let choice = recommended(&quality, "non-orthogonality reaches");
        assert_eq!(choice, Discretisation::Consistent, "{name}");
    }
}
