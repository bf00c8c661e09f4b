//! Connectivity by faces, from cells and named boundary faces.

use crate::mesh::faces::{self, Row};
use crate::mesh::{CellKind, Mesh};
use crate::{Error, Result};

/// Cells by their points, before faces are known.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// Coordinates of the points, in metres.
    pub points: Vec<[f64; 3]>,
    /// Shape of each cell.
    pub kinds: Vec<CellKind>,
    /// Points of the cells one after the other, as many as each shape has.
    pub cell_points: Vec<u32>,
    /// Number of each cell in its file, or empty.
    pub ids: Vec<u64>,
}

/// Boundary faces, each in one group.
#[derive(Clone, Debug, Default)]
pub struct Boundary {
    /// Names of the groups; they become the patches, in this order.
    pub names: Vec<String>,
    /// Points of the faces, in any rotation and either direction; triangles end in
    /// [`NO_POINT`].
    pub faces: Vec<[u32; 4]>,
    /// Group of each face, a position in `names`.
    pub group: Vec<u32>,
}

/// Fills the fourth place of a triangle.
pub const NO_POINT: u32 = u32::MAX;

/// One side of a cell, or a named face (`side` is `NAMED`, `cell` its group).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    /// The face's points but the smallest, ascending.
    rest: [u32; 3],
    side: u8,
    cell: u32,
}

const NAMED: u8 = u8::MAX;

/// Mesh with faces, from cells and the names of their boundary faces.
///
/// Faces are matched by sorting: each side of each cell is filed under its smallest point,
/// and equal sides are neighbours in the sorted list of that point. Time and memory are
/// proportional to the number of sides. `place` (a file, say) starts the messages and becomes
/// [`Mesh::source`].
///
/// # Errors
/// More than two cells at a face, a boundary face without a name or with two, a named face
/// that is inside the mesh or not part of it, more cells than 32-bit numbers can count.
/// Point numbers must be below `cells.points.len()`.
pub fn build(cells: Cells, boundary: &Boundary, place: &str) -> Result<Mesh> {
    let Cells {
        points,
        kinds,
        cell_points,
        ids,
    } = cells;
    let mut mesh = Mesh {
        points,
        cell_ptr: Vec::with_capacity(kinds.len() + 1),
        kinds,
        cell_points,
        cell_ids: ids,
        source: place.into(),
        ..Mesh::default()
    };
    if u32::try_from(mesh.cells() * 6).is_err() || u32::try_from(mesh.points.len() + 1).is_err() {
        return Err(Error::input(
            place,
            format!("{} cells are more than one mesh can hold", mesh.cells()),
            "use a coarser mesh",
        ));
    }
    let mut end = 0;
    mesh.cell_ptr.push(end);
    for kind in &mesh.kinds {
        end += kind.points();
        mesh.cell_ptr.push(end);
    }
    let (start, sides) = sides_by_point(&mesh, boundary);
    let matcher = Matcher {
        mesh: &mesh,
        boundary,
        place,
    };
    let (interior, outer) = matcher.pair(&start, sides)?;
    faces::set(&mut mesh, interior, outer, boundary.names.clone());
    Ok(mesh)
}

/// All sides filed by their smallest point: those of point `v` are
/// `sides[start[v]..start[v + 1]]`, sorted.
fn sides_by_point(mesh: &Mesh, boundary: &Boundary) -> (Vec<usize>, Vec<Side>) {
    let mut start = vec![0usize; mesh.points.len() + 1];
    for_each_side(mesh, boundary, |low, _| start[low as usize + 1] += 1);
    for v in 0..mesh.points.len() {
        start[v + 1] += start[v];
    }
    let empty = Side {
        rest: [0; 3],
        side: 0,
        cell: 0,
    };
    let mut sides = vec![empty; start[mesh.points.len()]];
    let mut next = start.clone();
    for_each_side(mesh, boundary, |low, side| {
        sides[next[low as usize]] = side;
        next[low as usize] += 1;
    });
    for v in 0..mesh.points.len() {
        sides[start[v]..start[v + 1]].sort_unstable();
    }
    (start, sides)
}

fn for_each_side(mesh: &Mesh, boundary: &Boundary, mut file: impl FnMut(u32, Side)) {
    for (c, kind) in mesh.kinds.iter().enumerate() {
        let corners = mesh.cell(c);
        for (s, face) in kind.faces().iter().enumerate() {
            let mut key = [NO_POINT; 4];
            for (k, &corner) in key.iter_mut().zip(*face) {
                *k = corners[corner];
            }
            key.sort_unstable();
            let side = Side {
                rest: [key[1], key[2], key[3]],
                side: s as u8,
                cell: c as u32,
            };
            file(key[0], side);
        }
    }
    for (face, &group) in boundary.faces.iter().zip(&boundary.group) {
        let mut key = *face;
        key.sort_unstable();
        let side = Side {
            rest: [key[1], key[2], key[3]],
            side: NAMED,
            cell: group,
        };
        file(key[0], side);
    }
}

struct Matcher<'a> {
    mesh: &'a Mesh,
    boundary: &'a Boundary,
    place: &'a str,
}

impl Matcher<'_> {
    /// Interior faces, and boundary faces with their group in `neighbour`.
    fn pair(&self, start: &[usize], sides: Vec<Side>) -> Result<(Vec<Row>, Vec<Row>)> {
        let mut interior = Vec::with_capacity(sides.len() / 2);
        let mut outer = Vec::with_capacity(self.boundary.faces.len());
        let mut unnamed = Vec::new();
        for v in 0..self.mesh.points.len() {
            for same in sides[start[v]..start[v + 1]].chunk_by(|a, b| a.rest == b.rest) {
                let of_cells = same.iter().take_while(|side| side.side != NAMED).count();
                let (of_cells, named) = same.split_at(of_cells);
                match (of_cells, named) {
                    // Sorted by side first, so the smaller cell may come second.
                    ([a, b], []) => {
                        let (a, b) = if a.cell < b.cell { (a, b) } else { (b, a) };
                        interior.push(self.row(a, b.cell));
                    }
                    ([a], [name]) => outer.push(self.row(a, name.cell)),
                    ([a], []) => unnamed.push(*a),
                    _ => return Err(self.refuse(v, of_cells, named)),
                }
            }
        }
        match unnamed.first() {
            Some(first) => Err(self.unnamed(unnamed.len(), first)),
            None => Ok((interior, outer)),
        }
    }

    fn row(&self, side: &Side, neighbour: u32) -> Row {
        let corners = self.mesh.cell(side.cell as usize);
        let face = self.mesh.kinds[side.cell as usize].faces()[side.side as usize];
        let mut points = [NO_POINT; 4];
        for (to, &corner) in points.iter_mut().zip(face) {
            *to = corners[corner];
        }
        Row {
            owner: side.cell,
            neighbour,
            points,
            shift: [0.0; 3],
        }
    }

    fn refuse(&self, v: usize, of_cells: &[Side], named: &[Side]) -> Error {
        let [x, y, z] = self.mesh.points[v];
        let at = format!("at the point ({x}, {y}, {z})");
        let name = |side: &Side| match self.boundary.names.get(side.cell as usize) {
            Some(name) => format!("\"{name}\""),
            None => format!("group {}", side.cell),
        };
        let cell = |side: &Side| self.mesh.cell_name(side.cell as usize);
        let mut of_cells = of_cells.to_vec();
        of_cells.sort_unstable_by_key(|side| side.cell);
        if let Some(pair) = of_cells.windows(2).find(|w| self.equal(&w[0], &w[1])) {
            return Error::input(
                self.place,
                format!(
                    "{} and {} are the same cell {at}",
                    cell(&pair[0]),
                    cell(&pair[1])
                ),
                "list each cell once, in one physical group",
            );
        }
        let (what, remedy) = match (of_cells.as_slice(), named) {
            ([], [first, ..]) => (
                format!("a face of {} {at} is not a side of any cell", name(first)),
                "export the volume elements with the surfaces, all of one mesh",
            ),
            ([_], [a, b, ..]) if a.cell == b.cell => (
                format!("a face of {} {at} is listed twice", name(a)),
                "list each boundary face once",
            ),
            ([_], [a, b, ..]) => (
                format!(
                    "a boundary face {at} has two names, {} and {}",
                    name(a),
                    name(b)
                ),
                "put each surface in one physical group only",
            ),
            ([a, b], [first, ..]) => (
                format!(
                    "a face of {} {at} lies inside the mesh, between {} and {}",
                    name(first),
                    cell(a),
                    cell(b)
                ),
                "take inner surfaces out of the physical groups",
            ),
            _ => (
                format!(
                    "{} cells share one face {at}: {}",
                    of_cells.len(),
                    of_cells
                        .iter()
                        .take(4)
                        .map(cell)
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
                "mesh the geometry again, without overlapping cells",
            ),
        };
        Error::input(self.place, what, remedy)
    }

    /// Whether two sides are of cells with the same points.
    fn equal(&self, a: &Side, b: &Side) -> bool {
        let sorted = |side: &Side| {
            let mut points = self.mesh.cell(side.cell as usize).to_vec();
            points.sort_unstable();
            points
        };
        sorted(a) == sorted(b)
    }

    fn unnamed(&self, count: usize, first: &Side) -> Error {
        let corners = self.mesh.cell(first.cell as usize);
        let kind = self.mesh.kinds[first.cell as usize];
        let face = kind.faces()[first.side as usize];
        let mut centre = [0.0; 3];
        for &corner in face {
            let x = self.mesh.points[corners[corner] as usize];
            for k in 0..3 {
                centre[k] += x[k] / face.len() as f64;
            }
        }
        let [x, y, z] = centre;
        Error::input(
            self.place,
            format!(
                "{count} boundary faces have no name; the first is a side of {} at ({x:.6}, {y:.6}, {z:.6})",
                self.mesh.cell_name(first.cell as usize)
            ),
            "put every boundary surface in a named physical surface; if all are, \
             cells do not meet face to face there",
        )
    }
}
