//! The numbering of a rank's cells.

use super::share::Share;
use crate::mesh::part::Members;
use crate::mesh::renumber::is_regular;
use crate::mesh::{CellKind, Geometry, cell_graph, locality_order};
use crate::sparse::order::slice_steps;

/// Centres nearer than this part of the mesh's longest side lie in one layer.
const LAYER: f64 = 1e-6;
/// Axes, the slowest first, along which cells are numbered, beside the mesh's own numbering, which in
/// boxes has x as the fastest. Lines that end at the border cost a step in each slice that has such an end: those
/// along an axis that no border cuts do not.
const AXES: [[usize; 3]; 2] = [[2, 0, 1], [1, 0, 2]];

/// Layers beside the border that come last among the inner cells: what border rows read lies together,
/// and so does what is read by those of the next layer that fill the border's first block. (With one
/// layer of tetrahedra a device with memory of its own copies twice as much.)
const LAYERS: u8 = 2;
/// The same of hexahedra in a straight order, whose lines each layer interrupts.
const LAYERS_STRAIGHT: u8 = 1;

/// Inner cells, then those that a neighbour needs, then the halo as it is.
pub(super) fn order(share: &Share) -> Vec<u32> {
    let (mesh, owned) = (&share.mesh, share.owned as u32);
    let depth = depths(share);
    let complete = |mut order: Vec<u32>, layers: u8| {
        order.sort_by_key(|&c| std::cmp::Reverse(depth[c as usize].min(layers + 1)));
        order.extend(owned..mesh.cells() as u32);
        order
    };
    let mut near: Vec<u32> = locality_order(mesh);
    near.retain(|&c| c < owned);
    let near = complete(near, LAYERS);
    if mesh.kinds.iter().any(|k| *k != mesh.kinds[0]) {
        // Rows of like length are together there.
        return near;
    }
    let (row_ptr, cols) = cell_graph(mesh);
    let layers = layers(&Geometry::of(mesh).centre[..share.owned]);
    let steps = |order: &Vec<u32>| slice_steps(&row_ptr, &cols, order);
    let layers_straight = match mesh.kinds[0] {
        CellKind::Hexahedron => LAYERS_STRAIGHT,
        _ => LAYERS,
    };
    let along = AXES.map(|axes| {
        let mut cells: Vec<u32> = (0..owned).collect();
        cells.sort_by_key(|&c| axes.map(|k| layers[c as usize][k]));
        complete(cells, layers_straight)
    });
    let given = complete((0..owned).collect(), layers_straight);
    let straight = std::iter::once(given).chain(along).min_by_key(steps);
    let limit = steps(&near);
    straight
        .filter(|s| is_regular(steps(s), limit, mesh.cells(), cols.len()))
        .unwrap_or(near)
}

/// Sorts the border's cells of each rank along the axis that the border cuts least, for there lines of
/// the rank's own cells are longest: beside a line of these then lies a line of others, and slices of
/// both are alike. What a rank gets from another stays together. (In the numbering of the whole mesh a
/// cell of such a line is beside another layer of others: of a box in four, the
/// matrices take half as much more.)
pub(super) fn straighten(members: &mut [Members], part: &[u32], centres: &[[f64; 3]]) {
    for m in members {
        let of = |list: &[u32]| {
            list.iter()
                .map(|&c| centres[c as usize])
                .collect::<Vec<_>>()
        };
        let (mut own, other) = (of(&m.owned), of(&m.near));
        let beyond = beyond(&own, &other);
        // Of like axes the first: the mesh's own numbering is along it.
        let fastest = (0..3).min_by_key(|&k| beyond[k]);
        let Some(axes) = AXES.into_iter().find(|axes| Some(axes[2]) == fastest) else {
            continue;
        };
        let count = own.len();
        own.extend(other);
        let layers = layers(&own);
        let mut place: Vec<usize> = (0..m.near.len()).collect();
        place.sort_by_key(|&i| {
            let layer = layers[count + i];
            (part[m.near[i] as usize], axes.map(|k| layer[k]))
        });
        m.near = place.into_iter().map(|i| m.near[i]).collect();
    }
}

/// How many of `other` lie outside of the box around `own`, by axis.
fn beyond(own: &[[f64; 3]], other: &[[f64; 3]]) -> [usize; 3] {
    let [low, high] = ends(own);
    let longest = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
    let [low, high] = [
        low.map(|x| x - LAYER * longest),
        high.map(|x| x + LAYER * longest),
    ];
    std::array::from_fn(|k| {
        let outside = |c: &&[f64; 3]| c[k] < low[k] || c[k] > high[k];
        other.iter().filter(outside).count()
    })
}

/// The corners of the box around `centres`.
fn ends(centres: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let along = |k: usize| centres.iter().map(move |c| c[k]);
    [
        std::array::from_fn(|k| along(k).fold(f64::INFINITY, f64::min)),
        std::array::from_fn(|k| along(k).fold(f64::NEG_INFINITY, f64::max)),
    ]
}

/// Steps to the border: 0 at it, 1 and so on beside, `LAYERS + 1` beyond.
fn depths(share: &Share) -> Vec<u8> {
    let mesh = &share.mesh;
    let mut depth = vec![LAYERS + 1; share.owned];
    for step in 0..=LAYERS {
        for (&a, &b) in mesh.owner.iter().zip(&mesh.neighbour) {
            for (c, next) in [(a, b), (b, a)] {
                let reached = match depth.get(next as usize) {
                    Some(&d) => d + 1 == step,
                    None => step == 0,
                };
                if let (true, Some(d)) = (reached, depth.get_mut(c as usize)) {
                    *d = step.min(*d);
                }
            }
        }
    }
    depth
}

/// Places that do not depend on round-off.
fn layers(centres: &[[f64; 3]]) -> Vec<[i64; 3]> {
    let [low, high] = ends(centres);
    let longest = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
    let unit = (LAYER * longest).max(f64::MIN_POSITIVE);
    let place = |c: &[f64; 3]| [0, 1, 2].map(|k| ((c[k] - low[k]) / unit).round() as i64);
    centres.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use crate::cluster::Comm;
    use crate::flow::case::Case;
    use crate::flow::simulation::domain::deal;

    /// Steps per slice of each rank of a box with walls.
    fn steps_of(ranks: usize) -> Vec<f64> {
        let walls = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
        let walls = walls.map(|name| format!("boundary.{name}.type = \"wall\"\n"));
        let text = format!(
            "mesh.box.cells = [40, 40, 40]\nfluid.viscosity = 1\n\
             time = {{ steps = 1, dt = 1e-3 }}\n{}",
            walls.concat()
        );
        let case = Case::parse(&text, Path::new("box.toml"), &[]).expect("a case");
        let steps = |rank| {
            let (share, _) = deal(&case, &Comm::absent(rank, ranks)).expect("a share");
            let order = order(&share);
            let mut all = order.clone();
            all.sort_unstable();
            assert!(all.iter().enumerate().all(|(i, &c)| i == c as usize));
            let (row_ptr, cols) = cell_graph(&share.mesh);
            let steps = slice_steps(&row_ptr, &cols, &order) as f64;
            32.0 * steps / order.len() as f64
        };
        (0..ranks).map(steps).collect()
    }

    /// The half of a box has as few steps as the box: its lines are not cut, and so have quarters, but
    /// for their border rows. (With lines that are, or in the order for locality, there are 8 and 12; of
    /// quarters whose halo is numbered across their lines, 8.9 to 9.6.)
    #[test]
    fn parts_of_a_box_are_as_regular_as_the_box() {
        if cfg!(not(feature = "mpi")) {
            eprintln!("SKIPPED: a build without MPI cannot cut a mesh into parts");
            return;
        }
        for ranks in [2, 4] {
            for (rank, mean) in steps_of(ranks).into_iter().enumerate() {
                assert!(mean < 6.6, "rank {rank} of {ranks}: {mean} steps per slice");
            }
        }
    }

    /// What a rank gets lies in the lines of its own cells: along z in quarters cut across x and y.
    #[test]
    fn halos_follow_the_lines_that_the_border_leaves_whole() {
        let place = |c: u32| [c % 4, c / 4 % 4, c / 16];
        let centres: Vec<[f64; 3]> = (0..48)
            .map(|c| place(c).map(|i| 0.1 * f64::from(i)))
            .collect();
        let part: Vec<u32> = (0..48)
            .map(place)
            .map(|[x, y, _]| x / 2 + 2 * (y / 2))
            .collect();
        let of = |keep: &dyn Fn([u32; 3]) -> bool| (0..48).filter(|&c| keep(place(c))).collect();
        let mut members = [Members {
            owned: of(&|[x, y, _]| x < 2 && y < 2),
            near: [
                of(&|[x, y, _]| x == 2 && y < 2),
                of(&|[x, y, _]| x < 2 && y == 2),
            ]
            .concat(),
            far: Vec::new(),
        }];
        straighten(&mut members, &part, &centres);
        let want = [[2, 0], [2, 1], [0, 2], [1, 2]];
        let want = want.map(|[x, y]| [0, 1, 2].map(|z| x + 4 * y + 16 * z));
        assert_eq!(members[0].near, want.concat());
    }
}
