//! Meshes as bytes, to be sent from rank to rank.

use crate::cluster::pack::{Pack, Unpack};
use crate::mesh::{CellKind, Mesh, Patch};
use crate::{Error, Result};

impl Mesh {
    /// All of the mesh, to be sent.
    pub fn pack(&self, into: &mut Pack) {
        let kinds: Vec<u8> = self.kinds.iter().map(|&k| k as u8).collect();
        into.text(&self.source)
            .put(bytemuck::cast_slice::<[f64; 3], f64>(&self.points))
            .put(&kinds)
            .put(&self.cell_points);
        let triangles: Vec<u8> = (0..self.faces())
            .map(|f| u8::from(self.face(f).len() == 3))
            .collect();
        into.put(&triangles)
            .put(&self.face_points)
            .put(&self.owner)
            .put(&self.neighbour)
            .put(bytemuck::cast_slice::<[f64; 3], f64>(&self.shift))
            .put(&self.point_class)
            .put(&self.cell_ids)
            .one(self.patches.len() as u64);
        for patch in &self.patches {
            into.text(&patch.name).one(patch.faces.end as u64);
        }
    }

    /// What [`Mesh::pack`] has packed.
    ///
    /// # Errors
    /// The bytes are none of a mesh.
    pub fn unpack(from: &mut Unpack) -> Result<Self> {
        let triples = |v: Vec<f64>| v.chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect();
        let source = from.text()?;
        let points = triples(from.take()?);
        let kinds = from.take::<u8>()?.into_iter().map(|k| {
            let all = CellKind::ALL;
            all.into_iter().find(|&kind| kind as u8 == k)
        });
        let kinds: Option<Vec<CellKind>> = kinds.collect();
        let mut mesh = Self {
            source,
            points,
            kinds: kinds
                .ok_or_else(|| Error::failure("a mesh from rank 0 is garbled", "report this"))?,
            cell_points: from.take()?,
            cell_ptr: vec![0],
            face_ptr: vec![0],
            ..Self::default()
        };
        let mut end = 0;
        for kind in &mesh.kinds {
            end += kind.points();
            mesh.cell_ptr.push(end);
        }
        end = 0;
        for triangle in from.take::<u8>()? {
            end += 4 - usize::from(triangle);
            mesh.face_ptr.push(end);
        }
        mesh.face_points = from.take()?;
        mesh.owner = from.take()?;
        mesh.neighbour = from.take()?;
        mesh.shift = triples(from.take()?);
        mesh.point_class = from.take()?;
        mesh.cell_ids = from.take()?;
        let mut start = mesh.neighbour.len();
        for _ in 0..from.one::<u64>()? {
            let name = from.text()?;
            let end = from.one::<u64>()? as usize;
            mesh.patches.push(Patch {
                name,
                faces: start..end,
            });
            start = end;
        }
        Ok(mesh)
    }
}
