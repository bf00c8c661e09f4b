//! From cell to cell towards a place.

use super::Mesh;
use super::geometry::{Geometry, dot, sub};

/// A place this close to a boundary face, relative to the cell's size, is on it.
const ON_FACE: f64 = 1e-6;

/// A mesh with the faces of each cell.
pub(super) struct Walker<'a> {
    pub mesh: &'a Mesh,
    pub geometry: &'a Geometry,
    /// Faces of cell `c`: `faces[ptr[c]..ptr[c + 1]]`.
    ptr: Vec<usize>,
    faces: Vec<usize>,
}

impl<'a> Walker<'a> {
    pub fn new(mesh: &'a Mesh, geometry: &'a Geometry) -> Self {
        let sides = || {
            let owners = mesh.owner.iter().enumerate();
            owners.chain(mesh.neighbour.iter().enumerate())
        };
        let mut ptr = vec![0; mesh.cells() + 1];
        for (_, &cell) in sides() {
            ptr[cell as usize + 1] += 1;
        }
        for c in 0..mesh.cells() {
            ptr[c + 1] += ptr[c];
        }
        let mut next = ptr.clone();
        let mut faces = vec![0; mesh.owner.len() + mesh.neighbour.len()];
        for (face, &cell) in sides() {
            faces[next[cell as usize]] = face;
            next[cell as usize] += 1;
        }
        Self {
            mesh,
            geometry,
            ptr,
            faces,
        }
    }

    pub fn faces_of(&self, cell: usize) -> &[usize] {
        &self.faces[self.ptr[cell]..self.ptr[cell + 1]]
    }

    /// How far a place may be beyond a face of `cell` and be on it, m.
    pub fn tolerance(&self, cell: usize) -> f64 {
        ON_FACE * self.geometry.volume[cell].abs().cbrt()
    }

    /// The cell that contains `at`, sought from `start` and then from the nearest centre.
    pub fn find(&self, at: [f64; 3], start: Option<usize>) -> Option<usize> {
        start
            .and_then(|c| self.walk(c, at))
            .or_else(|| self.walk(self.nearest(at)?, at))
    }

    /// Boundary faces of `cell` that `at` lies on.
    pub fn boundary_at(&self, cell: usize, at: [f64; 3]) -> impl Iterator<Item = usize> {
        let (tolerance, interior) = (self.tolerance(cell), self.mesh.interior_faces());
        let faces = self.faces_of(cell).iter().copied();
        let on = move |f: &usize| self.beyond(cell, *f, at).0.abs() <= tolerance;
        faces.filter(move |&f| f >= interior).filter(on)
    }

    /// The cell whose centre is nearest.
    fn nearest(&self, at: [f64; 3]) -> Option<usize> {
        let distance = |c: [f64; 3]| dot(sub(c, at), sub(c, at));
        let centres = self.geometry.centre.iter().enumerate();
        let nearest = centres.min_by(|a, b| distance(*a.1).total_cmp(&distance(*b.1)));
        nearest.map(|(cell, _)| cell)
    }

    /// How far `at` is outside face `f` of `cell`, and the cell behind that face; periodic
    /// faces are walls here, for a line does not jump.
    fn beyond(&self, cell: usize, f: usize, at: [f64; 3]) -> (f64, Option<usize>) {
        let (mesh, geometry) = (self.mesh, self.geometry);
        let out = dot(geometry.face_normal[f], sub(at, geometry.face_centre[f]));
        let owner = mesh.owner[f] as usize;
        let Some(&neighbour) = mesh.neighbour.get(f) else {
            return (out, None);
        };
        let inside = mesh.face_shift(f) == [0.0; 3];
        if owner == cell {
            (out, inside.then_some(neighbour as usize))
        } else {
            // Seen from the neighbour's side, the face's centre is the owner's one, shifted.
            let out = out + dot(geometry.face_normal[f], mesh.face_shift(f));
            (-out, inside.then_some(owner))
        }
    }

    /// From `cell` through the face that `at` is farthest beyond, until a cell contains it.
    fn walk(&self, mut cell: usize, at: [f64; 3]) -> Option<usize> {
        // Warped cells could send the walk in circles.
        for _ in 0..self.mesh.cells() {
            let tolerance = self.tolerance(cell);
            let mut worst = (tolerance, None);
            let mut outside = false;
            for &f in self.faces_of(cell) {
                let (out, behind) = self.beyond(cell, f, at);
                outside |= out > tolerance;
                if out > worst.0 && behind.is_some() {
                    worst = (out, behind);
                }
            }
            if !outside {
                return Some(cell);
            }
            cell = worst.1?;
        }
        None
    }
}
