//! Generated boxes, their geometry and connectivity.

use crate::places;
use couloir::mesh::{BoxShape, BoxSpec, Geometry, Mesh, box_mesh};

const SHAPES: [BoxShape; 3] = [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra];

fn spec(shape: BoxShape, cells: [usize; 3]) -> BoxSpec {
    BoxSpec {
        shape,
        cells,
        min: [-1.0, 0.5, 2.0],
        max: [1.0, 1.25, 2.5],
        ..BoxSpec::default()
    }
}

/// Largest |sum of area vectors| over the cells.
fn closure(mesh: &Mesh, geometry: &Geometry) -> f64 {
    let mut sum = vec![[0.0f64; 3]; mesh.cells()];
    for f in 0..mesh.faces() {
        let s = geometry.face_normal[f].map(|n| n * geometry.face_area[f]);
        let mut count = |c: u32, sign: f64| {
            for (sum, s) in sum[c as usize].iter_mut().zip(s) {
                *sum += sign * s;
            }
        };
        count(mesh.owner[f], 1.0);
        if let Some(&n) = mesh.neighbour.get(f) {
            count(n, -1.0);
        }
    }
    sum.iter().flatten().fold(0.0, |m, s| m.max(s.abs()))
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

#[test]
fn boxes_have_the_volume_the_counts_and_the_order_of_faces() {
    let [nx, ny, nz] = [5, 3, 4];
    for shape in SHAPES {
        let mesh = box_mesh(&BoxSpec {
            stretch: [0.0, 2.0, 0.5],
            ..spec(shape, [nx, ny, nz])
        })
        .unwrap();
        let geometry = Geometry::of(&mesh);
        let blocks = nx * ny * nz;
        let (cells, boundary) = match shape {
            BoxShape::Hexahedra => (blocks, [12, 12, 20, 20, 15, 15]),
            BoxShape::Prisms => (2 * blocks, [12, 12, 20, 20, 30, 30]),
            BoxShape::Tetrahedra => (6 * blocks, [24, 24, 40, 40, 30, 30]),
        };
        assert_eq!(mesh.cells(), cells);
        let mut start = mesh.interior_faces();
        for (patch, count) in mesh.patches.iter().zip(boundary) {
            assert_eq!(
                patch.faces,
                start..start + count,
                "{shape:?} {}",
                patch.name
            );
            start += count;
        }
        assert_eq!(start, mesh.faces());
        let sides: usize = mesh.kinds.iter().map(|k| k.faces().len()).sum();
        assert_eq!(
            sides,
            2 * mesh.interior_faces() + boundary.iter().sum::<usize>()
        );

        let total: f64 = geometry.volume.iter().sum();
        assert!((total - 0.75).abs() < 1e-14, "{shape:?} {total}");
        assert!(geometry.volume.iter().all(|&v| v > 0.0));
        assert!(closure(&mesh, &geometry) < 1e-15);
        let pairs: Vec<_> = mesh.owner.iter().zip(&mesh.neighbour).collect();
        assert!(pairs.iter().all(|(o, n)| o < n));
        assert!(places(&mesh).windows(2).all(|w| w[0] < w[1]), "{shape:?}");
        for f in 0..mesh.faces() {
            assert!(
                dot(geometry.d[f], geometry.face_normal[f]) > 0.0,
                "{shape:?} face {f}"
            );
        }
        for (patch, (axis, sign)) in mesh.patches.iter().zip([
            (0, -1.0),
            (0, 1.0),
            (1, -1.0),
            (1, 1.0),
            (2, -1.0),
            (2, 1.0),
        ]) {
            for f in patch.faces.clone() {
                assert!((geometry.face_normal[f][axis] - sign).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn stretching_follows_its_formula_and_is_symmetric() {
    let spec = BoxSpec {
        cells: [6, 1, 1],
        stretch: [2.0, 0.0, 0.0],
        ..BoxSpec::default()
    };
    let x: Vec<f64> = (0..=6).map(|i| spec.coordinate(0, i)).collect();
    assert_eq!((x[0], x[6]), (0.0, 1.0));
    let expected = 0.5 * (1.0 + (-4.0f64 / 3.0).tanh() / 2.0f64.tanh());
    assert!((x[1] - expected).abs() < 1e-15);
    for i in 0..=6 {
        assert!((x[i] + x[6 - i] - 1.0).abs() < 1e-15);
    }
    assert!(x[1] - x[0] < x[2] - x[1]);
}

#[test]
fn warped_faces_keep_volume_and_closure_exact() {
    for shape in SHAPES {
        let mut mesh = box_mesh(&spec(shape, [4, 4, 4])).unwrap();
        let mut rng = fastrand::Rng::with_seed(7);
        for p in &mut mesh.points {
            let inside = p[0].abs() < 1.0 && p[1] > 0.5 && p[1] < 1.25 && p[2] > 2.0 && p[2] < 2.5;
            if inside {
                for x in p.iter_mut() {
                    *x += 0.02 * (rng.f64() - 0.5);
                }
            }
        }
        let geometry = Geometry::of(&mesh);
        let total: f64 = geometry.volume.iter().sum();
        assert!((total - 0.75).abs() < 1e-14, "{shape:?} {total}");
        assert!(closure(&mesh, &geometry) < 1e-15);
    }
}

#[test]
fn centroids_of_known_shapes() {
    let mesh = box_mesh(&BoxSpec {
        shape: BoxShape::Tetrahedra,
        cells: [1, 1, 1],
        ..BoxSpec::default()
    })
    .unwrap();
    let geometry = Geometry::of(&mesh);
    for c in 0..6 {
        assert!((geometry.volume[c] - 1.0 / 6.0).abs() < 1e-16);
        for k in 0..3 {
            let mean: f64 = mesh
                .cell(c)
                .iter()
                .map(|&v| mesh.points[v as usize][k] / 4.0)
                .sum();
            assert!((geometry.centre[c][k] - mean).abs() < 1e-15);
        }
    }
    // A prism's centroid lies over that of its triangle, halfway up.
    let mesh = box_mesh(&BoxSpec {
        shape: BoxShape::Prisms,
        cells: [1, 1, 1],
        ..BoxSpec::default()
    })
    .unwrap();
    let geometry = Geometry::of(&mesh);
    for (k, x) in [2.0 / 3.0, 1.0 / 3.0, 0.5].into_iter().enumerate() {
        assert!((geometry.centre[0][k] - x).abs() < 1e-15);
    }
}

#[test]
fn bad_boxes_are_refused_by_key() {
    let refused = |spec: BoxSpec, words: [&str; 2]| {
        let text = box_mesh(&spec).unwrap_err().to_string();
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
    };
    let good = BoxSpec::default;
    refused(
        BoxSpec {
            cells: [4, 0, 4],
            ..good()
        },
        ["box: cells", "along y"],
    );
    refused(
        BoxSpec {
            cells: [2000, 2000, 2000],
            ..good()
        },
        ["box: cells", "100 million"],
    );
    refused(
        BoxSpec {
            cells: [usize::MAX, 3, 1],
            ..good()
        },
        ["box: cells", "100 million"],
    );
    refused(
        BoxSpec {
            max: [1.0, 1.0, 0.0],
            ..good()
        },
        ["box: min, max", "along z"],
    );
    refused(
        BoxSpec {
            min: [f64::NAN, 0.0, 0.0],
            ..good()
        },
        ["box: min, max", "along x"],
    );
    refused(
        BoxSpec {
            stretch: [0.0, -1.0, 0.0],
            ..good()
        },
        ["box: stretch", "along y"],
    );
    refused(
        BoxSpec {
            stretch: [0.0, 0.0, 50.0],
            ..good()
        },
        ["box: stretch", "along z"],
    );
}

#[test]
fn faces_of_a_box_are_in_lines() {
    let [nx, ny, nz] = [30, 17, 23];
    let mesh = box_mesh(&BoxSpec {
        cells: [nx, ny, nz],
        ..BoxSpec::default()
    })
    .unwrap();
    assert!(places(&mesh).windows(2).all(|w| w[0] < w[1]));
    let distances: Vec<u32> = mesh
        .owner
        .iter()
        .zip(&mesh.neighbour)
        .map(|(o, n)| n - o)
        .collect();
    // Three runs in each of the windows.
    let runs = distances.chunk_by(|a, b| a == b).count();
    assert_eq!(runs, 3 * (nx * ny * nz).div_ceil(4096));
}
