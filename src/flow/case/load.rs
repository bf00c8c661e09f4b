//! The mesh of a case, ready for the operators.

use super::{Boundary, Case, MeshSource};
use crate::mesh::{
    Discretisation, Geometry, Mesh, Quality, box_mesh, check, gmsh, join_periodic, locality_order,
};
use crate::{Error, Result};

impl Case {
    /// Reads or makes the mesh, matches its boundaries with the case's, joins those that are
    /// periodic, and checks the result.
    ///
    /// # Errors
    /// As [`gmsh::read`], [`box_mesh`], [`Case::match_patches`], [`join_periodic`] and
    /// [`check()`].
    pub fn load_mesh(&self) -> Result<(Mesh, Geometry)> {
        let mut mesh = match &self.mesh {
            MeshSource::File(path) => gmsh::read(path).map_err(|error| match error {
                // The key that names the file is what to correct.
                Error::Io { source, remedy, .. } => {
                    let what = format!("{} cannot be read ({source})", path.display());
                    Error::input(self.place("mesh.file"), what, remedy)
                }
                other => other,
            })?,
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
        let geometry = Geometry::of(&mesh);
        check(&mesh, &geometry)?;
        Ok((mesh, geometry))
    }

    /// The same, numbered for locality: the cells of a run on one rank.
    ///
    /// # Errors
    /// As [`Case::load_mesh`].
    pub fn ordered_mesh(&self) -> Result<(Mesh, Geometry)> {
        let (mesh, _) = self.load_mesh()?;
        let order = locality_order(&mesh);
        let mesh = mesh.renumber(&order)?;
        let geometry = Geometry::of(&mesh);
        Ok((mesh, geometry))
    }

    /// The discretisation for a mesh of this quality, and why: the case's own choice, or else
    /// what [`Quality::recommend`] says.
    pub fn discretisation(&self, quality: &Quality) -> (Discretisation, String) {
        match self.scheme.discretisation {
            Some(chosen) => (chosen, "the case asks for it".to_owned()),
            None => quality.recommend(),
        }
    }
}
