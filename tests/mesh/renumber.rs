//! Renumbering keeps the mesh, but for its numbers.

use crate::places;
use std::path::Path;

use couloir::mesh::{
    BoxShape, BoxSpec, Geometry, Mesh, box_mesh, check, gmsh, join_periodic, locality_order,
};

fn shuffled(count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    fastrand::Rng::with_seed(11).shuffle(&mut order);
    order
}

fn inverse(order: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        inverse[old as usize] = new as u32;
    }
    inverse
}

fn meshes() -> Vec<Mesh> {
    let mut meshes = vec![
        gmsh::read(Path::new("tests/data/meshes/hybrid_6_41.msh")).unwrap(),
        gmsh::read(Path::new("tests/data/meshes/cube_tet_8_22.msh")).unwrap(),
    ];
    for shape in [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra] {
        let mut mesh = box_mesh(&BoxSpec {
            shape,
            cells: [2, 3, 4],
            stretch: [0.0, 1.0, 0.0],
            ..BoxSpec::default()
        })
        .unwrap();
        join_periodic(&mut mesh, "zmin", "zmax").unwrap();
        meshes.push(mesh.clone());
        join_periodic(&mut mesh, "xmin", "xmax").unwrap();
        meshes.push(mesh);
    }
    meshes
}

/// Sorted (owner, neighbour or patch, |S|, d) of all faces, in the cell numbers of `to`,
/// d seen from the smaller of them.
fn faces(mesh: &Mesh, to: &[u32]) -> Vec<(u32, u32, [i64; 4])> {
    let geometry = Geometry::of(mesh);
    let round = |x: f64| (x * 1e9).round() as i64;
    let mut faces: Vec<_> = (0..mesh.faces())
        .map(|f| {
            let owner = to[mesh.owner[f] as usize];
            let (other, flip) = match mesh.neighbour.get(f) {
                Some(&n) => (to[n as usize], owner > to[n as usize]),
                None => {
                    let patch = mesh.patches.iter().position(|p| p.faces.contains(&f));
                    (1 << 30 | patch.unwrap() as u32, false)
                }
            };
            let d = geometry.d[f].map(|x| round(if flip { -x } else { x }));
            let pair = if flip { (other, owner) } else { (owner, other) };
            (
                pair.0,
                pair.1,
                [round(geometry.face_area[f]), d[0], d[1], d[2]],
            )
        })
        .collect();
    faces.sort_unstable();
    faces
}

#[test]
fn renumbered_meshes_are_the_same_meshes() {
    for (m, mesh) in meshes().into_iter().enumerate() {
        let order = shuffled(mesh.cells());
        let new = mesh.clone().renumber(&order).unwrap();
        let (old_geometry, geometry) = (Geometry::of(&mesh), Geometry::of(&new));
        check(&new, &geometry).unwrap();
        for (c, &old) in order.iter().enumerate() {
            let old = old as usize;
            assert_eq!(new.kinds[c], mesh.kinds[old]);
            assert!(
                (geometry.volume[c] - old_geometry.volume[old]).abs() < 1e-14,
                "mesh {m}"
            );
            assert_eq!(new.cell_ids.get(c), mesh.cell_ids.get(old));
        }
        let same: Vec<u32> = (0..mesh.cells() as u32).collect();
        assert_eq!(faces(&new, &order), faces(&mesh, &same), "mesh {m}");
        let pairs: Vec<_> = new.owner.iter().zip(&new.neighbour).collect();
        assert!(pairs.iter().all(|(o, n)| o < n));
        assert!(places(&new).windows(2).all(|w| w[0] <= w[1]));
        let classes = |mesh: &Mesh| mesh.point_class.iter().max().copied();
        assert_eq!(classes(&new), classes(&mesh));

        let back = new.renumber(&inverse(&order)).unwrap();
        assert_eq!(faces(&back, &same), faces(&mesh, &same), "mesh {m}");
        assert_eq!(back.owner, mesh.owner);
        assert_eq!(back.neighbour, mesh.neighbour);
    }
}

#[test]
fn points_are_numbered_by_first_use() {
    for mesh in meshes() {
        let order = shuffled(mesh.cells());
        let new = mesh.renumber(&order).unwrap();
        let mut highest = None;
        for &v in &new.cell_points {
            assert!(Some(v) <= highest.map_or(Some(0), |h: u32| Some(h + 1)));
            highest = highest.max(Some(v));
        }
    }
}

#[test]
fn locality_groups_cells_by_their_faces_and_brings_neighbours_near() {
    let mesh = gmsh::read(Path::new("tests/data/meshes/hybrid_6_41.msh")).unwrap();
    let mesh = mesh.clone().renumber(&shuffled(mesh.cells())).unwrap();
    let order = locality_order(&mesh);
    let new = mesh.renumber(&order).unwrap();
    let faces: Vec<usize> = new.kinds.iter().map(|k| k.faces().len()).collect();
    let changes = faces.windows(2).filter(|w| w[0] != w[1]).count();
    assert_eq!(changes, 2, "groups of 4, 5 and 6 faces");

    let mesh = gmsh::read(Path::new("tests/data/meshes/cube_tet_8_41.msh")).unwrap();
    let order = locality_order(&mesh);
    let shuffled = mesh.clone().renumber(&shuffled(mesh.cells())).unwrap();
    let new = mesh.renumber(&order).unwrap();
    let reach = |mesh: &Mesh| {
        let pairs = mesh.owner.iter().zip(&mesh.neighbour);
        pairs.map(|(o, n)| (n - o) as usize).max().unwrap()
    };
    assert!(
        4 * reach(&new) < reach(&shuffled),
        "{} {}",
        reach(&new),
        reach(&shuffled)
    );
}

#[test]
fn a_box_numbered_line_by_line_stays_so_and_one_that_is_shuffled_does_not() {
    let of = |shape, cells| {
        let spec = BoxSpec {
            shape,
            cells,
            ..BoxSpec::default()
        };
        box_mesh(&spec).unwrap()
    };
    let given: Vec<u32> = (0..40 * 9 * 7).collect();
    let hexahedra = of(BoxShape::Hexahedra, [40, 9, 7]);
    assert_eq!(locality_order(&hexahedra), given);
    let mixed = shuffled(hexahedra.cells());
    assert_ne!(locality_order(&hexahedra.renumber(&mixed).unwrap()), given);
    // Levels of a large one without sides are rather regular, too.
    let mut large = of(BoxShape::Hexahedra, [8, 96, 96]);
    for axis in ["x", "y", "z"] {
        join_periodic(&mut large, &format!("{axis}min"), &format!("{axis}max")).unwrap();
    }
    let given: Vec<u32> = (0..8 * 96 * 96).collect();
    assert_eq!(locality_order(&large), given);
}

#[test]
fn orders_that_are_no_permutation_are_refused() {
    let mesh = box_mesh(&BoxSpec {
        cells: [2, 1, 1],
        ..BoxSpec::default()
    })
    .unwrap();
    for order in [&[0, 0][..], &[0], &[0, 2], &[0, 1, 1]] {
        let text = mesh.clone().renumber(order).unwrap_err().to_string();
        assert!(text.contains("the 2 cells once"), "{text}");
    }
}
