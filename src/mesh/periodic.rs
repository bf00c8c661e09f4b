//! Joining two opposite patches into interior faces.

use std::ops::Range;

use crate::mesh::Mesh;
use crate::mesh::faces::{self, Row};
use crate::mesh::geometry::{add, mean, norm, scale, sub};
use crate::{Error, Result};

/// How far two points may be apart and still be the same, as a part of the distance from
/// the centre of the smallest face of the pair to its nearest point.
const TOLERANCE: f64 = 1e-6;

/// Turns the patches `a` and `b` into interior faces: each face of `a` becomes one with the
/// face of `b` that lies a translation further, the same for all.
///
/// Points of both sides stay, joined by [`Mesh::point_class`]; [`Mesh::shift`] tells how to
/// see the neighbour. Join the pairs of several directions one after the other.
///
/// # Errors
/// An unknown patch, different numbers of faces, a face without a partner (named by its
/// centre), a cell that would be its own neighbour (one layer of cells between the sides).
/// The mesh is unchanged then.
pub fn join_periodic(mesh: &mut Mesh, a: &str, b: &str) -> Result<()> {
    let place = format!("periodic pair \"{a}\", \"{b}\"");
    let (faces_a, faces_b) = (range(mesh, a, &place)?, range(mesh, b, &place)?);
    if a == b || faces_a.len() != faces_b.len() || faces_a.is_empty() {
        return Err(Error::input(
            place,
            format!("{} faces against {}", faces_a.len(), faces_b.len()),
            "name two different patches that carry the same surface mesh \
             (Periodic Surface in Gmsh)",
        ));
    }
    let pairing = Pairing::new(mesh, faces_a.clone(), faces_b.clone(), &place);
    let mut classes = Classes::of(mesh);
    let mut joined = Vec::with_capacity(faces_a.len());
    for fa in faces_a.clone() {
        let fb = pairing.partner(fa)?;
        pairing.join_points(fa, fb, &mut classes)?;
        joined.push(pairing.row(fa, fb)?);
    }
    mesh.point_class = classes.numbers();

    let mut interior: Vec<Row> = (0..mesh.interior_faces())
        .map(|f| Row::of(mesh, f))
        .collect();
    interior.extend(joined);
    let (mut boundary, mut names) = (Vec::new(), Vec::new());
    for patch in &mesh.patches {
        if patch.name == a || patch.name == b {
            continue;
        }
        for f in patch.faces.clone() {
            let neighbour = names.len() as u32;
            boundary.push(Row {
                neighbour,
                ..Row::of(mesh, f)
            });
        }
        names.push(patch.name.clone());
    }
    faces::set(mesh, interior, boundary, names);
    Ok(())
}

fn range(mesh: &Mesh, name: &str, place: &str) -> Result<Range<usize>> {
    match mesh.patch(name) {
        Some(patch) => Ok(patch.faces.clone()),
        None => {
            let names: Vec<&str> = mesh.patches.iter().map(|p| p.name.as_str()).collect();
            Err(Error::input(
                place,
                format!("the mesh has no boundary \"{name}\""),
                format!("it has {}", names.join(", ")),
            ))
        }
    }
}

struct Pairing<'a> {
    mesh: &'a Mesh,
    place: &'a str,
    /// From a point of the first patch to its partner on the second.
    translation: [f64; 3],
    tolerance: f64,
    /// Faces of the second patch, sorted by the bin of their centres.
    binned: Vec<([i64; 3], usize)>,
}

impl<'a> Pairing<'a> {
    fn new(mesh: &'a Mesh, a: Range<usize>, b: Range<usize>, place: &'a str) -> Self {
        let centre = |f: usize| mean(&mesh.points, mesh.face(f));
        let middle = |faces: Range<usize>| {
            let weight = 1.0 / faces.len() as f64;
            // From one of them, so that the sum is exact along the normal of a plane.
            let first = centre(faces.start);
            let away = faces.map(|f| sub(centre(f), first));
            add(first, scale(away.fold([0.0; 3], add), weight))
        };
        let translation = sub(middle(b.clone()), middle(a.clone()));
        let radius = a
            .flat_map(|f| {
                let c = centre(f);
                let points = mesh.face(f).iter();
                points.map(move |&v| norm(sub(mesh.points[v as usize], c)))
            })
            .fold(f64::INFINITY, f64::min);
        let mut pairing = Self {
            mesh,
            place,
            translation,
            tolerance: TOLERANCE * radius,
            binned: Vec::new(),
        };
        let mut binned: Vec<_> = b.map(|f| (pairing.bin(centre(f)), f)).collect();
        binned.sort_unstable();
        pairing.binned = binned;
        pairing
    }

    /// Bins are wider than the tolerance, so that few positions are near to a second one.
    fn bin(&self, x: [f64; 3]) -> [i64; 3] {
        x.map(|x| (x / (16.0 * self.tolerance)).floor() as i64)
    }

    fn same(&self, x: [f64; 3], y: [f64; 3]) -> bool {
        norm(sub(x, y)) <= self.tolerance
    }

    fn partner(&self, fa: usize) -> Result<usize> {
        let centre = mean(&self.mesh.points, self.mesh.face(fa));
        let target = add(centre, self.translation);
        let reach = [self.tolerance; 3];
        let (low, high) = (self.bin(sub(target, reach)), self.bin(add(target, reach)));
        for corner in 0..8 {
            let bin: [i64; 3] = std::array::from_fn(|k| {
                if corner >> k & 1 == 0 {
                    low[k]
                } else {
                    high[k]
                }
            });
            let from = self.binned.partition_point(|entry| entry.0 < bin);
            for &(_, fb) in self.binned[from..].iter().take_while(|e| e.0 == bin) {
                if self.same(mean(&self.mesh.points, self.mesh.face(fb)), target) {
                    return Ok(fb);
                }
            }
        }
        Err(self.refuse(fa, "has no partner on the other side", SAME_MESH))
    }

    fn join_points(&self, fa: usize, fb: usize, classes: &mut Classes) -> Result<()> {
        let others = self.mesh.face(fb);
        for &p in self.mesh.face(fa) {
            let target = add(self.mesh.points[p as usize], self.translation);
            let partner = others
                .iter()
                .find(|&&q| self.same(self.mesh.points[q as usize], target));
            let Some(&q) = partner else {
                return Err(self.refuse(fa, "and its partner differ in their points", SAME_MESH));
            };
            classes.join(p, q);
        }
        Ok(())
    }

    fn row(&self, fa: usize, fb: usize) -> Result<Row> {
        let (oa, ob) = (self.mesh.owner[fa], self.mesh.owner[fb]);
        match oa.cmp(&ob) {
            std::cmp::Ordering::Less => Ok(Row {
                neighbour: ob,
                shift: scale(self.translation, -1.0),
                ..Row::of(self.mesh, fa)
            }),
            std::cmp::Ordering::Greater => Ok(Row {
                neighbour: oa,
                shift: self.translation,
                ..Row::of(self.mesh, fb)
            }),
            std::cmp::Ordering::Equal => Err(self.refuse(
                fa,
                "and its partner belong to the same cell",
                "put at least two layers of cells between the sides, or use slip sides",
            )),
        }
    }

    fn refuse(&self, fa: usize, what: &str, remedy: &str) -> Error {
        let [x, y, z] = mean(&self.mesh.points, self.mesh.face(fa));
        let cell = self.mesh.cell_name(self.mesh.owner[fa] as usize);
        Error::input(
            self.place,
            format!("the face of {cell} at ({x}, {y}, {z}) {what}"),
            remedy,
        )
    }
}

const SAME_MESH: &str =
    "give both sides the same surface mesh, a translation apart (Periodic Surface in Gmsh)";

/// Union-find over the points; the smallest point stands for its class.
struct Classes {
    parent: Vec<u32>,
}

impl Classes {
    fn of(mesh: &Mesh) -> Self {
        let mut classes = Self {
            parent: (0..mesh.points.len() as u32).collect(),
        };
        let mut first = vec![u32::MAX; mesh.points.len()];
        for (p, &class) in mesh.point_class.iter().enumerate() {
            match first[class as usize] {
                u32::MAX => first[class as usize] = p as u32,
                q => classes.join(q, p as u32),
            }
        }
        classes
    }

    fn root(&mut self, mut p: u32) -> u32 {
        while self.parent[p as usize] != p {
            let up = self.parent[self.parent[p as usize] as usize];
            self.parent[p as usize] = up;
            p = up;
        }
        p
    }

    fn join(&mut self, p: u32, q: u32) {
        let (p, q) = (self.root(p), self.root(q));
        self.parent[p.max(q) as usize] = p.min(q);
    }

    fn numbers(mut self) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.parent.len());
        let mut count = 0;
        for p in 0..self.parent.len() as u32 {
            let root = self.root(p);
            let number = if root == p {
                count += 1;
                count - 1
            } else {
                numbers[root as usize]
            };
            numbers.push(number);
        }
        numbers
    }
}
