//! Corrections through nodal values: what makes the consistent scheme consistent.

use crate::flow::boundary::FaceKind;
use crate::flow::operators::faces::Faces;
use crate::flow::operators::nodal::{Nodal, Stencils};
use crate::flow::operators::small::Cloud;
use crate::mesh::geometry::{cross, dot, norm, scale, sub};
use crate::sparse::{Csr, Planes};

/// Every matrix with a node side.
pub(super) struct Corrections<'a> {
    /// Gradients on vertices, from which the momentum's corrections are made too.
    pub(super) vertices: Vertices<'a>,
    /// `H_v`, `H_b`.
    pub(super) velocity: Nodal,
    /// `H_0`, and its part from outlets.
    pub(super) pressure: Nodal,
    /// `T` on interior faces; faces x nodes.
    pub(super) pressure_flux: Csr,
    /// `S n_k Delta_Gamma`; faces x nodes.
    pub(super) flux: Planes,
    /// `B`; cells x nodes.
    pub(super) gradient: Planes,
    /// `(x_b - x_c) . G_n` without outlets; boundary faces x nodes.
    pub(super) boundary_pressure: Csr,
}

impl<'a> Corrections<'a> {
    /// No nodes, no corrections.
    pub(super) fn none(faces: &'a Faces<'a>) -> Self {
        let (all, cells) = (faces.mesh.faces(), faces.mesh.cells());
        let boundary = faces.kind.len();
        let nodal = || Nodal {
            cells: Csr::zero(0, cells),
            boundary: Csr::zero(0, boundary),
        };
        Self {
            vertices: Vertices {
                faces,
                nodes: 0,
                gradient: Planes::zero(cells, 0),
                centroid: Csr::zero(cells, 0),
            },
            velocity: nodal(),
            pressure: nodal(),
            pressure_flux: Csr::zero(all, 0),
            flux: Planes::zero(all, 0),
            gradient: Planes::zero(cells, 0),
            boundary_pressure: Csr::zero(boundary, 0),
        }
    }

    /// The consistent scheme's.
    pub(super) fn new(faces: &'a Faces<'a>, divergence: &Csr) -> Self {
        let vertices = Vertices::new(faces);
        let stencils = Stencils::new(faces);
        let area = faces.area_vectors();
        let per_volume: Vec<f64> = faces.volume.iter().map(|v| 1.0 / v).collect();
        let pressure_delta = vertices.pressure_delta();
        Self {
            velocity: stencils.interpolation(|f| faces.boundary(f) == Some(FaceKind::Dirichlet)),
            pressure: stencils.interpolation(|f| faces.is_outlet(f)),
            pressure_flux: vertices.tangential(),
            flux: Planes::from_scaled(&vertices.delta(), &area),
            gradient: Planes::from_scaled(&pressure_delta, &area)
                .left_product(divergence)
                .scale_rows(&per_volume),
            boundary_pressure: Csr::from_rows(faces.kind.len(), vertices.nodes, |b, row| {
                let entries = pressure_delta.row(faces.interior() + b);
                row.extend(entries.map(|(v, a)| (v as u32, a)));
            }),
            vertices,
        }
    }
}

/// Gradients and means on the cells' own vertices.
pub(super) struct Vertices<'a> {
    faces: &'a Faces<'a>,
    /// Number of nodes.
    pub(super) nodes: usize,
    /// `G_n`: plane k is the derivative along k; cells x nodes.
    gradient: Planes,
    /// `A_c`: value at the centroid; cells x nodes.
    pub(super) centroid: Csr,
}

impl<'a> Vertices<'a> {
    fn new(faces: &'a Faces<'a>) -> Self {
        let nodes = faces.mesh.nodes();
        let (mesh, geometry) = (faces.mesh, faces.geometry);
        let cloud = |c: usize| {
            let mut cloud = Cloud::default();
            for &p in mesh.cell(c) {
                cloud.push(mesh.points[p as usize], 1.0);
            }
            cloud
        };
        let nodes_of = |c: usize| mesh.cell(c).iter().map(|&p| mesh.node_of(p));
        Self {
            faces,
            nodes,
            gradient: Planes::from_rows(mesh.cells(), nodes, |c, row| {
                row.extend(nodes_of(c).zip(cloud(c).fit().gradient()));
            }),
            centroid: Csr::from_rows(mesh.cells(), nodes, |c, row| {
                row.extend(nodes_of(c).zip(cloud(c).fit().value_at(geometry.centre[c])));
            }),
        }
    }

    /// Pushes `s . grad` on the vertices of cell `c`, times `weight`.
    fn push_along(&self, c: usize, s: [f64; 3], weight: f64, row: &mut Vec<(u32, f64)>) {
        let entries = self.gradient.row(c);
        row.extend(entries.map(|(v, g)| (v as u32, weight * dot(s, g))));
    }

    /// Row `f` of `Delta_W = sum_k diag(x_f - W x)_k W G_n,k` for an interior face and the
    /// weights of its owner and neighbour.
    pub(super) fn push_delta(&self, f: usize, weight: [f64; 2], row: &mut Vec<(u32, f64)>) {
        let Some([owner, neighbour]) = self.faces.pair(f) else {
            return;
        };
        let geometry = self.faces.geometry;
        let along = scale(geometry.d[f], weight[1]);
        let s = sub(sub(geometry.face_centre[f], geometry.centre[owner]), along);
        self.push_along(owner, s, weight[0], row);
        self.push_along(neighbour, s, weight[1], row);
    }

    /// `Delta_Gamma`: faces x nodes, empty rows at the boundary.
    fn delta(&self) -> Csr {
        Csr::from_rows(self.faces.mesh.faces(), self.nodes, |f, row| {
            if let Some(&weight) = self.faces.gamma.get(f) {
                self.push_delta(f, weight, row);
            }
        })
    }

    /// `Delta_Gamma'` inside, with the weights of the linear interpolation, and
    /// `(x_b - x_c) . G_n` on boundary faces without given pressure; faces x nodes.
    fn pressure_delta(&self) -> Csr {
        Csr::from_rows(self.faces.mesh.faces(), self.nodes, |f, row| {
            if let Some(&[o, n]) = self.faces.gamma.get(f) {
                self.push_delta(f, [n, o], row);
            } else if !self.faces.is_outlet(f) {
                let owner = self.faces.mesh.owner[f] as usize;
                self.push_along(owner, self.faces.geometry.d[f], 1.0, row);
            }
        })
    }

    /// Row `f` of `T = -S (d - d_n n)/d_n . tangential gradient`, the gradient by least
    /// squares on the face's vertices.
    pub(super) fn push_tangential(&self, f: usize, row: &mut Vec<(u32, f64)>) {
        let (mesh, geometry) = (self.faces.mesh, self.faces.geometry);
        let points = mesh.face(f);
        let n = geometry.face_normal[f];
        let lean = sub(geometry.d[f], scale(n, self.faces.d_n[f]));
        let x = |p: u32| mesh.points[p as usize];
        // Two directions along the face; the vertices of a warped one are projected.
        let edge = sub(x(points[1]), x(points[0]));
        let e1 = sub(edge, scale(n, dot(edge, n)));
        let e1 = scale(e1, 1.0 / norm(e1));
        let e2 = cross(n, e1);
        let plane = |r: [f64; 3]| [dot(r, e1), dot(r, e2)];
        let at: Vec<[f64; 2]> = points
            .iter()
            .map(|&p| plane(sub(x(p), x(points[0]))))
            .collect();
        let count = at.len() as f64;
        let mean = at
            .iter()
            .fold([0.0; 2], |m, q| [m[0] + q[0] / count, m[1] + q[1] / count]);
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for q in &at {
            let (a, b) = (q[0] - mean[0], q[1] - mean[1]);
            (xx, xy, yy) = (xx + a * a, xy + a * b, yy + b * b);
        }
        let determinant = xx * yy - xy * xy;
        let [a, b] = plane(scale(lean, -self.faces.conductance(f)));
        let slope = [
            (a * yy - b * xy) / determinant,
            (b * xx - a * xy) / determinant,
        ];
        for (&p, q) in points.iter().zip(&at) {
            let value = slope[0] * (q[0] - mean[0]) + slope[1] * (q[1] - mean[1]);
            row.push((mesh.node_of(p), value));
        }
    }

    /// `T` on interior faces; faces x nodes.
    fn tangential(&self) -> Csr {
        Csr::from_rows(self.faces.mesh.faces(), self.nodes, |f, row| {
            if f < self.faces.interior() {
                self.push_tangential(f, row);
            }
        })
    }
}
