//! Volumes, areas, normals and centres.

use crate::mesh::Mesh;

/// Geometry of a mesh, in metres and their powers.
///
/// Each face is cut into triangles around the mean of its points (a triangle is itself) and
/// each cell is the union of the pyramids from the mean of its points to those triangles.
/// Both cells of a face see the same triangles, so that also with warped faces the volumes
/// add up to the volume inside the boundary, and the area vectors of a cell to zero.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    /// Volume of each cell.
    pub volume: Vec<f64>,
    /// Centroid of each cell.
    pub centre: Vec<[f64; 3]>,
    /// `|S|` of each face, with S the sum of its triangles' area vectors.
    pub face_area: Vec<f64>,
    /// `S / |S|`, out of the owner; zero for a face without area.
    pub face_normal: Vec<[f64; 3]>,
    /// Centroid of each face: its triangles' centroids weighted by their area along the
    /// normal.
    pub face_centre: Vec<[f64; 3]>,
    /// Interior faces: neighbour's centre (with the periodic shift) minus owner's centre.
    /// Boundary faces: face centre minus owner's centre.
    pub d: Vec<[f64; 3]>,
}

pub(crate) fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn scale(a: [f64; 3], s: f64) -> [f64; 3] {
    a.map(|x| x * s)
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(crate) fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

/// Mean of the points `of`.
pub(crate) fn mean(points: &[[f64; 3]], of: &[u32]) -> [f64; 3] {
    let sum = of
        .iter()
        .fold([0.0; 3], |sum, &v| add(sum, points[v as usize]));
    scale(sum, 1.0 / of.len() as f64)
}

/// Volume and first moment of a cell about its reference point, summed face by face.
#[derive(Clone, Copy, Default)]
struct Moment {
    volume: f64,
    first: [f64; 3],
}

impl Moment {
    /// Adds the tetrahedron from the reference point (the origin) to a triangle with area
    /// vector `s` and corner sum `sum`.
    fn add(&mut self, s: [f64; 3], sum: [f64; 3]) {
        let volume = dot(s, sum) / 9.0;
        self.volume += volume;
        self.first = add(self.first, scale(sum, volume / 4.0));
    }
}

/// The triangles of a face around the mean of its points: area vector and corner sum.
fn triangles(points: &[[f64; 3]], face: &[u32], mut each: impl FnMut([f64; 3], [f64; 3])) {
    let x = |i: usize| points[face[i % face.len()] as usize];
    let mut triangle = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        each(scale(cross(sub(b, a), sub(c, a)), 0.5), add(a, add(b, c)));
    };
    if face.len() == 3 {
        triangle(x(0), x(1), x(2));
    } else {
        let middle = mean(points, face);
        for i in 0..face.len() {
            triangle(x(i), x(i + 1), middle);
        }
    }
}

impl Geometry {
    /// Geometry of `mesh`.
    pub fn of(mesh: &Mesh) -> Self {
        let faces = mesh.faces();
        let reference: Vec<[f64; 3]> = (0..mesh.cells())
            .map(|c| mean(&mesh.points, mesh.cell(c)))
            .collect();
        let mut moment = vec![Moment::default(); mesh.cells()];
        let mut geometry = Self {
            face_area: Vec::with_capacity(faces),
            face_normal: Vec::with_capacity(faces),
            face_centre: Vec::with_capacity(faces),
            ..Self::default()
        };
        for f in 0..faces {
            let face = mesh.face(f);
            let mut s = [0.0; 3];
            triangles(&mesh.points, face, |part, _| s = add(s, part));
            let area = norm(s);
            let normal = if area > 0.0 {
                scale(s, 1.0 / area)
            } else {
                [0.0; 3]
            };
            let (mut weight, mut centre) = (0.0, [0.0; 3]);
            let owner = mesh.owner[f] as usize;
            let neighbour = mesh.neighbour.get(f).map(|&n| n as usize);
            let shift = mesh.face_shift(f);
            triangles(&mesh.points, face, |part, sum| {
                let w = dot(part, normal);
                weight += w;
                centre = add(centre, scale(sum, w / 3.0));
                moment[owner].add(part, sub(sum, scale(reference[owner], 3.0)));
                if let Some(n) = neighbour {
                    let origin = add(reference[n], shift);
                    moment[n].add(scale(part, -1.0), sub(sum, scale(origin, 3.0)));
                }
            });
            geometry.face_centre.push(if weight > 0.0 {
                scale(centre, 1.0 / weight)
            } else {
                mean(&mesh.points, face)
            });
            geometry.face_area.push(area);
            geometry.face_normal.push(normal);
        }
        geometry.volume = moment.iter().map(|m| m.volume).collect();
        geometry.centre = moment
            .iter()
            .zip(&reference)
            .map(|(m, &x)| {
                if m.volume > 0.0 {
                    add(x, scale(m.first, 1.0 / m.volume))
                } else {
                    x
                }
            })
            .collect();
        geometry.d = (0..faces)
            .map(|f| {
                let to = match mesh.neighbour.get(f) {
                    Some(&n) => add(geometry.centre[n as usize], mesh.face_shift(f)),
                    None => geometry.face_centre[f],
                };
                sub(to, geometry.centre[mesh.owner[f] as usize])
            })
            .collect();
        geometry
    }
}
