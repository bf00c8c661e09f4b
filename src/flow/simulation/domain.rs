//! What one rank simulates: the whole mesh, or its part of it.

mod order;
mod share;

use std::rc::Rc;

use order::{order, straighten};
use share::Share;

use super::profiles::{Profiles, Read};
use super::setup;
use crate::cluster::halo::Link;
use crate::cluster::partition::Partition;
use crate::cluster::{Comm, Halo};
use crate::flow::boundary::FaceKind;
use crate::flow::case::{Boundary, Case};
use crate::flow::operators::{Local, Operators, Scheme};
use crate::mesh::part::{Cutter, Members};
use crate::mesh::{CellKind, Geometry, Mesh, Quality, cell_graph};
use crate::{Error, Result};

/// The mesh of a rank and the matrices on it.
pub(super) struct Domain {
    /// The mesh (of several ranks: owned cells, then those around them).
    pub mesh: Mesh,
    /// Its geometry.
    pub geometry: Geometry,
    /// What holds at its boundary.
    pub patches: Vec<setup::Patch>,
    /// The matrices.
    pub ops: Operators,
    /// Discretisation, and why.
    pub reason: String,
    /// What the log says of the parts.
    pub notes: Vec<String>,
    /// Of all ranks.
    pub whole: Whole,
    /// What profiles need.
    pub profiles: Profiles,
    /// What they read here.
    pub read: Read,
}

/// Sizes of the whole mesh.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole {
    /// Cells of all ranks.
    pub cells: usize,
    /// Faces of all ranks, each counted once.
    pub faces: usize,
    /// Most cells of other ranks that share a face with those of one.
    pub near_most: usize,
}

impl Domain {
    /// The whole mesh, or this rank's part, which rank 0 cuts out and sends.
    pub fn new(case: &Case, comm: &Rc<Comm>) -> Result<Self> {
        if comm.size() == 1 {
            return Self::whole(case);
        }
        let mine = if comm.leads() || !comm.is_manned() {
            deal(case, comm)?
        } else {
            (Share::from_bytes(&comm.receive(0)?)?, Profiles::default())
        };
        Self::part(case, comm, mine)
    }

    fn whole(case: &Case) -> Result<Self> {
        let (mesh, geometry) = case.ordered_mesh()?;
        let (scheme, reason) = case.discretisation(&Quality::of(&mesh, &geometry));
        let patches = setup::patches(case, &mesh)?;
        let profiles = Profiles::new(case, &mesh, &geometry, &patches);
        let ops = Operators::build(&mesh, &geometry, &kinds(&patches), scheme)?;
        Ok(Self {
            whole: Whole {
                cells: mesh.cells(),
                faces: mesh.faces(),
                near_most: 0,
            },
            read: profiles.read(),
            profiles,
            mesh,
            geometry,
            patches,
            ops,
            reason,
            notes: Vec::new(),
        })
    }

    fn part(case: &Case, comm: &Rc<Comm>, (share, profiles): (Share, Profiles)) -> Result<Self> {
        let order = order(&share);
        let mesh = share.mesh.renumber(&order)?;
        let geometry = Geometry::of(&mesh);
        let patches = setup::patches(case, &mesh)?;
        let full = Operators::build(&mesh, &geometry, &kinds(&patches), share.scheme)?;
        let owned = share.owned;
        let local = Local::new(&mesh, owned, share.near, comm.rank() as u32, &share.others);
        let mut row = vec![0u32; owned];
        for (new, &old) in order[..owned].iter().enumerate() {
            row[old as usize] = new as u32;
        }
        let (mut links, mut read) = (share.links, share.read);
        let sent = links.iter_mut().flat_map(|link| &mut link.send);
        for c in sent.chain(&mut read.row) {
            *c = row[*c as usize];
        }
        let halo = Rc::new(Halo::new(Rc::clone(comm), links));
        let ops = full.of_part(&local, halo, share.outlet);
        Ok(Self {
            mesh,
            geometry,
            patches,
            ops,
            reason: share.reason,
            notes: share.notes,
            whole: Whole {
                cells: share.cells,
                faces: share.faces,
                near_most: share.near_most,
            },
            profiles,
            read,
        })
    }
}

fn kinds(patches: &[setup::Patch]) -> Vec<FaceKind> {
    let faces = patches.iter();
    faces
        .flat_map(|p| p.faces.clone().map(|_| setup::face_kind(&p.boundary)))
        .collect()
}

/// Rank 0 reads the mesh, deals it out, and keeps its own share and what profiles need alone; where the others are not
/// there, any rank takes its share from the whole.
fn deal(case: &Case, comm: &Comm) -> Result<(Share, Profiles)> {
    let (mesh, geometry) = case.load_mesh()?;
    let (scheme, reason) = case.discretisation(&Quality::of(&mesh, &geometry));
    let profiles = Profiles::new(case, &mesh, &geometry, &setup::patches(case, &mesh)?);
    let centres = geometry.centre;
    let ranks = comm.size();
    let (ptr, adjacent) = cell_graph(&mesh);
    // Straight parts pay where rows are regular; of other cells they were not measured.
    let regular = mesh.kinds.iter().all(|k| *k == CellKind::Hexahedron);
    let partition = Partition::new(
        &ptr,
        &adjacent,
        regular.then_some(centres.as_slice()),
        ranks,
    )?;
    drop((ptr, adjacent));
    let by_nodes = scheme == Scheme::Consistent;
    let mut cutter = Cutter::new(&mesh, &partition.part, by_nodes);
    let mut members = cutter.members(ranks);
    if regular {
        straighten(&mut members, &partition.part, &centres);
    }
    drop(centres);
    let halo = members.iter().map(|m| m.near.len() + m.far.len());
    let (most, sum) = (halo.clone().max().unwrap_or(0), halo.sum::<usize>());
    let (least, largest) = (
        partition.cells.iter().min().unwrap_or(&0),
        partition.cells.iter().max().unwrap_or(&0),
    );
    let notes = vec![format!(
        "{ranks} ranks: {least} to {largest} cells each, balance {:.3}, {} faces cut; halo {} cells on average, at most {most}",
        partition.balance(),
        partition.cut,
        sum / ranks
    )];
    let outlet = mesh.patches.iter().any(|p| {
        let holds = case.boundary.get(&p.name);
        !p.faces.is_empty() && matches!(holds, Some(Boundary::Outlet { .. }))
    });
    let mut mine = None;
    let taken = |rank: &usize| comm.is_manned() || *rank == comm.rank();
    for rank in (0..ranks).rev().filter(taken) {
        let share = Share {
            scheme,
            reason: reason.clone(),
            notes: if rank == 0 { notes.clone() } else { Vec::new() },
            outlet,
            cells: mesh.cells(),
            faces: mesh.faces(),
            owned: members[rank].owned.len(),
            near: members[rank].near.len(),
            near_most: members.iter().map(|m| m.near.len()).max().unwrap_or(0),
            others: halo_of(&members[rank])
                .map(|&c| partition.part[c as usize])
                .collect(),
            read: profiles.read_of(&members[rank].owned),
            links: links(rank, &members, &partition.part),
            mesh: cutter.mesh_of(&members[rank]),
        };
        if rank == comm.rank() {
            mine = Some(share);
        } else {
            comm.send(rank, &share.bytes())?;
        }
    }
    let mine = mine.ok_or_else(|| Error::failure("this rank has no part", "report this"))?;
    Ok((mine, profiles))
}

fn halo_of(m: &Members) -> impl Iterator<Item = &u32> {
    m.near.iter().chain(&m.far)
}

/// What `rank` gives to and gets from the others.
fn links(rank: usize, members: &[Members], part: &[u32]) -> Vec<Link> {
    let mine = &members[rank];
    let position = |c: &u32| mine.owned.binary_search(c).map_or(0, |i| i as u32);
    // Lists are sorted by rank: those of one are together.
    let of = |list: &[u32], r: usize| {
        let start = list.partition_point(|&c| (part[c as usize] as usize) < r);
        start..list.partition_point(|&c| part[c as usize] as usize <= r)
    };
    let mut all = Vec::new();
    for (other, theirs) in members.iter().enumerate() {
        if other == rank {
            continue;
        }
        let send =
            |list: &[u32]| -> Vec<u32> { list[of(list, rank)].iter().map(position).collect() };
        let (near, far) = (send(&theirs.near), send(&theirs.far));
        let beyond = of(&mine.far, other);
        let link = Link {
            rank: other,
            send_near: near.len(),
            send: [near, far].concat(),
            near: of(&mine.near, other),
            far: beyond.start + mine.near.len()..beyond.end + mine.near.len(),
        };
        if !link.send.is_empty() || !link.near.is_empty() || !link.far.is_empty() {
            all.push(link);
        }
    }
    all
}
