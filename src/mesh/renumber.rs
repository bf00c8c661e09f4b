//! Numbering of cells, faces and points for locality.

use crate::kernel::SLICE;
use crate::mesh::Mesh;
use crate::mesh::build::NO_POINT;
use crate::mesh::faces::{self, Row};
use crate::mesh::geometry::{norm, sub};
use crate::sparse::order::{by_length_then, reverse_cuthill_mckee, slice_steps};
use crate::{Error, Result};

/// New order of the cells, `order[new] = old`: cells with the same number of faces are
/// together, so that rows of a matrix have few lengths, and within them by reverse
/// Cuthill-McKee, so that neighbours are near; or as they were where that is more regular, as in a
/// box numbered line by line.
pub fn locality_order(mesh: &Mesh) -> Vec<u32> {
    let (row_ptr, cols) = cell_graph(mesh);
    let faces: Vec<u32> = mesh.kinds.iter().map(|k| k.faces().len() as u32).collect();
    let given: Vec<u32> = (0..mesh.cells() as u32).collect();
    let given = by_length_then(&faces, &given);
    let near = by_length_then(&faces, &reverse_cuthill_mckee(&row_ptr, &cols));
    let steps = |order: &[u32]| slice_steps(&row_ptr, &cols, order);
    if is_regular(steps(&given), steps(&near), mesh.cells(), cols.len()) {
        given
    } else {
        near
    }
}

/// Part of the [steps](slice_steps) of the order for locality that shows a regular order...
const REGULAR: f64 = 0.75;
/// ...as do so many per slice and neighbour of a cell, if they are fewer: levels of large boxes are
/// rather regular, too (111^3 hexahedra 8.7 steps in a slice, line by line 6.6), but not alike.
const REGULAR_EACH: f64 = 1.5;

/// Whether an order with so many [steps](slice_steps) is regular, beside one for locality with as many
/// as `near`, on so many cells with so many neighbours in all.
pub(crate) fn is_regular(steps: usize, near: usize, cells: usize, neighbours: usize) -> bool {
    let per_slice = SLICE as f64 * steps as f64 / cells as f64;
    let each = neighbours as f64 / cells as f64;
    let few = steps < near && per_slice < REGULAR_EACH * each;
    few || (steps as f64) < REGULAR * near as f64
}

/// Neighbours of each cell through its interior faces: `cols[row_ptr[c]..row_ptr[c + 1]]`.
pub fn cell_graph(mesh: &Mesh) -> (Vec<usize>, Vec<u32>) {
    let cells = mesh.cells();
    let mut row_ptr = vec![0usize; cells + 1];
    let pairs = || mesh.owner.iter().zip(&mesh.neighbour);
    for (&o, &n) in pairs() {
        row_ptr[o as usize + 1] += 1;
        row_ptr[n as usize + 1] += 1;
    }
    for c in 0..cells {
        row_ptr[c + 1] += row_ptr[c];
    }
    let mut cols = vec![0; row_ptr[cells]];
    let mut next = row_ptr.clone();
    for (&o, &n) in pairs() {
        for (row, col) in [(o, n), (n, o)] {
            cols[next[row as usize]] = col;
            next[row as usize] += 1;
        }
    }
    (row_ptr, cols)
}

/// `new[old]` of `order[new] = old`, if that is a permutation of `0..count`.
fn inverse(order: &[u32], count: usize) -> Option<Vec<u32>> {
    let mut new = vec![u32::MAX; count];
    for (to, &from) in order.iter().enumerate() {
        let slot = new.get_mut(from as usize)?;
        if *slot != u32::MAX {
            return None;
        }
        *slot = to as u32;
    }
    (order.len() == count).then_some(new)
}

impl Mesh {
    /// The same mesh with `new cell i = old cell cell_order[i]`. Faces are sorted anew and
    /// turned where the smaller cell number changes sides; points are numbered by first use.
    ///
    /// # Errors
    /// `cell_order` is not a permutation of the cells.
    pub fn renumber(self, cell_order: &[u32]) -> Result<Self> {
        let Some(new_cell) = inverse(cell_order, self.cells()) else {
            return Err(Error::failure(
                format!(
                    "an order of {} cells does not name each of the {} cells once",
                    cell_order.len(),
                    self.cells()
                ),
                "give a permutation of the cells",
            ));
        };
        let new_point = points_by_first_use(&self, cell_order);
        let row = |f: usize| {
            let mut row = Row::of(&self, f);
            row.owner = new_cell[row.owner as usize];
            if f < self.interior_faces() {
                row.neighbour = new_cell[row.neighbour as usize];
            }
            if f < self.interior_faces() && row.owner > row.neighbour {
                row = seen_from_neighbour(&self, f, row);
            }
            for v in row.points.iter_mut().filter(|v| **v != NO_POINT) {
                *v = new_point[*v as usize];
            }
            row
        };
        let interior = (0..self.interior_faces()).map(row).collect();
        let mut boundary = Vec::with_capacity(self.faces() - self.interior_faces());
        for (p, patch) in self.patches.iter().enumerate() {
            boundary.extend(patch.faces.clone().map(|f| Row {
                neighbour: p as u32,
                ..row(f)
            }));
        }
        let names = self.patches.iter().map(|p| p.name.clone()).collect();

        let mut mesh = Self {
            points: self.points.clone(),
            kinds: cell_order.iter().map(|&c| self.kinds[c as usize]).collect(),
            cell_ptr: vec![0],
            point_class: classes(&self.point_class, &new_point),
            cell_ids: cell_order
                .iter()
                .filter_map(|&c| self.cell_ids.get(c as usize).copied())
                .collect(),
            source: self.source.clone(),
            ..Self::default()
        };
        for (&x, &v) in self.points.iter().zip(&new_point) {
            mesh.points[v as usize] = x;
        }
        for &c in cell_order {
            let points = self.cell(c as usize).iter();
            mesh.cell_points
                .extend(points.map(|&v| new_point[v as usize]));
            mesh.cell_ptr.push(mesh.cell_points.len());
        }
        faces::set(&mut mesh, interior, boundary, names);
        Ok(mesh)
    }
}

/// `new[old]` of the points; those that no cell uses come last.
fn points_by_first_use(mesh: &Mesh, cell_order: &[u32]) -> Vec<u32> {
    let mut new = vec![NO_POINT; mesh.points.len()];
    let mut count = 0;
    let in_cells = cell_order.iter().flat_map(|&c| mesh.cell(c as usize));
    let all = 0..mesh.points.len() as u32;
    for v in in_cells.copied().chain(all) {
        if new[v as usize] == NO_POINT {
            new[v as usize] = count;
            count += 1;
        }
    }
    new
}

/// Interior face `f` (already in new cell numbers, as `row`) with its sides exchanged. Of a
/// periodic pair the points then are those on the other side: of the same class, nearest to
/// where the shift puts them.
pub(super) fn seen_from_neighbour(mesh: &Mesh, f: usize, row: Row) -> Row {
    let mut points = row.points;
    let count = row.points().len();
    if !mesh.point_class.is_empty() && row.shift != [0.0; 3] {
        let beyond = mesh.cell(mesh.neighbour[f] as usize);
        for v in &mut points[..count] {
            let class = mesh.point_class[*v as usize];
            let target = sub(mesh.points[*v as usize], row.shift);
            let away = |q: u32| norm(sub(mesh.points[q as usize], target));
            let partner = beyond
                .iter()
                .copied()
                .filter(|&q| mesh.point_class[q as usize] == class)
                .min_by(|&p, &q| away(p).total_cmp(&away(q)));
            *v = partner.unwrap_or(*v);
        }
    }
    points[..count].reverse();
    Row {
        owner: row.neighbour,
        neighbour: row.owner,
        points,
        shift: row.shift.map(|x| -x),
    }
}

/// Classes of the points in their new order, counted by first points again.
fn classes(point_class: &[u32], new_point: &[u32]) -> Vec<u32> {
    let mut moved = vec![0; point_class.len()];
    for (&class, &v) in point_class.iter().zip(new_point) {
        moved[v as usize] = class;
    }
    let mut number = vec![u32::MAX; point_class.len()];
    let mut count = 0;
    for class in &mut moved {
        let slot = &mut number[*class as usize];
        if *slot == u32::MAX {
            *slot = count;
            count += 1;
        }
        *class = *slot;
    }
    moved
}
