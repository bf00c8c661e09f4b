//! Cell fields along a line, on any mesh, which need not be kept for it.

use std::collections::HashMap;

use super::Mesh;
use super::geometry::{Geometry, add, dot, norm, scale, sub};
use super::walk::Walker;

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

/// All that the samples along a line read of a mesh: the cells that contain them, and two rings of
/// neighbours.
pub struct Probe {
    spots: Vec<Spot>,
    /// The cells that contain samples and their neighbours, by number.
    stars: HashMap<usize, Star>,
}

/// Where one sample is.
struct Spot {
    s_m: f64,
    at: [f64; 3],
    /// The cell that contains it, and the boundary faces that it lies on.
    inside: Option<(usize, Vec<usize>)>,
}

/// A cell and what is in sight of its centre.
struct Star {
    centre: [f64; 3],
    /// See [`Walker::tolerance`], m.
    tolerance: f64,
    near: Vec<Near>,
}

/// A place where a value is known, relative to a cell's centre, m.
struct Near {
    d: [f64; 3],
    end: End,
}

#[derive(Clone, Copy)]
enum End {
    Cell(usize),
    /// The centre of a boundary face.
    Face(usize),
}

/// Values of a field: of each cell, and of each boundary face where one is given.
struct Values<'a, const N: usize> {
    cell: &'a dyn Fn(usize) -> [f64; N],
    face: &'a dyn Fn(usize) -> Option<[f64; N]>,
    gradients: HashMap<usize, [[f64; 3]; N]>,
}

/// Relative weight of the term that makes the least squares solvable where no value lies
/// in some direction (meshes of one layer): the gradient along it is then zero.
const REGULARISE: f64 = 1e-10;

impl Probe {
    /// One for each of `lines`.
    pub fn new(mesh: &Mesh, geometry: &Geometry, lines: &[Line]) -> Vec<Self> {
        if lines.is_empty() {
            return Vec::new();
        }
        let walker = Walker::new(mesh, geometry);
        lines.iter().map(|line| Self::of(&walker, line)).collect()
    }

    fn of(walker: &Walker, line: &Line) -> Self {
        let parts = line.samples.saturating_sub(1).max(1) as f64;
        let mut start = None;
        let mut spots = Vec::with_capacity(line.samples);
        let mut stars = HashMap::new();
        for i in 0..line.samples {
            let step = scale(sub(line.to, line.from), i as f64 / parts);
            let at = add(line.from, step);
            // The next sample is near this one, so the walk begins here.
            let cell = walker.find(at, start);
            start = cell.or(start);
            spots.push(Spot {
                s_m: norm(step),
                at,
                inside: cell.map(|c| (c, walker.boundary_at(c, at).collect())),
            });
            let Some(cell) = cell else { continue };
            let mine = stars.entry(cell).or_insert_with(|| Star::new(walker, cell));
            let around: Vec<usize> = mine.cells().collect();
            for cell in around {
                stars.entry(cell).or_insert_with(|| Star::new(walker, cell));
            }
        }
        Self { spots, stars }
    }

    /// Cells whose values are read, some more than once.
    pub fn cells(&self) -> impl Iterator<Item = usize> {
        let near = self.stars.values().flat_map(Star::cells);
        near.chain(self.stars.keys().copied())
    }

    /// Boundary faces whose values are read, some more than once.
    pub fn faces(&self) -> impl Iterator<Item = usize> {
        let near = self.stars.values().flat_map(|s| &s.near);
        near.filter_map(|n| match n.end {
            End::Face(f) => Some(f),
            End::Cell(_) => None,
        })
    }

    /// Values along the line, from one per cell, and one at the centre of a boundary face, where one
    /// is given (faces as in the mesh, from `interior_faces()` on).
    ///
    /// `u(x) = <u_k + G_k d_k / 2> + <G_k> <d_k> / 2` with `d_k = x - x_k`, where `<>` is the mean
    /// over the cell that contains x and its face neighbours, weighted by `1 / |d_k|^2`, and G_k
    /// the least-squares gradient from the neighbours of cell k and its boundary values. Halving
    /// G_k d_k cancels the second derivatives of all terms but `<d_k> H <d_k> / 2`, which is zero
    /// at centres and halfway between them. Exact for linear fields, second order otherwise. On a
    /// boundary face with a value, that value.
    pub fn sample<const N: usize>(
        &self,
        cell: &dyn Fn(usize) -> [f64; N],
        face: &dyn Fn(usize) -> Option<[f64; N]>,
    ) -> Vec<Sample<N>> {
        let mut values = Values {
            cell,
            face,
            gradients: HashMap::new(),
        };
        let samples = self.spots.iter().map(|spot| Sample {
            s_m: spot.s_m,
            at: spot.at,
            value: spot.inside.as_ref().map(|(cell, on)| {
                let given = on.iter().find_map(|&f| face(f));
                given.unwrap_or_else(|| self.value(&mut values, *cell, spot.at))
            }),
        });
        samples.collect()
    }

    fn value<const N: usize>(&self, of: &mut Values<N>, cell: usize, at: [f64; 3]) -> [f64; N] {
        let star = &self.stars[&cell];
        let from_centre = sub(at, star.centre);
        let mut terms = vec![(cell, from_centre)];
        terms.extend(star.near.iter().filter_map(|n| match n.end {
            End::Cell(c) => Some((c, sub(from_centre, n.d))),
            End::Face(_) => None,
        }));
        let mut value = [0.0; N];
        let mut gradient = [[0.0; 3]; N];
        let (mut weights, mut offset) = (0.0, [0.0; 3]);
        for (cell, d) in terms {
            let (u, g) = ((of.cell)(cell), self.gradient(of, cell));
            // Not quite 1/d^2: at a centre it would be infinite.
            let near = dot(d, d) + star.tolerance * star.tolerance;
            let weight = 1.0 / near.max(f64::MIN_POSITIVE);
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

    /// G minimising `sum_k |u + G d_k - u_k|^2 / |d_k|^3`: with this weight it is exact for
    /// quadratic fields where neighbours lie opposite each other, at any distances.
    fn gradient<const N: usize>(&self, of: &mut Values<N>, cell: usize) -> [[f64; 3]; N] {
        if let Some(known) = of.gradients.get(&cell) {
            return *known;
        }
        let mine = (of.cell)(cell);
        let mut matrix = [[0.0; 3]; 3];
        let mut rhs = [[0.0; 3]; N];
        for near in &self.stars[&cell].near {
            let Some(value) = of.at(near.end) else {
                continue;
            };
            let weight = 1.0 / norm(near.d).powi(3).max(f64::MIN_POSITIVE);
            for (i, row) in matrix.iter_mut().enumerate() {
                *row = add(*row, scale(near.d, weight * near.d[i]));
            }
            for (n, row) in rhs.iter_mut().enumerate() {
                *row = add(*row, scale(near.d, weight * (value[n] - mine[n])));
            }
        }
        let trace: f64 = (0..3).map(|i| matrix[i][i]).sum();
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] += REGULARISE * trace.max(f64::MIN_POSITIVE);
        }
        let gradient = rhs.map(|b| solve(&matrix, b));
        of.gradients.insert(cell, gradient);
        gradient
    }
}

impl<const N: usize> Values<'_, N> {
    fn at(&self, end: End) -> Option<[f64; N]> {
        match end {
            End::Cell(c) => Some((self.cell)(c)),
            End::Face(f) => (self.face)(f),
        }
    }
}

impl Star {
    fn new(walker: &Walker, cell: usize) -> Self {
        let (mesh, geometry) = (walker.mesh, walker.geometry);
        let centre = geometry.centre[cell];
        let near = |&f: &usize| {
            let owner = mesh.owner[f] as usize;
            let (d, end) = match mesh.neighbour.get(f) {
                None => (sub(geometry.face_centre[f], centre), End::Face(f)),
                Some(&other) if owner == cell => (geometry.d[f], End::Cell(other as usize)),
                Some(_) => (scale(geometry.d[f], -1.0), End::Cell(owner)),
            };
            Near { d, end }
        };
        Self {
            centre,
            tolerance: walker.tolerance(cell),
            near: walker.faces_of(cell).iter().map(near).collect(),
        }
    }

    /// The neighbours.
    fn cells(&self) -> impl Iterator<Item = usize> {
        self.near.iter().filter_map(|n| match n.end {
            End::Cell(c) => Some(c),
            End::Face(_) => None,
        })
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
