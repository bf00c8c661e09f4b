//! Nodal values from cell values: weighted linear least squares around each node.

use rayon::prelude::*;

use crate::flow::operators::faces::Faces;
use crate::flow::operators::small::Cloud;
use crate::mesh::Mesh;
use crate::mesh::geometry::{add, dot, sub};
use crate::mesh::part::BOUNDARY_CELLS;
use crate::sparse::Csr;

/// Weight of a boundary face against a cell at the same distance.
const FACE_WEIGHT: f64 = 4.0;

/// Cells or faces around each node, with their positions relative to the node.
#[derive(Default)]
struct Around {
    ptr: Vec<usize>,
    item: Vec<(u32, [f64; 3])>,
}

impl Around {
    /// From (node, item, position relative to the node), in any order.
    fn new(nodes: usize, list: impl Iterator<Item = (u32, u32, [f64; 3])> + Clone) -> Self {
        let mut ptr = vec![0usize; nodes + 1];
        for (node, ..) in list.clone() {
            ptr[node as usize + 1] += 1;
        }
        for v in 0..nodes {
            ptr[v + 1] += ptr[v];
        }
        let mut next = ptr.clone();
        let mut item = vec![(0, [0.0; 3]); ptr[nodes]];
        for (node, i, r) in list {
            item[next[node as usize]] = (i, r);
            next[node as usize] += 1;
        }
        Self { ptr, item }
    }

    fn of(&self, node: usize) -> &[(u32, [f64; 3])] {
        &self.item[self.ptr[node]..self.ptr[node + 1]]
    }
}

/// Nodal interpolation of one field: `H` (nodes x cells) and its part from given boundary
/// values (nodes x boundary faces).
pub(super) struct Nodal {
    pub(super) cells: Csr,
    pub(super) boundary: Csr,
}

/// Cells around every node of a mesh.
pub(super) struct Stencils<'a> {
    faces: &'a Faces<'a>,
    cells: Vec<Vec<(u32, [f64; 3])>>,
}

impl<'a> Stencils<'a> {
    pub(super) fn new(faces: &'a Faces<'a>) -> Self {
        let (mesh, centre) = (faces.mesh, &faces.geometry.centre);
        let nodes = mesh.nodes();
        let list = (0..mesh.cells()).flat_map(|c| {
            mesh.cell(c).iter().map(move |&p| {
                let r = sub(centre[c], mesh.points[p as usize]);
                (mesh.node_of(p), c as u32, r)
            })
        });
        let around = Around::new(nodes, list);
        let mut at_boundary = vec![false; nodes];
        for f in faces.interior()..mesh.faces() {
            for &p in mesh.face(f) {
                at_boundary[mesh.node_of(p) as usize] = true;
            }
        }
        let cells = (0..nodes)
            .into_par_iter()
            .map(|v| {
                let ring = around.of(v);
                if at_boundary[v] && ring.len() < BOUNDARY_CELLS {
                    second_ring(mesh, centre, &around, ring)
                } else {
                    ring.to_vec()
                }
            })
            .collect();
        Self { faces, cells }
    }

    /// `H_vj = w_j/sum w + w_j (x_v - mean)^T T^+ (x_j - mean)`, `w = r^-2`: exact for linear
    /// fields. Boundary faces for which `given` holds take part with their centroids and the
    /// weight `4 r^-2`.
    pub(super) fn interpolation(&self, given: impl Fn(usize) -> bool) -> Nodal {
        let (mesh, geometry) = (self.faces.mesh, self.faces.geometry);
        let (nodes, interior) = (self.cells.len(), self.faces.interior());
        let chosen: Vec<usize> = (interior..mesh.faces()).filter(|&f| given(f)).collect();
        let list = chosen.iter().flat_map(|&f| {
            mesh.face(f).iter().map(move |&p| {
                let r = sub(geometry.face_centre[f], mesh.points[p as usize]);
                (mesh.node_of(p), (f - interior) as u32, r)
            })
        });
        let faces = Around::new(nodes, list);
        let weights = |v: usize| {
            let mut cloud = Cloud::default();
            for &(_, r) in &self.cells[v] {
                cloud.push(r, 1.0 / dot(r, r));
            }
            for &(_, r) in faces.of(v) {
                cloud.push(r, FACE_WEIGHT / dot(r, r));
            }
            let weights: Vec<f64> = cloud.fit().value_at([0.0; 3]).collect();
            weights
        };
        let boundary_faces = mesh.faces() - interior;
        Nodal {
            cells: Csr::from_rows(nodes, mesh.cells(), |v, row| {
                let cells = self.cells[v].iter().map(|&(c, _)| c);
                row.extend(cells.zip(weights(v)));
            }),
            boundary: Csr::from_rows(nodes, boundary_faces, |v, row| {
                if !faces.of(v).is_empty() {
                    let items = faces.of(v).iter().map(|&(b, _)| b);
                    row.extend(items.zip(weights(v).split_off(self.cells[v].len())));
                }
            }),
        }
    }
}

/// The cells that share a node with the cells of `ring`, each image once.
fn second_ring(
    mesh: &Mesh,
    centre: &[[f64; 3]],
    around: &Around,
    ring: &[(u32, [f64; 3])],
) -> Vec<(u32, [f64; 3])> {
    let mut wide = Vec::new();
    for &(c, r) in ring {
        for &p in mesh.cell(c as usize) {
            let to_point = add(r, sub(mesh.points[p as usize], centre[c as usize]));
            let next = around.of(mesh.node_of(p) as usize).iter();
            wide.extend(next.map(|&(c, r)| (c, add(to_point, r))));
        }
    }
    let key = |&(c, r): &(u32, [f64; 3])| (c, r);
    wide.sort_by(|a, b| {
        let ((ca, ra), (cb, rb)) = (key(a), key(b));
        ca.cmp(&cb)
            .then_with(|| ra.partial_cmp(&rb).unwrap_or(std::cmp::Ordering::Equal))
    });
    // Paths to one image differ by round-off; images of a cell differ by a period. Several
    // images of one cell can be interleaved by round-off, so each is compared with all.
    let mut out: Vec<(u32, [f64; 3])> = Vec::with_capacity(wide.len() / 4);
    for (c, r) in wide {
        let known = out.iter().rev().take_while(|&&(k, _)| k == c);
        let near = |q: [f64; 3]| dot(sub(q, r), sub(q, r)) < 1e-12 * dot(r, r);
        if !known.into_iter().any(|&(_, q)| near(q)) {
            out.push((c, r));
        }
    }
    out
}
