//! Parts of a mesh for ranks: the cells that a rank owns and those around them that its
//! operators read.

use crate::mesh::Mesh;
use crate::mesh::build::NO_POINT;
use crate::mesh::faces::{self, Row};
use crate::mesh::renumber::seen_from_neighbour;

/// The patch of faces at which a part was cut out of its mesh. They complete the geometry of the
/// outermost cells; no operator of an owned cell reads anything there.
pub const CUT: &str = "(cut)";

/// Boundary nodes with fewer cells than this are interpolated from one ring of cells more: without,
/// their fit is one-sided and poor.
pub const BOUNDARY_CELLS: usize = 24;

/// Cells of one rank, by their numbers in the whole mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members {
    /// Its own.
    pub owned: Vec<u32>,
    /// Others that share a face with an owned one, by rank, then number (unless sorted otherwise).
    pub near: Vec<u32>,
    /// Others that the operators of its cells read, by rank, then number.
    pub far: Vec<u32>,
}

/// Cuts parts out of a mesh.
pub struct Cutter<'a> {
    mesh: &'a Mesh,
    part: &'a [u32],
    /// Faces of cell `c`: `faces[face_ptr[c]..face_ptr[c + 1]]`.
    face_ptr: Vec<usize>,
    faces: Vec<u32>,
    /// Cells around node `v`, once per point: `around[node_ptr[v]..node_ptr[v + 1]]`; empty where
    /// only faces connect.
    node_ptr: Vec<usize>,
    around: Vec<u32>,
    at_boundary: Vec<bool>,
    /// Number in the present part of each cell and point.
    local_cell: Vec<u32>,
    local_point: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<'a> Cutter<'a> {
    /// For the ranks `part` of the cells; `by_nodes` where operators read the cells around nodes.
    pub fn new(mesh: &'a Mesh, part: &'a [u32], by_nodes: bool) -> Self {
        let cells = mesh.cells();
        let sides = || {
            let owners = mesh.owner.iter().enumerate();
            owners.chain(mesh.neighbour.iter().enumerate())
        };
        let (face_ptr, faces) = lists(cells, || sides().map(|(f, &c)| (c as usize, f as u32)));
        let nodes = if by_nodes { mesh.nodes() } else { 0 };
        let node = |p: u32| mesh.node_of(p) as usize;
        let (node_ptr, around) = lists(nodes, || {
            (0..if by_nodes { cells } else { 0 })
                .flat_map(move |c| mesh.cell(c).iter().map(move |&p| (node(p), c as u32)))
        });
        let mut at_boundary = vec![false; nodes];
        if by_nodes {
            for f in mesh.interior_faces()..mesh.faces() {
                for &p in mesh.face(f) {
                    at_boundary[node(p)] = true;
                }
            }
        }
        Self {
            mesh,
            part,
            face_ptr,
            faces,
            node_ptr,
            around,
            at_boundary,
            local_cell: vec![NONE; cells],
            local_point: vec![NONE; mesh.points.len()],
        }
    }

    /// The cells of every rank.
    pub fn members(&self, ranks: usize) -> Vec<Members> {
        let mut all = vec![Members::default(); ranks];
        for (c, &p) in self.part.iter().enumerate() {
            all[p as usize].owned.push(c as u32);
        }
        let mut stamp = vec![NONE; self.mesh.cells()];
        let mut node_stamp = vec![NONE; self.node_ptr.len().saturating_sub(1)];
        for (rank, members) in all.iter_mut().enumerate() {
            self.surround(rank as u32, members, &mut stamp, &mut node_stamp);
        }
        all
    }

    fn surround(
        &self,
        rank: u32,
        members: &mut Members,
        stamp: &mut [u32],
        node_stamp: &mut [u32],
    ) {
        for &c in &members.owned {
            stamp[c as usize] = rank;
        }
        for &c in &members.owned {
            for f in self.faces_of(c) {
                if let Some(other) = self.across(f, c)
                    && stamp[other as usize] != rank
                {
                    stamp[other as usize] = rank;
                    members.near.push(other);
                }
            }
        }
        if !self.around.is_empty() {
            let mut found = Vec::new();
            let mut see = |c: u32, found: &mut Vec<u32>| {
                if stamp[c as usize] != rank {
                    stamp[c as usize] = rank;
                    found.push(c);
                }
            };
            for &c in members.owned.iter().chain(&members.near) {
                for &p in self.mesh.cell(c as usize) {
                    let v = self.mesh.node_of(p) as usize;
                    if std::mem::replace(&mut node_stamp[v], rank) == rank {
                        continue;
                    }
                    let ring = self.around(v);
                    ring.iter().for_each(|&c| see(c, &mut found));
                    if self.at_boundary[v] && ring.len() < BOUNDARY_CELLS {
                        for &p in ring.iter().flat_map(|&c| self.mesh.cell(c as usize)) {
                            let ring = self.around(self.mesh.node_of(p) as usize);
                            ring.iter().for_each(|&c| see(c, &mut found));
                        }
                    }
                }
            }
            members.far = found;
        }
        for list in [&mut members.near, &mut members.far] {
            list.sort_unstable_by_key(|&c| (self.part[c as usize], c));
        }
    }

    /// The mesh of `members`: owned cells, near ones, far ones. Boundary faces of owned cells come
    /// first, patch by patch, then those of others under the same names, then [`CUT`].
    pub fn mesh_of(&mut self, members: &Members) -> Mesh {
        let mesh = self.mesh;
        let cells: Vec<u32> = [&members.owned, &members.near, &members.far]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        for (i, &c) in cells.iter().enumerate() {
            self.local_cell[c as usize] = i as u32;
        }
        let mut out = Mesh {
            kinds: cells.iter().map(|&c| mesh.kinds[c as usize]).collect(),
            cell_ptr: vec![0],
            cell_ids: cells
                .iter()
                .filter_map(|&c| mesh.cell_ids.get(c as usize).copied())
                .collect(),
            source: mesh.source.clone(),
            ..Mesh::default()
        };
        let mut used = Vec::new();
        for &c in &cells {
            for &p in mesh.cell(c as usize) {
                let slot = &mut self.local_point[p as usize];
                if *slot == NONE {
                    *slot = used.len() as u32;
                    used.push(p);
                }
                out.cell_points.push(*slot);
            }
            out.cell_ptr.push(out.cell_points.len());
        }
        out.points = used.iter().map(|&p| mesh.points[p as usize]).collect();
        if !mesh.point_class.is_empty() {
            out.point_class = counted_anew(used.iter().map(|&p| mesh.point_class[p as usize]));
        }
        let (interior, boundary) = self.rows(&cells, members.owned.len());
        let names = mesh.patches.iter().map(|p| p.name.clone());
        let names = names.clone().chain(names).chain([CUT.to_string()]);
        faces::set(&mut out, interior, boundary, names.collect());
        for &c in &cells {
            self.local_cell[c as usize] = NONE;
        }
        for &p in &used {
            self.local_point[p as usize] = NONE;
        }
        out
    }

    fn rows(&self, cells: &[u32], owned: usize) -> (Vec<Row>, Vec<Row>) {
        let (mesh, patches) = (self.mesh, self.mesh.patches.len());
        let (mut interior, mut boundary) = (Vec::new(), Vec::new());
        let push = |to: &mut Vec<Row>, mut row: Row| {
            for p in row.points.iter_mut().filter(|p| **p != NO_POINT) {
                *p = self.local_point[*p as usize];
            }
            to.push(row);
        };
        for (here, &c) in cells.iter().enumerate() {
            for f in self.faces_of(c) {
                let mut row = Row {
                    owner: here as u32,
                    ..Row::of(mesh, f)
                };
                let Some(other) = self.across(f, c) else {
                    let group = mesh.patches.partition_point(|p| p.faces.end <= f);
                    let inside = if here < owned { 0 } else { patches };
                    row.neighbour = (group + inside) as u32;
                    push(&mut boundary, row);
                    continue;
                };
                let there = self.local_cell[other as usize];
                if there != NONE && (there as usize) < here {
                    continue;
                }
                if mesh.owner[f] != c {
                    (row.owner, row.neighbour) = (there, here as u32);
                    row = seen_from_neighbour(mesh, f, row);
                }
                row.neighbour = there;
                if there == NONE {
                    row.neighbour = 2 * patches as u32;
                    row.shift = [0.0; 3];
                    push(&mut boundary, row);
                } else {
                    push(&mut interior, row);
                }
            }
        }
        (interior, boundary)
    }

    fn faces_of(&self, c: u32) -> impl Iterator<Item = usize> + '_ {
        let c = c as usize;
        let list = &self.faces[self.face_ptr[c]..self.face_ptr[c + 1]];
        list.iter().map(|&f| f as usize)
    }

    /// The cell on the other side of face `f` of cell `c`.
    fn across(&self, f: usize, c: u32) -> Option<u32> {
        let &neighbour = self.mesh.neighbour.get(f)?;
        let owner = self.mesh.owner[f];
        Some(if owner == c { neighbour } else { owner })
    }

    fn around(&self, v: usize) -> &[u32] {
        &self.around[self.node_ptr[v]..self.node_ptr[v + 1]]
    }
}

/// Items by key, in the order given.
fn lists<I: Iterator<Item = (usize, u32)>>(
    keys: usize,
    items: impl Fn() -> I,
) -> (Vec<usize>, Vec<u32>) {
    let mut ptr = vec![0usize; keys + 1];
    for (key, _) in items() {
        ptr[key + 1] += 1;
    }
    for k in 0..keys {
        ptr[k + 1] += ptr[k];
    }
    let mut list = vec![0; ptr[keys]];
    let mut next = ptr.clone();
    for (key, item) in items() {
        list[next[key]] = item;
        next[key] += 1;
    }
    (ptr, list)
}

/// Numbers from 0 in the order of first appearance.
fn counted_anew(classes: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut number = std::collections::HashMap::new();
    classes
        .map(|class| {
            let next = number.len() as u32;
            *number.entry(class).or_insert(next)
        })
        .collect()
}

impl Mesh {
    /// Number of nodes: classes of points.
    pub fn nodes(&self) -> usize {
        match self.point_class.iter().max() {
            Some(&last) => last as usize + 1,
            None => self.points.len(),
        }
    }

    /// The node of a point.
    pub fn node_of(&self, point: u32) -> u32 {
        self.point_class
            .get(point as usize)
            .copied()
            .unwrap_or(point)
    }
}
