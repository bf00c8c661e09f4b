//! The numbering of a rank's cells.

use super::share::Share;
use crate::mesh::{Geometry, cell_graph, locality_order};
use crate::sparse::order::slice_steps;

/// Centres nearer than this part of the mesh's longest side lie in one layer.
const LAYER: f64 = 1e-6;
/// Axes, the slowest first, along which regular cells are numbered; the mesh's own numbering has x as
/// the fastest. Lines that end at the border cost a step in each slice that has such an end: those
/// along an axis that no border cuts do not.
const AXES: [[usize; 3]; 2] = [[2, 0, 1], [1, 0, 2]];

/// Inner cells, then those that a neighbour needs, then the halo as it is. Cells beside the border
/// come last among the inner ones: what border rows read lies together.
pub(super) fn order(share: &Share) -> Vec<u32> {
    let (mesh, owned) = (&share.mesh, share.owned as u32);
    let depth = depths(share);
    let complete = |mut order: Vec<u32>| {
        order.sort_by_key(|&c| std::cmp::Reverse(depth[c as usize]));
        order.extend(owned..mesh.cells() as u32);
        order
    };
    let mut near: Vec<u32> = locality_order(mesh);
    near.retain(|&c| c < owned);
    // Of cells that keep their numbers the steps are few: they are regular.
    let is_regular = near.is_sorted();
    let near = complete(near);
    if !is_regular {
        return near;
    }
    let (row_ptr, cols) = cell_graph(mesh);
    let layers = layers(&Geometry::of(mesh).centre[..share.owned]);
    let along = AXES.map(|axes| {
        let mut cells: Vec<u32> = (0..owned).collect();
        cells.sort_by_key(|&c| axes.map(|k| layers[c as usize][k]));
        complete(cells)
    });
    let all = std::iter::once(near).chain(along);
    all.min_by_key(|order| slice_steps(&row_ptr, &cols, order))
        .unwrap_or_default()
}

/// Steps to the border: 0 at it, 1 beside, 2 beyond.
fn depths(share: &Share) -> Vec<u8> {
    let mesh = &share.mesh;
    let mut depth = vec![2u8; share.owned];
    for step in 0..2 {
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
    let ends = |k: usize| {
        let along = || centres.iter().map(|c| c[k]);
        let low = along().fold(f64::INFINITY, f64::min);
        [low, along().fold(f64::NEG_INFINITY, f64::max)]
    };
    let ends = [0, 1, 2].map(ends);
    let longest = ends.iter().map(|[a, b]| b - a).fold(0.0, f64::max);
    let unit = (LAYER * longest).max(f64::MIN_POSITIVE);
    let place = |c: &[f64; 3]| [0, 1, 2].map(|k| ((c[k] - ends[k][0]) / unit).round() as i64);
    centres.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use crate::cluster::Comm;
    use crate::flow::case::Case;
    use crate::flow::simulation::domain::deal;

    /// Straight parts of a box have as few steps as the box: lines are not cut.
    #[test]
    fn parts_of_a_box_are_as_regular_as_the_box() {
        let walls = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
        let walls = walls.map(|name| format!("boundary.{name}.type = \"wall\"\n"));
        let text = format!(
            "mesh.box.cells = [40, 40, 40]\nfluid.viscosity = 1\n\
             time = {{ steps = 1, dt = 1e-3 }}\n{}",
            walls.concat()
        );
        let case = Case::parse(&text, Path::new("box.toml"), &[]).expect("a case");
        for (ranks, most) in [(2, 6.6), (4, 7.0)] {
            let share = deal(&case, &Comm::absent(0, ranks)).expect("a share");
            let order = order(&share);
            let mut all = order.clone();
            all.sort_unstable();
            assert!(all.iter().enumerate().all(|(i, &c)| i == c as usize));
            let (row_ptr, cols) = cell_graph(&share.mesh);
            let steps = slice_steps(&row_ptr, &cols, &order) as f64;
            let mean = 32.0 * steps / order.len() as f64;
            assert!(mean < most, "{ranks} ranks: {mean} steps per slice");
        }
    }
}
