//! Nodes, elements and groups as they are read, and the mesh made of them.

use std::collections::BTreeMap;

use crate::mesh::Mesh;
use crate::mesh::build::{Boundary, Cells, NO_POINT, build};
use crate::mesh::gmsh::cursor::Cursor;
use crate::mesh::gmsh::shape::Shape;
use crate::{Error, Result};

const FIRST_ORDER: &str = "export a first-order mesh of tetrahedra, pyramids, prisms and hexahedra (Mesh.ElementOrder = 1)";

/// What the sections of a file have given so far.
#[derive(Default)]
pub(crate) struct Raw {
    /// Names of the physical groups by (dimension, number).
    pub names: BTreeMap<(i32, i32), String>,
    /// Physical groups of the surfaces (MSH 4.1).
    pub surface_groups: BTreeMap<i32, Vec<i32>>,
    /// Numbers of the nodes with their places in `points`, sorted once all are read.
    tags: Vec<(u64, u32)>,
    points: Vec<[f64; 3]>,
    cells: Cells,
    surfaces: Vec<[u32; 4]>,
    /// Physical group of each surface element; 0 is none.
    surface_group: Vec<i32>,
}

impl Raw {
    pub fn add_tag(&mut self, tag: u64) {
        self.tags.push((tag, self.tags.len() as u32));
    }

    /// Reads one position.
    pub fn add_point(&mut self, cursor: &mut Cursor) -> Result<()> {
        let mut point = [0.0; 3];
        for x in &mut point {
            *x = cursor.real("a coordinate")?;
            if !x.is_finite() {
                return Err(cursor.fail(
                    format!("coordinate {x} is not finite"),
                    "mesh the geometry again",
                ));
            }
        }
        self.points.push(point);
        Ok(())
    }

    pub fn finish_nodes(&mut self, cursor: &Cursor) -> Result<()> {
        if u32::try_from(self.points.len() + 1).is_err() {
            return Err(cursor.fail("more than 2^32 nodes", "use a coarser mesh"));
        }
        self.tags.sort_unstable();
        match self.tags.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(cursor.fail(
                format!("node {} is defined twice", pair[0].0),
                "give each node its own number",
            )),
            None => Ok(()),
        }
    }

    /// Place of a node: direct where the numbers have no gap, which is the rule.
    fn node(&self, tag: u64) -> Option<u32> {
        let (first, _) = *self.tags.first()?;
        let guess = usize::try_from(tag.checked_sub(first)?).ok()?;
        match self.tags.get(guess) {
            Some(&(found, place)) if found == tag => Some(place),
            _ => {
                let at = self.tags.binary_search_by_key(&tag, |entry| entry.0).ok()?;
                Some(self.tags[at].1)
            }
        }
    }

    /// Shape of the element type that was read last.
    pub fn shape(cursor: &Cursor, element_type: i32) -> Result<Shape> {
        Shape::of(element_type)
            .map_err(|name| cursor.fail(format!("elements {name} cannot be used"), FIRST_ORDER))
    }

    /// Reads the nodes of one element with `next` and files it. `group` is the physical
    /// group of a surface, 0 if it has none.
    pub fn add_element(
        &mut self,
        cursor: &mut Cursor,
        shape: Shape,
        id: u64,
        group: i32,
        mut next: impl FnMut(&mut Cursor) -> Result<u64>,
    ) -> Result<()> {
        let mut nodes = [NO_POINT; 8];
        let count = shape.nodes();
        for i in 0..count {
            let tag = next(cursor)?;
            let Some(node) = self.node(tag) else {
                return Err(cursor.fail(
                    format!("element {id} uses node {tag}, which $Nodes does not define"),
                    "export the mesh again, with all its nodes",
                ));
            };
            if nodes[..i].contains(&node) {
                return Err(cursor.fail(
                    format!("element {id} has node {tag} twice"),
                    "mesh the geometry again: this element has collapsed",
                ));
            }
            nodes[i] = node;
        }
        match shape {
            Shape::Ignored { .. } => {}
            Shape::Surface { .. } => {
                self.surfaces.push([nodes[0], nodes[1], nodes[2], nodes[3]]);
                self.surface_group.push(group);
            }
            Shape::Volume(kind) => {
                self.cells.kinds.push(kind);
                self.cells.ids.push(id);
                self.cells.cell_points.extend_from_slice(&nodes[..count]);
            }
        }
        Ok(())
    }

    /// The mesh: points that no element uses are left out, groups become patches by number.
    pub fn mesh(mut self, name: &str) -> Result<Mesh> {
        if self.cells.kinds.is_empty() {
            return Err(Error::input(
                name,
                format!(
                    "the mesh has no volume elements ({} surface elements)",
                    self.surfaces.len()
                ),
                "mesh in three dimensions, put the volume in a physical group, and export again",
            ));
        }
        let mut boundary = self.boundary(name)?;
        let mut place = vec![NO_POINT; self.points.len()];
        let used = self.cells.cell_points.iter_mut();
        let used = used.chain(
            boundary
                .faces
                .iter_mut()
                .flatten()
                .filter(|v| **v != NO_POINT),
        );
        for v in used {
            let to = &mut place[*v as usize];
            if *to == NO_POINT {
                *to = self.cells.points.len() as u32;
                self.cells.points.push(self.points[*v as usize]);
            }
            *v = *to;
        }
        build(self.cells, &boundary, name)
    }

    fn boundary(&mut self, name: &str) -> Result<Boundary> {
        let mut patches: BTreeMap<i32, u32> = BTreeMap::new();
        for &group in self.surface_group.iter().filter(|&&group| group != 0) {
            patches.insert(group, 0);
        }
        let mut boundary = Boundary::default();
        for (&group, patch) in &mut patches {
            let Some(text) = self.names.get(&(2, group)).filter(|text| !text.is_empty()) else {
                return Err(Error::input(
                    name,
                    format!("physical surface {group} has no name in $PhysicalNames"),
                    "name it: Physical Surface(\"name\") = {...}",
                ));
            };
            if boundary.names.contains(text) {
                return Err(Error::input(
                    name,
                    format!("two physical surfaces are called \"{text}\""),
                    "give each its own name, or make them one",
                ));
            }
            *patch = boundary.names.len() as u32;
            boundary.names.push(text.clone());
        }
        for (face, group) in self.surfaces.iter().zip(&self.surface_group) {
            if let Some(&patch) = patches.get(group) {
                boundary.faces.push(*face);
                boundary.group.push(patch);
            }
        }
        Ok(boundary)
    }
}
