//! Gmsh files: all formats, all errors, and mutations that must not panic.

use std::path::{Path, PathBuf};

use couloir::mesh::{CellKind, Geometry, Mesh, check, gmsh};

fn path(name: &str) -> PathBuf {
    Path::new("tests/data/meshes").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn count(mesh: &Mesh, kind: CellKind) -> usize {
    mesh.kinds.iter().filter(|&&k| k == kind).count()
}

fn volume(mesh: &Mesh) -> f64 {
    Geometry::of(mesh).volume.iter().sum()
}

fn area(mesh: &Mesh, name: &str) -> f64 {
    let geometry = Geometry::of(mesh);
    geometry.face_area[mesh.patch(name).unwrap().faces.clone()]
        .iter()
        .sum()
}

fn names(mesh: &Mesh) -> Vec<&str> {
    mesh.patches.iter().map(|p| p.name.as_str()).collect()
}

#[test]
fn the_four_formats_give_the_same_mesh() {
    let first = gmsh::read(&path("cube_tet_8_22.msh")).unwrap();
    assert_eq!(count(&first, CellKind::Tetrahedron), 3630);
    assert_eq!(first.cells(), 3630);
    assert_eq!(names(&first), ["lid", "walls"]);
    assert!((volume(&first) - 1.0).abs() < 1e-12);
    assert!((area(&first, "lid") - 1.0).abs() < 1e-12);
    assert!((area(&first, "walls") - 5.0).abs() < 1e-12);
    let binary = gmsh::read(&path("cube_tet_8_22b.msh")).unwrap();
    assert_same(&first, &binary, 1e-15);
    let new = gmsh::read(&path("cube_tet_8_41.msh")).unwrap();
    let new_binary = gmsh::read(&path("cube_tet_8_41b.msh")).unwrap();
    assert_same(&new, &new_binary, 1e-15);
    // The same cells, in the same order; only the points are numbered otherwise.
    assert_eq!(new.cells(), first.cells());
    assert_eq!(new.faces(), first.faces());
    let centres = |mesh: &Mesh| Geometry::of(mesh).centre.concat();
    for (a, b) in centres(&first).iter().zip(centres(&new)) {
        assert!((a - b).abs() < 1e-12);
    }
}

fn assert_same(a: &Mesh, b: &Mesh, tolerance: f64) {
    assert_eq!(a.kinds, b.kinds);
    assert_eq!(a.cell_points, b.cell_points);
    assert_eq!(a.face_points, b.face_points);
    assert_eq!(a.owner, b.owner);
    assert_eq!(a.neighbour, b.neighbour);
    assert_eq!(a.patches, b.patches);
    assert_eq!(a.cell_ids, b.cell_ids);
    assert_eq!(a.points.len(), b.points.len());
    for (x, y) in a.points.iter().flatten().zip(b.points.iter().flatten()) {
        assert!((x - y).abs() <= tolerance);
    }
}

#[test]
fn hybrid_and_prismatic_meshes_have_their_cells_and_areas() {
    for name in ["hybrid_6_22.msh", "hybrid_6_41.msh"] {
        let mesh = gmsh::read(&path(name)).unwrap();
        let counts = CellKind::ALL.map(|kind| count(&mesh, kind));
        assert_eq!(counts, [630, 36, 270, 108], "{name}");
        assert!((volume(&mesh) - 1.25).abs() < 1e-12);
        assert!((area(&mesh, "lid") - 1.0).abs() < 1e-12);
        assert!((area(&mesh, "walls") - 6.0).abs() < 1e-12);
    }
    for (name, cells) in [
        ("cavity_prism_24_22.msh", 1460),
        ("cavity_prism_48_41.msh", 5714),
    ] {
        let mesh = gmsh::read(&path(name)).unwrap();
        assert_eq!(count(&mesh, CellKind::Prism), cells);
        assert_eq!(mesh.cells(), cells);
        assert!((volume(&mesh) - 0.1).abs() < 1e-12);
        assert_eq!(names(&mesh), ["lid", "walls", "frontAndBack"]);
        assert!((area(&mesh, "lid") - 0.1).abs() < 1e-12);
        assert!((area(&mesh, "frontAndBack") - 2.0).abs() < 1e-12);
    }
}

#[test]
fn the_finer_cube_reads_quickly() {
    let start = std::time::Instant::now();
    let mesh = gmsh::read(&path("cube_tet_20_41.msh")).unwrap();
    assert!(start.elapsed().as_secs_f64() < 5.0);
    assert_eq!(mesh.cells(), 35_526);
    assert!((volume(&mesh) - 1.0).abs() < 1e-12);
}

/// Turns the numbers of a little-endian MSH 2.2 file around.
fn big_endian(file: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    let find = |from: usize, what: &[u8]| {
        from + file[from..]
            .windows(what.len())
            .position(|w| w == what)
            .unwrap()
    };
    let flip = |out: &mut Vec<u8>, at: &mut usize, size: usize| {
        out.extend(file[*at..*at + size].iter().rev());
        *at += size;
    };
    let copy = |out: &mut Vec<u8>, at: &mut usize, to: usize| {
        out.extend_from_slice(&file[*at..to]);
        *at = to;
    };
    copy(&mut out, &mut at, find(0, b"2.2 1 8\n") + 8);
    flip(&mut out, &mut at, 4);
    let nodes = find(at, b"$Nodes\n1018\n") + 12;
    copy(&mut out, &mut at, nodes);
    for _ in 0..1018 {
        flip(&mut out, &mut at, 4);
        (0..3).for_each(|_| flip(&mut out, &mut at, 8));
    }
    let head = find(at, b"$Elements\n") + 10;
    copy(&mut out, &mut at, find(head, b"\n") + 1);
    let end = file.len() - b"\n$EndElements\n".len();
    while at < end {
        flip(&mut out, &mut at, 4);
    }
    copy(&mut out, &mut at, file.len());
    out
}

#[test]
fn big_endian_files_read_the_same() {
    let little = bytes("cube_tet_8_22b.msh");
    let big = big_endian(&little);
    assert_ne!(little, big);
    let (little, big) = (
        gmsh::parse(&little, "a").unwrap(),
        gmsh::parse(&big, "b").unwrap(),
    );
    assert_same(&little, &big, 0.0);
}

#[test]
fn every_file_but_the_broken_one_passes_the_check() {
    let mut passed = 0;
    for entry in std::fs::read_dir("tests/data/meshes").unwrap() {
        let path = entry.unwrap().path();
        let mesh = gmsh::read(&path).unwrap();
        let good = check(&mesh, &Geometry::of(&mesh)).is_ok();
        assert_eq!(good, !path.ends_with("broken_hybrid_8_41.msh"), "{path:?}");
        passed += usize::from(good);
    }
    assert_eq!(passed, 9);
}
