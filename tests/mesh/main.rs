//! Meshes: reading, checking, generating, renumbering; and matrices from files.

mod boxes;
mod fuzz;
mod gmsh;
mod gmsh_errors;
mod matrix_market;
mod periodic;
mod quality;
mod renumber;

use std::collections::HashMap;

use couloir::mesh::Mesh;

/// What interior faces are sorted by: windows of 4096 owners; in each, first the distances between
/// cells' numbers that are common there (one for each eight cells, or more), then all others; owner
/// and neighbour.
fn places(mesh: &Mesh) -> Vec<[u32; 4]> {
    let pairs = || mesh.owner.iter().zip(&mesh.neighbour);
    let mut owners: HashMap<u32, [u32; 2]> = HashMap::new();
    let mut faces: HashMap<(u32, u32), u32> = HashMap::new();
    for (&o, &n) in pairs() {
        let [first, last] = owners.entry(o / 4096).or_insert([o, o]);
        (*first, *last) = (o.min(*first), o.max(*last));
        *faces.entry((o / 4096, n - o)).or_insert(0) += 1;
    }
    let place = |(&o, &n): (&u32, &u32)| {
        let (window, distance) = (o / 4096, n - o);
        let [first, last] = owners[&window];
        let common = 8 * faces[&(window, distance)] > last - first;
        [window, if common { distance } else { u32::MAX }, o, n]
    };
    pairs().map(place).collect()
}
