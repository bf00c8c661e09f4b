//! Periodic pairs of generated boxes.

use crate::places;
use couloir::mesh::{BoxShape, BoxSpec, Geometry, Mesh, box_mesh, join_periodic};

const SHAPES: [BoxShape; 3] = [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra];
const PAIRS: [(&str, &str); 3] = [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")];

fn brick(shape: BoxShape, cells: [usize; 3]) -> Mesh {
    box_mesh(&BoxSpec {
        shape,
        cells,
        min: [-0.3, 0.1, 0.7],
        max: [1.0, 2.0, 1.9],
        stretch: [0.0, 1.5, 0.0],
    })
    .unwrap()
}

fn classes(mesh: &Mesh) -> usize {
    mesh.point_class.iter().max().map_or(0, |&c| c as usize + 1)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

#[test]
fn joining_three_directions_leaves_no_boundary_and_one_class_per_block() {
    for shape in SHAPES {
        let [nx, ny, nz] = [3, 4, 2];
        let mut mesh = brick(shape, [nx, ny, nz]);
        let volume = Geometry::of(&mesh).volume;
        let sides: usize = mesh.kinds.iter().map(|k| k.faces().len()).sum();
        for (a, b) in PAIRS {
            join_periodic(&mut mesh, a, b).unwrap();
            assert!(mesh.patch(a).is_none() && mesh.patch(b).is_none());
        }
        assert!(mesh.patches.is_empty());
        assert_eq!(mesh.faces(), mesh.interior_faces());
        assert_eq!(2 * mesh.faces(), sides);
        assert_eq!(mesh.shift.len(), mesh.faces());
        assert_eq!(classes(&mesh), nx * ny * nz);

        let pairs: Vec<_> = mesh.owner.iter().zip(&mesh.neighbour).collect();
        assert!(pairs.iter().all(|(o, n)| o < n));
        assert!(places(&mesh).windows(2).all(|w| w[0] <= w[1]));
        let geometry = Geometry::of(&mesh);
        for (new, old) in geometry.volume.iter().zip(&volume) {
            assert!((new - old).abs() < 1e-14, "{shape:?}");
        }
        let extent = [1.3 / 3.0, 1.9, 1.2 / 2.0];
        for f in 0..mesh.faces() {
            assert!(
                dot(geometry.d[f], geometry.face_normal[f]) > 0.0,
                "{shape:?} {f}"
            );
            let near = |(d, extent): (&f64, f64)| d.abs() <= extent + 1e-12;
            assert!(geometry.d[f].iter().zip(extent).all(near), "{shape:?} {f}");
        }
    }
}

#[test]
fn two_cells_across_meet_at_two_faces() {
    let mut mesh = brick(BoxShape::Hexahedra, [2, 1, 1]);
    join_periodic(&mut mesh, "xmin", "xmax").unwrap();
    assert_eq!(mesh.interior_faces(), 2);
    assert_eq!((mesh.owner[0], mesh.neighbour[0]), (0, 1));
    assert_eq!((mesh.owner[1], mesh.neighbour[1]), (0, 1));
    let geometry = Geometry::of(&mesh);
    let mut d: Vec<f64> = geometry.d[..2].iter().map(|d| d[0]).collect();
    d.sort_by(f64::total_cmp);
    assert!(
        (d[0] + 0.65).abs() < 1e-14 && (d[1] - 0.65).abs() < 1e-14,
        "{d:?}"
    );
    assert_eq!(mesh.patches[0].name, "ymin");
    assert_eq!(mesh.patches[0].faces, 2..4);
}

#[test]
fn the_order_of_the_two_names_does_not_matter() {
    let mut mesh = brick(BoxShape::Prisms, [3, 3, 3]);
    let mut swapped = mesh.clone();
    join_periodic(&mut mesh, "zmin", "zmax").unwrap();
    join_periodic(&mut swapped, "zmax", "zmin").unwrap();
    assert_eq!(mesh.owner, swapped.owner);
    assert_eq!(mesh.face_points, swapped.face_points);
    assert_eq!(mesh.point_class, swapped.point_class);
}

#[test]
fn bad_pairs_are_refused_and_leave_the_mesh_alone() {
    let refused = |mesh: &mut Mesh, a: &str, b: &str, words: &[&str]| {
        let before = mesh.clone();
        let text = join_periodic(mesh, a, b).unwrap_err().to_string();
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
        assert_eq!(mesh.owner, before.owner);
        assert!(mesh.point_class.is_empty());
    };
    let mut mesh = brick(BoxShape::Hexahedra, [3, 4, 4]);
    refused(&mut mesh, "left", "xmax", &["\"left\"", "xmin, xmax"]);
    refused(&mut mesh, "xmin", "xmin", &["two different patches"]);
    refused(&mut mesh, "xmin", "ymax", &["16 faces against 12"]);
    // Rotated, not translated: the stretched axis does not fit the uniform one.
    refused(
        &mut mesh,
        "ymin",
        "zmax",
        &["cell", "no partner", "same surface mesh"],
    );
    refused(
        &mut brick(BoxShape::Hexahedra, [1, 4, 4]),
        "xmin",
        "xmax",
        &["same cell", "two layers"],
    );

    // Turn one corner of one side a little.
    let mut mesh = brick(BoxShape::Tetrahedra, [2, 2, 2]);
    for p in &mut mesh.points {
        if p[0] == 1.0 && p[1] == 2.0 && p[2] == 1.9 {
            p[1] += 1e-3;
        }
    }
    refused(&mut mesh, "xmin", "xmax", &["no partner", "at ("]);
}
