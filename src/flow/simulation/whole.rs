//! The velocity on the whole mesh, on one rank, for what cannot be done in parts.

use super::{Simulation, setup};
use crate::Result;
use crate::cluster::pack::{Pack, Unpack};
use crate::flow::boundary::Vectors;
use crate::mesh::{Geometry, Mesh};

/// The velocity of all cells, and what is given at the boundary.
pub struct WholeField {
    /// The whole mesh.
    pub mesh: Mesh,
    /// Its geometry.
    pub geometry: Geometry,
    /// Velocity in cells, m/s.
    pub velocity: Vec<[f64; 3]>,
    patches: Vec<setup::Patch>,
    given: Vectors,
}

impl WholeField {
    /// The velocity given at face `f`, where one is.
    pub fn given_velocity(&self, f: usize) -> Option<[f64; 3]> {
        let b = f.checked_sub(self.mesh.interior_faces())?;
        setup::given_at(&self.patches, &self.given, b)
    }
}

impl Simulation {
    /// The velocity of all ranks, on rank 0, which reads the mesh again for it; `None` on the
    /// others.
    ///
    /// # Errors
    /// A rank no longer answers; the mesh can no longer be read.
    pub fn whole_field(&self) -> Result<Option<WholeField>> {
        let comm = self.engine.comm();
        let velocity = self.stepper.velocity()?;
        let [u, v, w] = velocity.each_ref().map(|x| x.as_ref());
        if comm.size() == 1 {
            return Ok(Some(WholeField {
                mesh: self.mesh.clone(),
                geometry: self.geometry.clone(),
                velocity: (0..u.len()).map(|c| [u[c], v[c], w[c]]).collect(),
                patches: self.patches.clone(),
                given: self.given.clone(),
            }));
        }
        let mut pack = Pack::default();
        pack.put(&self.whole.cell).put(u).put(v).put(w);
        let all = comm.collect(&pack.bytes())?;
        if !comm.leads() {
            return Ok(None);
        }
        let mut velocity = vec![[0.0; 3]; self.whole.cells];
        for bytes in &all {
            let mut from = Unpack(bytes);
            let cells = from.take::<u32>()?;
            for k in 0..3 {
                for (&c, x) in cells.iter().zip(from.take::<f64>()?) {
                    velocity[c as usize][k] = x;
                }
            }
        }
        let (mesh, geometry) = self.case.load_mesh()?;
        let patches = setup::patches(&self.case, &mesh)?;
        let nu = self.case.fluid.viscosity;
        let edge = &geometry.face_centre[mesh.interior_faces()..];
        let given = setup::given(&patches, edge, self.time_s, nu);
        Ok(Some(WholeField {
            mesh,
            geometry,
            velocity,
            patches,
            given,
        }))
    }
}
