//! What a mesh must satisfy before anything is solved on it.

use crate::mesh::geometry::{add, dot, norm, scale, sub};
use crate::mesh::{Geometry, Mesh};
use crate::{Error, Result};

/// Largest |sum of area vectors| of a closed cell, as a part of its surface. Periodic pairs
/// may differ by a part of their size, so this is far above round-off.
const CLOSURE: f64 = 1e-5;

/// Positive volumes, closed cells, `d . n > 0` at every face, all cells connected.
///
/// In a mesh whose faces are matched, closed cells make the volumes add up to the volume
/// inside the boundary (divergence theorem), and then cells can overlap only where one is
/// inside out or lies on the wrong side of its face: these are what is looked for.
///
/// # Errors
/// The first cell or pair of cells that is wrong, by number and place, and how many are.
pub fn check(mesh: &Mesh, geometry: &Geometry) -> Result<()> {
    volumes(mesh, geometry)?;
    closed(mesh, geometry)?;
    facing(mesh, geometry)?;
    connected(mesh, geometry)
}

fn named(mesh: &Mesh, c: usize) -> String {
    format!("{} ({})", mesh.cell_name(c), mesh.kinds[c].name())
}

fn at([x, y, z]: [f64; 3]) -> String {
    format!("at ({x:.6}, {y:.6}, {z:.6})")
}

/// ", the first of n" where there are several.
fn of_many(count: usize) -> String {
    if count > 1 {
        format!(" (the first of {count})")
    } else {
        String::new()
    }
}

fn volumes(mesh: &Mesh, geometry: &Geometry) -> Result<()> {
    let bad = |&c: &usize| !(geometry.volume[c] > 0.0 && geometry.volume[c].is_finite());
    let Some(first) = (0..mesh.cells()).find(bad) else {
        return Ok(());
    };
    let overlapped = overlapped(mesh, geometry, first);
    let overlap = if overlapped.is_empty() {
        String::new()
    } else {
        format!(" and overlaps {}", overlapped.join(", "))
    };
    Err(Error::input(
        &mesh.source,
        format!(
            "{} {} has the volume {:.6e}{overlap}{}",
            named(mesh, first),
            at(geometry.centre[first]),
            geometry.volume[first],
            of_many((0..mesh.cells()).filter(bad).count())
        ),
        "mesh the geometry again: cells must not be inside out, flat or overlapping",
    ))
}

/// Neighbours of `c` that have its centre inside, or else all its neighbours.
fn overlapped(mesh: &Mesh, geometry: &Geometry, c: usize) -> Vec<String> {
    let around = |cell: usize| {
        (0..mesh.faces()).filter(move |&f| {
            mesh.owner[f] as usize == cell || mesh.neighbour.get(f) == Some(&(cell as u32))
        })
    };
    let mut neighbours: Vec<usize> = around(c)
        .filter_map(|f| {
            let n = *mesh.neighbour.get(f)? as usize;
            let o = mesh.owner[f] as usize;
            Some(if n == c { o } else { n })
        })
        .collect();
    neighbours.sort_unstable();
    neighbours.dedup();
    let inside = |&n: &usize| {
        around(n).all(|f| {
            let side = dot(
                sub(geometry.centre[c], geometry.face_centre[f]),
                geometry.face_normal[f],
            );
            if mesh.owner[f] as usize == n {
                side <= 0.0
            } else {
                side >= 0.0
            }
        })
    };
    let holding: Vec<usize> = neighbours.iter().copied().filter(inside).collect();
    let guilty = if holding.is_empty() {
        neighbours
    } else {
        holding
    };
    guilty.into_iter().map(|n| named(mesh, n)).collect()
}

fn closed(mesh: &Mesh, geometry: &Geometry) -> Result<()> {
    let mut sum = vec![[0.0; 3]; mesh.cells()];
    let mut surface = vec![0.0; mesh.cells()];
    for f in 0..mesh.faces() {
        let s = scale(geometry.face_normal[f], geometry.face_area[f]);
        let mut count = |c: usize, sign: f64| {
            sum[c] = add(sum[c], scale(s, sign));
            surface[c] += geometry.face_area[f];
        };
        count(mesh.owner[f] as usize, 1.0);
        if let Some(&n) = mesh.neighbour.get(f) {
            count(n as usize, -1.0);
        }
    }
    let open = |&c: &usize| norm(sum[c]) > CLOSURE * surface[c];
    let Some(first) = (0..mesh.cells()).find(open) else {
        return Ok(());
    };
    Err(Error::input(
        &mesh.source,
        format!(
            "the faces of {} {} do not close: their area vectors add up to {:.3e} of {:.3e} m2{}",
            named(mesh, first),
            at(geometry.centre[first]),
            norm(sum[first]),
            surface[first],
            of_many((0..mesh.cells()).filter(open).count())
        ),
        "mesh the geometry again: neighbours must list the points of their face the same way round",
    ))
}

fn facing(mesh: &Mesh, geometry: &Geometry) -> Result<()> {
    let d_n = |f: usize| dot(geometry.d[f], geometry.face_normal[f]);
    let bad = |&f: &usize| d_n(f).is_nan() || d_n(f) <= 0.0;
    let Some(first) = (0..mesh.faces()).find(bad) else {
        return Ok(());
    };
    let owner = named(mesh, mesh.owner[first] as usize);
    let what = match mesh.neighbour.get(first) {
        Some(&n) => format!("{owner} and {} overlap", named(mesh, n as usize)),
        None => format!("{owner} lies outside of its boundary face"),
    };
    Err(Error::input(
        &mesh.source,
        format!(
            "{what}: d.n = {:.3e} m at their face {}{}",
            d_n(first),
            at(geometry.face_centre[first]),
            of_many((0..mesh.faces()).filter(bad).count())
        ),
        "mesh the geometry again, with better cells there",
    ))
}

/// A part that no face connects would need its own pressure level.
fn connected(mesh: &Mesh, geometry: &Geometry) -> Result<()> {
    let mut parent: Vec<u32> = (0..mesh.cells() as u32).collect();
    fn root(parent: &mut [u32], mut c: u32) -> u32 {
        while parent[c as usize] != c {
            parent[c as usize] = parent[parent[c as usize] as usize];
            c = parent[c as usize];
        }
        c
    }
    for (&o, &n) in mesh.owner.iter().zip(&mesh.neighbour) {
        let (o, n) = (root(&mut parent, o), root(&mut parent, n));
        parent[o.max(n) as usize] = o.min(n);
    }
    let apart = |&c: &usize| parent[c] == c as u32;
    let parts = (0..mesh.cells()).filter(apart).count();
    let Some(second) = (0..mesh.cells()).filter(apart).nth(1) else {
        return Ok(());
    };
    Err(Error::input(
        &mesh.source,
        format!(
            "the mesh falls into {parts} parts that share no face; the second begins with {} {}",
            named(mesh, second),
            at(geometry.centre[second])
        ),
        "make the volumes share their surfaces (Coherence in Gmsh), or run them one by one",
    ))
}
