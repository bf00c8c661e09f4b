//! Velocity along the lines of a case's profiles: what is read of the mesh is kept from the start.

use std::collections::HashMap;

use super::{Simulation, setup};
use crate::cluster::pack::{Pack, Unpack};
use crate::flow::boundary::FaceKind;
use crate::flow::case::{Boundary, Case};
use crate::mesh::probe::{Line, Probe, Sample};
use crate::mesh::{Geometry, Mesh};
use crate::{Error, Result};

/// What the first rank needs to draw the profiles; empty on the others.
#[derive(Default)]
pub(super) struct Profiles {
    probes: Vec<Probe>,
    /// Cells that these read, ascending.
    cells: Vec<u32>,
    /// What holds at the boundary faces that they read and where a velocity is given, and the faces'
    /// centres, m.
    edge: HashMap<usize, (Boundary, [f64; 3])>,
}

/// Cells of a rank that the profiles read.
#[derive(Clone, Debug, Default)]
pub(super) struct Read {
    /// Their rows.
    pub row: Vec<u32>,
    /// Their numbers in the whole mesh.
    pub number: Vec<u32>,
}

impl Profiles {
    /// Of the whole mesh.
    pub fn new(case: &Case, mesh: &Mesh, geometry: &Geometry, patches: &[setup::Patch]) -> Self {
        let lines = case.output.profiles.iter().map(|p| Line {
            from: p.from,
            to: p.to,
            samples: p.points,
        });
        let probes = Probe::new(mesh, geometry, &lines.collect::<Vec<_>>());
        let mut cells: Vec<u32> = probes
            .iter()
            .flat_map(Probe::cells)
            .map(|c| c as u32)
            .collect();
        cells.sort_unstable();
        cells.dedup();
        let held = |f: usize| {
            let b = f - mesh.interior_faces();
            let patch = patches.iter().find(|p| p.faces.contains(&b))?;
            let given = setup::face_kind(&patch.boundary) == FaceKind::Dirichlet;
            given.then(|| (f, (patch.boundary.clone(), geometry.face_centre[f])))
        };
        Self {
            edge: probes
                .iter()
                .flat_map(Probe::faces)
                .filter_map(held)
                .collect(),
            probes,
            cells,
        }
    }

    /// Those of the cells read that are among `owned`, which ascend; rows are places in it.
    pub fn read_of(&self, owned: &[u32]) -> Read {
        let mine = self.cells.iter().filter_map(|c| {
            let row = owned.binary_search(c).ok()?;
            Some((row as u32, *c))
        });
        let (row, number) = mine.unzip();
        Read { row, number }
    }

    /// Those of all cells.
    pub fn read(&self) -> Read {
        Read {
            row: self.cells.clone(),
            number: self.cells.clone(),
        }
    }
}

impl Simulation {
    /// Velocity along the lines of the case's profiles, one list each, on rank 0; `None` on the
    /// others. On boundary faces with a given velocity, that velocity.
    ///
    /// # Errors
    /// A transfer or mapping failed; a rank no longer answers.
    pub fn profiles(&self) -> Result<Option<Vec<Vec<Sample<3>>>>> {
        let comm = self.engine.comm();
        let velocity = self.stepper.velocity()?;
        let u = velocity.each_ref().map(|x| x.as_ref());
        let at = |&row: &u32| u.map(|x| x[row as usize]);
        let mine: Vec<[f64; 3]> = self.read.row.iter().map(at).collect();
        let mut pack = Pack::default();
        pack.put(&self.read.number).put(&mine);
        let all = comm.collect(&pack.bytes())?;
        if !comm.leads() {
            return Ok(None);
        }
        let mut values = HashMap::new();
        for bytes in &all {
            let mut from = Unpack(bytes);
            values.extend(
                from.take::<u32>()?
                    .into_iter()
                    .zip(from.take::<[f64; 3]>()?),
            );
        }
        let of = &self.profiles;
        let (got, want) = (values.len(), of.cells.len());
        if got != want {
            let what = format!("the profiles got velocities of {got} of {want} cells");
            return Err(Error::failure(what, "report this"));
        }
        let nu = self.case.fluid.viscosity;
        let given = |f: usize| {
            let (boundary, centre) = of.edge.get(&f)?;
            Some(setup::velocity_at(boundary, *centre, self.time_s, nu))
        };
        let drawn = of.probes.iter();
        let samples = drawn.map(|p| p.sample(&|c| values[&(c as u32)], &given));
        Ok(Some(samples.collect()))
    }
}
