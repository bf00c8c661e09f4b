//! From the operators of a part of the mesh, halo and all, to those of a rank: the rows that it
//! owns, with columns where its vectors hold the values.

use std::rc::Rc;

use super::{Momentum, Operators, Planes};
use crate::cluster::Halo;
use crate::flow::boundary::BoundaryFaces;
use crate::mesh::Mesh;
use crate::mesh::part::CUT;
use crate::node::padded;
use crate::sparse::Csr;

/// Which rows of a part's mesh a rank owns; see [`Cutter::mesh_of`](crate::mesh::part::Cutter::mesh_of).
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Owned cells: the first.
    pub cells: usize,
    /// Cells of the halo: the others.
    pub halo: usize,
    /// Nodes of owned cells and their neighbours: the first.
    pub nodes: usize,
    /// Faces inside that this rank counts, then boundary faces of owned cells.
    pub faces: Vec<u32>,
    /// How many of them are inside.
    pub interior: usize,
    /// Faces of owned cells that another rank counts.
    pub shared: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Local {
    /// Of the part `mesh` with `cells` owned cells, `near` others that share a face with them, and
    /// the ranks of all cells but the owned.
    pub fn new(mesh: &Mesh, cells: usize, near: usize, rank: u32, others: &[u32]) -> Self {
        let (mut faces, mut shared) = (Vec::new(), Vec::new());
        for (f, (&o, &n)) in mesh.owner.iter().zip(&mesh.neighbour).enumerate() {
            // The owner has the smaller number: a face of an owned cell has an owned owner.
            if o as usize >= cells {
                continue;
            }
            let ours = match (n as usize).checked_sub(cells) {
                Some(other) => rank < others[other],
                None => true,
            };
            if ours { &mut faces } else { &mut shared }.push(f as u32);
        }
        let interior = faces.len();
        let outside = mesh.patches.iter().filter(|p| p.name != CUT);
        for patch in outside {
            let owned = patch
                .faces
                .clone()
                .filter(|&f| (mesh.owner[f] as usize) < cells);
            faces.extend(owned.map(|f| f as u32));
        }
        let corners = mesh.cell_ptr[cells + near];
        let last = mesh.cell_points[..corners]
            .iter()
            .map(|&p| mesh.node_of(p))
            .max();
        Self {
            cells,
            halo: mesh.cells() - cells,
            nodes: last.map_or(0, |v| v as usize + 1),
            faces,
            interior,
            shared,
        }
    }

    /// Face of each face row, [`NONE`] for padding.
    fn face_rows(&self) -> Vec<u32> {
        let mut rows = self.faces.clone();
        if !self.shared.is_empty() {
            rows.resize(padded(rows.len().max(1)), NONE);
            rows.extend(&self.shared);
        }
        rows
    }
}

/// Where rows and columns go.
struct Map {
    /// Old row of each new one, or [`NONE`].
    rows: Vec<u32>,
    /// New column of each old one, or [`NONE`].
    cols: Vec<u32>,
    width: usize,
}

impl Map {
    fn csr(&self, a: &Csr) -> Csr {
        Csr::from_rows(self.rows.len(), self.width, |i, row| {
            if self.rows[i] != NONE {
                let entries = a.row(self.rows[i] as usize);
                row.extend(entries.map(|(j, v)| (self.cols[j], v)));
            }
        })
    }

    fn planes(&self, a: &Planes) -> Planes {
        Planes::from_rows(self.rows.len(), self.width, |i, row| {
            if self.rows[i] != NONE {
                let entries = a.row(self.rows[i] as usize);
                row.extend(entries.map(|(j, v)| (self.cols[j], v)));
            }
        })
    }
}

/// One space: which old numbers its rows are, and where its columns go.
struct Space {
    rows: Vec<u32>,
    cols: Vec<u32>,
    width: usize,
}

impl Space {
    fn of(rows: Vec<u32>, old: usize) -> Self {
        let mut cols = vec![NONE; old];
        for (new, &f) in rows.iter().enumerate().filter(|(_, f)| **f != NONE) {
            cols[f as usize] = new as u32;
        }
        Self {
            width: rows.len(),
            rows,
            cols,
        }
    }

    fn from(&self, columns: &Self) -> Map {
        Map {
            rows: self.rows.clone(),
            cols: columns.cols.clone(),
            width: columns.width,
        }
    }
}

fn pick<T: Copy>(values: &[T], rows: &[u32], padding: T) -> Vec<T> {
    let value = |&row: &u32| values.get(row as usize).copied().unwrap_or(padding);
    rows.iter().map(value).collect()
}

impl Operators {
    /// The operators of a rank, from those of its part's mesh: the rows of `local`, exchanging
    /// cell values by `halo`. `outlet` tells whether any rank has an outlet.
    pub fn of_part(self, local: &Local, halo: Rc<Halo>, outlet: bool) -> Self {
        let n = local.cells;
        let first_halo = padded(n.max(1));
        let cells = Space {
            rows: (0..n as u32).collect(),
            cols: (0..n)
                .chain(first_halo..first_halo + local.halo)
                .map(|j| j as u32)
                .collect(),
            width: if local.halo > 0 {
                first_halo + local.halo
            } else {
                n
            },
        };
        let faces = Space::of(local.face_rows(), self.faces);
        let kept = local.nodes.min(self.nodes);
        let nodes = Space::of((0..kept as u32).collect(), self.nodes);
        let all = self.boundary.len();
        let given = Space::of((0..all as u32).collect(), all);
        let ours = local.faces.len() - local.interior;
        let boundary = Space::of((0..ours as u32).collect(), all);

        let front = |v: &[f64], n: usize| v[..n].to_vec();
        let momentum = match &self.momentum {
            Momentum::Cells {
                diffusion,
                convection,
            } => Momentum::Cells {
                convection: Map {
                    // Columns keep their order, so entries keep theirs.
                    rows: (0..diffusion.row_ptr[n] as u32).collect(),
                    ..cells.from(&faces)
                }
                .csr(convection),
                diffusion: cells.from(&cells).csr(diffusion),
            },
            Momentum::Faces { cells: c, nodes: v } => Momentum::Faces {
                cells: faces.from(&cells).planes(c),
                nodes: faces.from(&nodes).planes(v),
            },
        };
        Self {
            scheme: self.scheme,
            cells: n,
            interior_faces: local.interior,
            faces: faces.width,
            counted_faces: local.faces.len(),
            nodes: nodes.width,
            volume: front(&self.volume, n),
            divergence: cells.from(&faces).csr(&self.divergence),
            pressure_flux: faces.from(&cells).csr(&self.pressure_flux),
            pressure_flux_nodes: faces.from(&nodes).csr(&self.pressure_flux_nodes),
            pressure_flux_base: pick(&self.pressure_flux_base, &faces.rows, 0.0),
            laplacian: cells.from(&cells).csr(&self.laplacian),
            flux_cells: faces.from(&cells).planes(&self.flux_cells),
            flux_nodes: faces.from(&nodes).planes(&self.flux_nodes),
            gradient_cells: cells.from(&cells).planes(&self.gradient_cells),
            gradient_nodes: cells.from(&nodes).planes(&self.gradient_nodes),
            gradient_base: self.gradient_base.each_ref().map(|v| front(v, n)),
            nodal_velocity: nodes.from(&cells).csr(&self.nodal_velocity),
            nodal_velocity_boundary: nodes.from(&given).csr(&self.nodal_velocity_boundary),
            nodal_pressure: nodes.from(&cells).csr(&self.nodal_pressure),
            nodal_pressure_base: front(&self.nodal_pressure_base, nodes.width),
            momentum,
            face_length: pick(&self.face_length, &faces.rows, 1.0),
            viscous_rate: front(&self.viscous_rate, n),
            boundary: BoundaryFaces {
                kind: self.boundary.kind[..ours].to_vec(),
                owner: self.boundary.owner[..ours].to_vec(),
                normal: self.boundary.normal[..ours].to_vec(),
                area: self.boundary.area[..ours].to_vec(),
                diffusion: self.boundary.diffusion[..ours].to_vec(),
                scatter: cells.from(&boundary).csr(&self.boundary.scatter),
                pressure_nodes: boundary.from(&nodes).csr(&self.boundary.pressure_nodes),
                outlet_elsewhere: outlet,
            },
            halo,
        }
    }
}
