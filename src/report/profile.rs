//! Cell fields along a line, on any mesh.

use std::collections::HashMap;
use std::path::Path;

use super::write::write_file;
use crate::mesh::Mesh;
use crate::mesh::geometry::{Geometry, add, dot, norm, scale, sub};
use crate::{Error, Result};

/// A straight line, cut into equal parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// First sample, in metres.
    pub from: [f64; 3],
    /// Last sample.
    pub to: [f64; 3],
    /// Number of samples, both ends included.
    pub samples: usize,
}

/// The field at one place of the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<const N: usize> {
    /// Distance from the line's start, in metres.
    pub s_m: f64,
    /// Place, in metres.
    pub at: [f64; 3],
    /// Value; `None` outside the mesh.
    pub value: Option<[f64; N]>,
}

/// What to sample: one value per cell, and what is known on the boundary.
pub struct CellField<'a, const N: usize> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its geometry.
    pub geometry: &'a Geometry,
    /// One value per cell.
    pub values: &'a [[f64; N]],
    /// Value at the centre of boundary face `f`, where one is given (`f` as in the mesh,
    /// from `interior_faces()` on).
    pub boundary: &'a dyn Fn(usize) -> Option<[f64; N]>,
}

/// One value on a line of sight from a cell: where it is, relative to the cell's centre.
struct Near<const N: usize> {
    d: [f64; 3],
    value: [f64; N],
    /// The cell on the other side; `None` for a boundary face.
    cell: Option<usize>,
}

/// Relative weight of the term that makes the least squares solvable where no value lies
/// in some direction (meshes of one layer): the gradient along it is then zero.
const REGULARISE: f64 = 1e-10;

/// A sample this close to a boundary face, relative to the cell's size, is on it.
const ON_FACE: f64 = 1e-6;

/// Values of `field` along `line`.
///
/// `u(x) = <u_k + G_k d_k / 2> + <G_k> <d_k> / 2` with `d_k = x - x_k`, where `<>` is the mean
/// over the cell that contains x and its face neighbours, weighted by `1 / |d_k|^2`, and G_k
/// the least-squares gradient from the neighbours of cell k and its boundary values. Halving
/// G_k d_k cancels the second derivatives of all terms but `<d_k> H <d_k> / 2`, which is zero
/// at centres and halfway between them. Exact for linear fields, second order otherwise. On a
/// boundary face with a value, that value.
///
/// # Errors
/// [`Error::Failure`] if there is not one value per cell.
pub fn along<const N: usize>(field: &CellField<N>, line: &Line) -> Result<Vec<Sample<N>>> {
    let (got, want) = (field.values.len(), field.mesh.cells());
    if got != want {
        let what = format!("a profile got values for {got} of {want} cells");
        return Err(Error::failure(what, "give one value per cell"));
    }
    let mut sampler = Sampler::new(field);
    let parts = line.samples.saturating_sub(1).max(1) as f64;
    let mut start = None;
    let samples = (0..line.samples).map(|i| {
        let part = i as f64 / parts;
        let step = scale(sub(line.to, line.from), part);
        let at = add(line.from, step);
        // The next sample is near this one, so the walk begins here.
        let cell = start
            .and_then(|c| sampler.walk(c, at))
            .or_else(|| sampler.walk(sampler.nearest(at)?, at));
        start = cell.or(start);
        Sample {
            s_m: norm(step),
            at,
            value: cell.map(|c| sampler.value(c, at)),
        }
    });
    Ok(samples.collect())
}

/// Writes `s_m, x_m, y_m, z_m` and the values, named by `names`; samples outside the mesh
/// have empty values.
///
/// # Errors
/// [`Error::Io`].
pub fn write_csv<const N: usize>(
    path: &Path,
    names: &[&str; N],
    samples: &[Sample<N>],
) -> Result<()> {
    write_file(path, |out| {
        writeln!(out, "s_m,x_m,y_m,z_m,{}", names.join(","))?;
        for sample in samples {
            let [x, y, z] = sample.at;
            write!(out, "{:.9},{x:.9},{y:.9},{z:.9}", sample.s_m)?;
            for i in 0..N {
                match sample.value {
                    Some(value) => write!(out, ",{:.9e}", value[i])?,
                    None => write!(out, ",")?,
                }
            }
            writeln!(out)?;
        }
        Ok(())
    })
}

struct Sampler<'a, const N: usize> {
    field: &'a CellField<'a, N>,
    /// Faces of cell `c`: `faces[ptr[c]..ptr[c + 1]]`.
    ptr: Vec<usize>,
    faces: Vec<usize>,
    gradients: HashMap<usize, [[f64; 3]; N]>,
}

impl<'a, const N: usize> Sampler<'a, N> {
    fn new(field: &'a CellField<'a, N>) -> Self {
        let mesh = field.mesh;
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
            field,
            ptr,
            faces,
            gradients: HashMap::new(),
        }
    }

    fn faces_of(&self, cell: usize) -> &[usize] {
        &self.faces[self.ptr[cell]..self.ptr[cell + 1]]
    }

    /// The cell whose centre is nearest.
    fn nearest(&self, at: [f64; 3]) -> Option<usize> {
        let distance = |c: [f64; 3]| dot(sub(c, at), sub(c, at));
        let centres = self.field.geometry.centre.iter().enumerate();
        let nearest = centres.min_by(|a, b| distance(*a.1).total_cmp(&distance(*b.1)));
        nearest.map(|(cell, _)| cell)
    }

    /// How far `at` is outside face `f` of `cell`, and the cell behind that face; periodic
    /// faces are walls here, for the line does not jump.
    fn beyond(&self, cell: usize, f: usize, at: [f64; 3]) -> (f64, Option<usize>) {
        let (mesh, geometry) = (self.field.mesh, self.field.geometry);
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
        for _ in 0..self.field.mesh.cells() {
            let tolerance = ON_FACE * self.size(cell);
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

    fn size(&self, cell: usize) -> f64 {
        self.field.geometry.volume[cell].abs().cbrt()
    }

    fn near(&self, cell: usize) -> Vec<Near<N>> {
        let (mesh, geometry) = (self.field.mesh, self.field.geometry);
        let near = |&f: &usize| {
            let owner = mesh.owner[f] as usize;
            let Some(&neighbour) = mesh.neighbour.get(f) else {
                return Some(Near {
                    d: sub(geometry.face_centre[f], geometry.centre[cell]),
                    value: (self.field.boundary)(f)?,
                    cell: None,
                });
            };
            let (other, d) = match owner == cell {
                true => (neighbour as usize, geometry.d[f]),
                false => (owner, scale(geometry.d[f], -1.0)),
            };
            Some(Near {
                d,
                value: self.field.values[other],
                cell: Some(other),
            })
        };
        self.faces_of(cell).iter().filter_map(near).collect()
    }

    /// G minimising `sum_k |u + G d_k - u_k|^2 / |d_k|^3`: with this weight it is exact for
    /// quadratic fields where neighbours lie opposite each other, at any distances.
    fn gradient(&mut self, cell: usize) -> [[f64; 3]; N] {
        if let Some(known) = self.gradients.get(&cell) {
            return *known;
        }
        let mine = self.field.values[cell];
        let mut matrix = [[0.0; 3]; 3];
        let mut rhs = [[0.0; 3]; N];
        for near in self.near(cell) {
            let weight = 1.0 / norm(near.d).powi(3).max(f64::MIN_POSITIVE);
            for (i, row) in matrix.iter_mut().enumerate() {
                *row = add(*row, scale(near.d, weight * near.d[i]));
            }
            for (n, row) in rhs.iter_mut().enumerate() {
                *row = add(*row, scale(near.d, weight * (near.value[n] - mine[n])));
            }
        }
        let trace: f64 = (0..3).map(|i| matrix[i][i]).sum();
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] += REGULARISE * trace.max(f64::MIN_POSITIVE);
        }
        let gradient = rhs.map(|b| solve(&matrix, b));
        self.gradients.insert(cell, gradient);
        gradient
    }

    fn value(&mut self, cell: usize, at: [f64; 3]) -> [f64; N] {
        let tolerance = ON_FACE * self.size(cell);
        let interior = self.field.mesh.interior_faces();
        for &f in self.faces_of(cell).iter().filter(|&&f| f >= interior) {
            if self.beyond(cell, f, at).0.abs() <= tolerance
                && let Some(value) = (self.field.boundary)(f)
            {
                return value;
            }
        }
        let from_centre = sub(at, self.field.geometry.centre[cell]);
        let mut terms = vec![(cell, from_centre)];
        let near = self.near(cell);
        terms.extend(
            near.iter()
                .filter_map(|n| Some((n.cell?, sub(from_centre, n.d)))),
        );
        let mut value = [0.0; N];
        let mut gradient = [[0.0; 3]; N];
        let (mut weights, mut offset) = (0.0, [0.0; 3]);
        for (cell, d) in terms {
            let (u, g) = (self.field.values[cell], self.gradient(cell));
            // Not quite 1/d^2: at a centre it would be infinite.
            let weight = 1.0 / (dot(d, d) + tolerance * tolerance).max(f64::MIN_POSITIVE);
            weights += weight;
            offset = add(offset, scale(d, weight));
            for n in 0..N {
                value[n] += weight * (u[n] + 0.5 * dot(g[n], d));
                gradient[n] = add(gradient[n], scale(g[n], weight));
            }
        }
        let offset = scale(offset, 1.0 / weights);
        std::array::from_fn(|n| (value[n] + 0.5 * dot(gradient[n], offset)) / weights)
    }
}

/// x of `A x = b` for a symmetric positive definite A (Cramer's rule).
fn solve(a: &[[f64; 3]; 3], b: [f64; 3]) -> [f64; 3] {
    let minor = |i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        a[r][c] * a[s][d] - a[r][d] * a[s][c]
    };
    let determinant: f64 = (0..3).map(|j| a[0][j] * minor(0, j)).sum();
    [0, 1, 2].map(|j| (0..3).map(|i| b[i] * minor(i, j)).sum::<f64>() / determinant)
}
