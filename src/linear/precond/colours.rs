//! Two colours for rows none of which is linked to its own colour, over all ranks.
//!
//! Each rank colours its own rows, link by link; parts of them that are not linked here may have
//! them the other way round. What a part's colours mean is told by the least part, of any rank, that
//! it is linked to: ranks exchange the names of these at their borders until none changes.

use std::collections::VecDeque;

use crate::Result;
use crate::cluster::{Comm, Halo, Reach};
use crate::node::{Node, padded};
use crate::sparse::Csr;

/// The rows of a rank: colour, and part, of each; no colours where two are not enough.
struct Own {
    colour: Vec<bool>,
    part: Vec<u32>,
    parts: usize,
    enough: bool,
}

impl Own {
    fn of(a: &Csr) -> Self {
        let (none, mut parts, mut enough) = (u32::MAX, 0, true);
        let (mut colour, mut part) = (vec![false; a.rows], vec![none; a.rows]);
        let mut queue = VecDeque::new();
        for start in 0..a.rows {
            if part[start] != none {
                continue;
            }
            part[start] = parts;
            queue.push_back(start);
            while let Some(i) = queue.pop_front() {
                for (j, _) in a.row(i).filter(|&(j, _)| j != i && j < a.rows) {
                    if part[j] == none {
                        (part[j], colour[j]) = (parts, !colour[i]);
                        queue.push_back(j);
                    }
                    enough &= colour[j] != colour[i];
                }
            }
            parts += 1;
        }
        Self {
            colour,
            part,
            parts: parts as usize,
            enough,
        }
    }
}

/// The colour of each column, those of the halo included, if two are enough for all ranks; of rows
/// without links, the first. All ranks must call this together.
///
/// # Errors
/// Out of memory; a rank no longer answers.
pub(super) fn colours(node: &Node, a: &Csr, halo: &Halo) -> Result<Option<Vec<bool>>> {
    let mut own = Own::of(a);
    let comm = halo.comm();
    if comm.size() == 1 {
        return Ok(own.enough.then_some(own.colour));
    }
    if !comm.is_manned() {
        return Ok(beside_nobody(a, own, halo));
    }
    // Twice a part's name, and one more for the second colour: exact in a double.
    let first = (comm.rank() as u64) << 32;
    let mut name: Vec<u64> = (0..own.parts as u64).map(|p| first + p).collect();
    let mut turned = vec![false; own.parts];
    let mut labels = node.buffer_with_halo::<f64>(a.rows, halo.len())?;
    let all = loop {
        for (i, label) in labels.write()?[..a.rows].iter_mut().enumerate() {
            let part = own.part[i] as usize;
            let second = u64::from(own.colour[i] != turned[part]);
            *label = (2 * name[part] + second) as f64;
        }
        halo.update(Reach::Face, &mut [&mut labels])?;
        let all: Vec<u64> = labels.share(0, 0)?.host.iter().map(|&x| x as u64).collect();
        let mut changed = false;
        for i in 0..a.rows {
            let part = own.part[i] as usize;
            for (j, _) in a.row(i).filter(|&(j, _)| j >= a.rows) {
                let theirs = all[j] % 2 == 1;
                if all[j] / 2 < name[part] {
                    name[part] = all[j] / 2;
                    turned[part] = own.colour[i] == theirs;
                    changed = true;
                }
            }
        }
        if !any(comm, changed)? {
            break all;
        }
    };
    for i in 0..a.rows {
        let mut others = a.row(i).filter(|&(j, _)| j >= a.rows);
        own.enough &= others.all(|(j, _)| all[j] ^ all[i] == 1);
    }
    let enough = !any(comm, !own.enough)?;
    Ok(enough.then(|| all.iter().map(|label| label % 2 == 1).collect()))
}

/// Whether it is so on any rank.
fn any(comm: &Comm, here: bool) -> Result<bool> {
    Ok(comm.largest(f64::from(u8::from(here)))? > 0.0)
}

/// As [`colours`], where the neighbours are not there to be asked: theirs fit where they can.
fn beside_nobody(a: &Csr, own: Own, halo: &Halo) -> Option<Vec<bool>> {
    let mut colour: Vec<Option<bool>> = own.colour.iter().map(|&c| Some(c)).collect();
    colour.resize(padded(a.rows.max(1)) + halo.len(), None);
    let mut enough = own.enough;
    for i in 0..a.rows {
        for (j, _) in a.row(i).filter(|&(j, _)| j >= a.rows) {
            enough &= *colour[j].get_or_insert(!own.colour[i]) != own.colour[i];
        }
    }
    enough.then(|| colour.into_iter().map(|c| c.unwrap_or(false)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Config, DeviceChoice};

    /// A ring of `n` rows.
    fn ring(n: usize) -> Csr {
        Csr::from_rows(n, n, |i, row| {
            row.push((i as u32, 1.0));
            row.push((((i + 1) % n) as u32, -0.4));
            row.push((((i + n - 1) % n) as u32, -0.4));
        })
    }

    #[test]
    fn an_even_ring_has_two_colours_and_an_odd_one_more() {
        let config = Config {
            device: DeviceChoice::None,
            threads: Some(1),
            ..Config::default()
        };
        let node = Node::open(&config).expect("a node");
        let colours = |a: &Csr| colours(&node, a, &Halo::none()).expect("colours");
        let colour = colours(&ring(8)).expect("two");
        assert!((0..8).all(|i| colour[i] == (i % 2 == 1)));
        assert!(colours(&ring(9)).is_none());
        assert_eq!(colours(&Csr::zero(3, 3)), Some(vec![false; 3]));
    }

    #[test]
    fn neighbours_that_are_not_there_have_the_other_colour() {
        // A chain of four rows with a place of the halo at each end.
        let halo = padded(4) as u32;
        let chain = |ends: [u32; 2]| {
            Csr::from_rows(4, halo as usize + 2, |i, row| {
                row.push((i as u32, 1.0));
                row.push((if i > 0 { i as u32 - 1 } else { ends[0] }, -0.4));
                row.push((if i < 3 { i as u32 + 1 } else { ends[1] }, -0.4));
            })
        };
        let link = crate::cluster::halo::Link {
            rank: 1,
            near: 0..2,
            ..Default::default()
        };
        let border = Halo::new(Comm::absent(0, 2), vec![link]);
        let beside = |a: &Csr| beside_nobody(a, Own::of(a), &border);
        let colour = beside(&chain([halo, halo + 1])).expect("two");
        assert_eq!(colour[..4], [false, true, false, true]);
        assert_eq!(colour[halo as usize..], [true, false]);
        // One neighbour of both ends closes an odd ring.
        assert!(beside(&chain([halo, halo])).is_none());
    }
}
