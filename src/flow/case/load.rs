//! The mesh of a case, ready for the operators.

use super::{Boundary, Case, MeshSource};
use crate::mesh::{Mesh, box_mesh, gmsh, join_periodic};
use crate::{Error, Result};

impl Case {
    /// Reads or makes the mesh, matches its boundaries with the case's, and joins those that
    /// are periodic.
    ///
    /// # Errors
    /// As [`gmsh::read`], [`box_mesh`], [`Case::match_patches`] and [`join_periodic`].
    pub fn load_mesh(&self) -> Result<Mesh> {
        let mut mesh = match &self.mesh {
            MeshSource::File(path) => gmsh::read(path)?,
            MeshSource::Box(spec) => box_mesh(spec)?,
        };
        let names: Vec<&str> = mesh.patches.iter().map(|p| p.name.as_str()).collect();
        self.match_patches(&names)?;
        for (name, boundary) in &self.boundary {
            let Boundary::Periodic { with } = boundary else {
                continue;
            };
            if name > with {
                // Partners name each other: the first in the alphabet has joined the two.
                continue;
            }
            join_periodic(&mut mesh, name, with).map_err(|error| match error {
                Error::Input { what, remedy, .. } => {
                    Error::input(self.place(&format!("boundary.{name}")), what, remedy)
                }
                other => other,
            })?;
        }
        Ok(mesh)
    }
}
