//! Faces as rows, sorted into the mesh's order.

use crate::mesh::build::NO_POINT;
use crate::mesh::{Mesh, Patch};

/// One face while connectivity is made or changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub owner: u32,
    /// Cell on the other side; for a boundary face the position of its patch.
    pub neighbour: u32,
    /// Points; triangles end in [`NO_POINT`].
    pub points: [u32; 4],
    /// See [`Mesh::shift`].
    pub shift: [f64; 3],
}

impl Row {
    pub fn of(mesh: &Mesh, f: usize) -> Self {
        let mut points = [NO_POINT; 4];
        for (to, &from) in points.iter_mut().zip(mesh.face(f)) {
            *to = from;
        }
        Self {
            owner: mesh.owner[f],
            neighbour: mesh.neighbour.get(f).copied().unwrap_or(0),
            points,
            shift: mesh.face_shift(f),
        }
    }

    pub fn points(&self) -> &[u32] {
        let count = if self.points[3] == NO_POINT { 3 } else { 4 };
        &self.points[..count]
    }
}

/// Replaces the faces of `mesh`: interior ones by (owner, neighbour), but for [`in_lines`], then the
/// boundary by (patch, owner); the points break ties. Shifts are kept if the mesh has point classes.
pub(crate) fn set(mesh: &mut Mesh, interior: Vec<Row>, mut boundary: Vec<Row>, names: Vec<String>) {
    let mut interior = by_owner(interior, mesh.cells());
    in_lines(&mut interior);
    boundary.sort_unstable_by_key(|row| (row.neighbour, row.owner, row.points));
    let count = interior.len() + boundary.len();
    mesh.owner = Vec::with_capacity(count);
    mesh.face_ptr = Vec::with_capacity(count + 1);
    mesh.face_ptr.push(0);
    mesh.face_points.clear();
    for row in interior.iter().chain(&boundary) {
        mesh.face_points.extend_from_slice(row.points());
        mesh.face_ptr.push(mesh.face_points.len());
        mesh.owner.push(row.owner);
    }
    mesh.neighbour = interior.iter().map(|row| row.neighbour).collect();
    mesh.shift = if mesh.point_class.is_empty() {
        Vec::new()
    } else {
        interior.iter().map(|row| row.shift).collect()
    };
    let mut start = interior.len();
    mesh.patches = Vec::with_capacity(names.len());
    for (g, name) in names.into_iter().enumerate() {
        let end = interior.len() + boundary.partition_point(|row| row.neighbour as usize <= g);
        mesh.patches.push(Patch {
            name,
            faces: start..end,
        });
        start = end;
    }
}

/// Counting sort by owner, then each owner's few faces by neighbour.
fn by_owner(rows: Vec<Row>, cells: usize) -> Vec<Row> {
    let mut start = vec![0usize; cells + 1];
    for row in &rows {
        start[row.owner as usize + 1] += 1;
    }
    for c in 0..cells {
        start[c + 1] += start[c];
    }
    let mut sorted = rows.clone();
    let mut next = start.clone();
    for row in rows {
        sorted[next[row.owner as usize]] = row;
        next[row.owner as usize] += 1;
    }
    for c in 0..cells {
        sorted[start[c]..start[c + 1]].sort_unstable_by_key(|row| (row.neighbour, row.points));
    }
    sorted
}

/// Owners of one window: enough for lines of cells, few enough that what their faces read stays in
/// the cache.
pub(crate) const WINDOW: u32 = 4096;
/// A distance that this part of a window's cells have to a neighbour is one of a regular mesh.
const COMMON: usize = 8;

/// Puts faces of the same distance between their cells' numbers together, window by window, where
/// the distance is common: rows of such faces then read cells in lines, and rows of cells read such
/// faces in lines. All others stay as they are, behind them.
fn in_lines(rows: &mut [Row]) {
    let distance = |row: &Row| row.neighbour - row.owner;
    let mut all = Vec::new();
    for window in rows.chunk_by_mut(|a, b| a.owner / WINDOW == b.owner / WINDOW) {
        all.clear();
        all.extend(window.iter().map(distance));
        all.sort_unstable();
        let cells = window[window.len() - 1].owner - window[0].owner + 1;
        let common: Vec<u32> = all
            .chunk_by(|a, b| a == b)
            .filter(|same| same.len() * COMMON >= cells as usize)
            .map(|same| same[0])
            .collect();
        window.sort_by_key(|row| common.binary_search(&distance(row)).unwrap_or(common.len()));
    }
}
