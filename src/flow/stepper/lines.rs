//! Where the fluxes of faces are stored.
//!
//! In a mesh boundary faces follow all others, so that a line of n cells has n - 1 faces in line: behind
//! its end the distance between the numbers of a cell and of its face is another one, and a slice of cells
//! there reads faces at two distances and at the boundary. Here a boundary face of the last cell stands
//! where the line's next face would, so that cells and faces keep their distance. The order of faces is
//! the stepper's own business: what it tells is in the mesh's.

use std::collections::HashMap;

use crate::flow::operators::{Operators, Scheme};
use crate::mesh::FACE_WINDOW;
use crate::sparse::Csr;

/// The place of each face, one by one.
pub(super) struct Places(Vec<u32>);

impl Places {
    /// As the kernels of the scheme read them fastest.
    pub fn new(ops: &Operators) -> Self {
        let mut places: Vec<u32> = (0..ops.faces as u32).collect();
        if ops.scheme == Scheme::SymmetryPreserving {
            for (place, face) in in_lines(ops).into_iter().enumerate() {
                places[face as usize] = place as u32;
            }
        }
        Self(places)
    }

    /// Of face `f`.
    pub fn of(&self, f: usize) -> usize {
        self.0[f] as usize
    }

    /// The values of all faces in their order.
    pub fn values<T: Copy>(&self, stored: &[T]) -> Vec<T> {
        self.0.iter().map(|&place| stored[place as usize]).collect()
    }

    /// `a`, whose columns are faces.
    pub fn columns(&self, a: &Csr) -> Csr {
        Csr::from_rows(a.rows, a.cols, |i, row| {
            row.extend(a.row(i).map(|(f, v)| (self.0[f], v)));
        })
    }

    /// The face at each place.
    pub fn faces(&self) -> Vec<u32> {
        let mut faces = vec![0; self.0.len()];
        for (f, &place) in self.0.iter().enumerate() {
            faces[place as usize] = f as u32;
        }
        faces
    }
}

/// The faces inside, where those of most cells of a window follow each other at one distance with a boundary
/// face of each cell that has none there; then all other boundary faces.
fn in_lines(ops: &Operators) -> Vec<u32> {
    let (flux, inside) = (&ops.pressure_flux, ops.interior_faces);
    let mut outside: HashMap<u32, Vec<u32>> = HashMap::new();
    for (b, &cell) in ops.boundary.owner.iter().enumerate().rev() {
        outside.entry(cell).or_default().push((inside + b) as u32);
    }
    let window = |f: u32| owner(flux, f) / FACE_WINDOW;
    let in_line = |&a: &u32, &b: &u32| {
        window(a) == window(b)
            && neighbour(flux, a) + owner(flux, b) == neighbour(flux, b) + owner(flux, a)
    };
    let mut order = Vec::with_capacity(inside + ops.boundary.len());
    let all: Vec<u32> = (0..inside as u32).collect();
    for line in all.chunk_by(in_line) {
        let start = window(line[0]) * FACE_WINDOW;
        let cells = start..(start + FACE_WINDOW).min(ops.cells as u32);
        if 2 * line.len() < cells.len() {
            order.extend_from_slice(line);
            continue;
        }
        let mut next = line.iter().peekable();
        for cell in cells {
            let before = order.len();
            // Two cells may have more than one face in common.
            while let Some(&f) = next.next_if(|&&f| owner(flux, f) == cell) {
                order.push(f);
            }
            if order.len() == before {
                order.extend(outside.get_mut(&cell).and_then(Vec::pop));
            }
        }
        order.extend(next);
    }
    let mut rest: Vec<u32> = outside.into_values().flatten().collect();
    rest.sort_unstable();
    order.extend(rest);
    order
}

/// The cell that face `f` is an outer one of: the first column of its row.
fn owner(flux: &Csr, f: u32) -> u32 {
    flux.col[flux.row_ptr[f as usize]]
}

/// The cell behind it.
fn neighbour(flux: &Csr, f: u32) -> u32 {
    flux.col[flux.row_ptr[f as usize + 1] - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::boundary::FaceKind;
    use crate::mesh::{BoxShape, BoxSpec, Geometry, box_mesh, join_periodic};

    fn operators(shape: BoxShape, cells: [usize; 3], scheme: Scheme) -> Operators {
        let mut mesh = box_mesh(&BoxSpec {
            shape,
            cells,
            ..BoxSpec::default()
        })
        .unwrap();
        if cells[0] == 2 {
            join_periodic(&mut mesh, "xmin", "xmax").unwrap();
        }
        let kinds = vec![FaceKind::Dirichlet; mesh.faces() - mesh.interior_faces()];
        Operators::build(&mesh, &Geometry::of(&mesh), &kinds, scheme).unwrap()
    }

    #[test]
    fn every_face_has_a_place_and_matrices_follow() {
        // Two cells in a period have two faces in common.
        for (shape, cells) in [
            (BoxShape::Hexahedra, [17, 9, 5]),
            (BoxShape::Tetrahedra, [17, 9, 5]),
            (BoxShape::Hexahedra, [2, 9, 5]),
        ] {
            let ops = operators(shape, cells, Scheme::SymmetryPreserving);
            let places = Places::new(&ops);
            let mut all: Vec<usize> = (0..ops.faces).map(|f| places.of(f)).collect();
            let stored: Vec<f64> = places.faces().into_iter().map(f64::from).collect();
            let want: Vec<f64> = (0..ops.faces).map(|f| f as f64).collect();
            assert_eq!(places.values(&stored), want, "{shape:?}");
            all.sort_unstable();
            assert!(all.into_iter().eq(0..ops.faces), "{shape:?}");
            // M F_0 is the same but for the order of each sum.
            let faces = places.faces();
            let flux = Csr::from_rows(ops.faces, ops.cells, |i, row| {
                let entries = ops.pressure_flux.row(faces[i] as usize);
                row.extend(entries.map(|(j, v)| (j as u32, v)));
            });
            let product = places.columns(&ops.divergence).product(&flux);
            for i in 0..ops.cells {
                for (j, v) in product.row(i) {
                    let off = (v + ops.laplacian.get(i, j)).abs();
                    assert!(off < 1e-12, "{shape:?} {i} {j}");
                }
            }
        }
    }

    /// Of a box of two windows, in the first: the face of a cell in x, y or z is as far from it as that of any
    /// other cell there, at the end of a line, too.
    #[test]
    fn cells_and_their_faces_keep_their_distance_at_walls() {
        let n = [21, 10, 30];
        let ops = operators(BoxShape::Hexahedra, n, Scheme::SymmetryPreserving);
        let places = Places::new(&ops);
        let divergence = places.columns(&ops.divergence);
        let window = FACE_WINDOW as usize;
        assert!(ops.cells > window);
        let mut lines = vec![Vec::new(); 3];
        for i in 0..window {
            // Faces that the cell is an outer one of, or at the wall: those with flux out.
            let out = divergence.row(i).filter(|(_, sign)| *sign > 0.0);
            for (line, f) in out.map(|(f, _)| f).filter(|&f| f < 3 * window).enumerate() {
                lines[line].push(f - i);
            }
        }
        for (line, distances) in lines.iter().enumerate() {
            let first = distances[0];
            assert_eq!(distances.len(), window, "line {line}");
            assert!(distances.iter().all(|&d| d == first), "line {line}");
        }
    }

    #[test]
    fn faces_of_the_consistent_scheme_stay_where_they_are() {
        let ops = operators(BoxShape::Prisms, [5, 4, 3], Scheme::Consistent);
        let places = Places::new(&ops);
        assert!((0..ops.faces).all(|f| places.of(f) == f));
    }
}
