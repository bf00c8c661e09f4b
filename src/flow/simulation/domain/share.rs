//! A rank's share of the mesh, as rank 0 sends it.

use crate::cluster::halo::Link;
use crate::cluster::pack::{Pack, Unpack};
use crate::flow::operators::Scheme;
use crate::flow::simulation::profiles::Read;
use crate::mesh::Mesh;
use crate::{Error, Result};

/// What rank 0 gives to a rank.
pub(super) struct Share {
    pub scheme: Scheme,
    pub reason: String,
    pub notes: Vec<String>,
    pub outlet: bool,
    pub cells: usize,
    pub faces: usize,
    pub owned: usize,
    pub near: usize,
    /// The most that any rank has of them.
    pub near_most: usize,
    /// Rank of each cell of the halo.
    pub others: Vec<u32>,
    /// Rows are positions among the owned cells.
    pub read: Read,
    /// What is sent is such a position.
    pub links: Vec<Link>,
    pub mesh: Mesh,
}

impl Share {
    pub fn bytes(&self) -> Vec<u8> {
        let mut pack = Pack::default();
        pack.one(u8::from(self.scheme == Scheme::Consistent))
            .text(&self.reason)
            .text(&self.notes.join("\n"))
            .put(&[u8::from(self.outlet)])
            .put(
                &[
                    self.cells,
                    self.faces,
                    self.owned,
                    self.near,
                    self.near_most,
                ]
                .map(|n| n as u64),
            )
            .put(&self.others)
            .put(&self.read.row)
            .put(&self.read.number)
            .one(self.links.len() as u64);
        for l in &self.links {
            let ranges = [l.near.start, l.near.end, l.far.start, l.far.end];
            let numbers = [&[l.rank, l.send_near][..], &ranges].concat();
            pack.put(&numbers.iter().map(|&n| n as u64).collect::<Vec<_>>())
                .put(&l.send);
        }
        self.mesh.pack(&mut pack);
        pack.bytes()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Unpack(bytes);
        let short = || Error::failure("a part of the mesh is garbled", "report this");
        let scheme = match from.one::<u8>()? {
            1 => Scheme::Consistent,
            _ => Scheme::SymmetryPreserving,
        };
        let reason = from.text()?;
        let notes = from.text()?.lines().map(str::to_owned).collect();
        let outlet = from.one::<u8>()? == 1;
        let sizes = from.take::<u64>()?;
        let &[cells, faces, owned, near, near_most] = sizes.as_slice() else {
            return Err(short());
        };
        let others = from.take()?;
        let read = Read {
            row: from.take()?,
            number: from.take()?,
        };
        let count = from.one::<u64>()?;
        let mut links = Vec::new();
        for _ in 0..count {
            let numbers = from.take::<u64>()?;
            let numbers: Vec<usize> = numbers.iter().map(|&n| n as usize).collect();
            let &[rank, send_near, a, b, c, d] = numbers.as_slice() else {
                return Err(short());
            };
            links.push(Link {
                rank,
                send_near,
                near: a..b,
                far: c..d,
                send: from.take()?,
            });
        }
        Ok(Self {
            scheme,
            reason,
            notes,
            outlet,
            cells: cells as usize,
            faces: faces as usize,
            owned: owned as usize,
            near: near as usize,
            near_most: near_most as usize,
            others,
            read,
            links,
            mesh: Mesh::unpack(&mut from)?,
        })
    }
}
