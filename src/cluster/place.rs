//! Several ranks on one machine: cores without overlap, and whose turn it is at the devices.

use super::Comm;
use super::pack::{Pack, Unpack};
use crate::Result;
use crate::node::{Tree, Turn, topology};

/// Where a rank runs among the others of its machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its turn at the devices of the machine.
    pub turn: Turn,
    /// The cores that it takes: as far as can be with all their hardware threads and caches.
    pub cores: Vec<usize>,
    /// More ranks than cores: some share one.
    pub crowded: bool,
    /// Machine of every rank, counted from 0 in the order of their first ranks.
    pub machines: Vec<usize>,
}

impl Place {
    /// Agrees with the other ranks on cores and devices.
    ///
    /// # Errors
    /// A rank no longer answers.
    pub fn agree(comm: &Comm) -> Result<Self> {
        let cores = topology::together(&Tree::at("/"), &topology::offered_cores());
        let mut pack = Pack::default();
        let mask: Vec<u64> = cores.iter().map(|&c| c as u64).collect();
        pack.text(&topology::machine()).put(&mask);
        let all = comm.gather(&pack.bytes())?;
        let all: Result<Vec<(String, Vec<u64>)>> = all
            .iter()
            .map(|bytes| {
                let mut from = Unpack(bytes);
                Ok((from.text()?, from.take()?))
            })
            .collect();
        Ok(Self::deal(comm.rank(), &all?))
    }

    /// The place of `rank`, where every rank's machine and offered cores are `all`: ranks that are
    /// offered the same cores share them out.
    fn deal(rank: usize, all: &[(String, Vec<u64>)]) -> Self {
        let (machine, mask) = &all[rank];
        let here = |r: &usize| all[*r].0 == *machine;
        let same = |r: &usize| here(r) && all[*r].1 == *mask;
        let before = (0..rank).filter(same).count();
        let sharing = (0..all.len()).filter(same).count();
        let n = mask.len();
        let crowded = sharing > n;
        let part = if crowded {
            let core = before % n.max(1);
            core..core + 1
        } else {
            n * before / sharing..n * (before + 1) / sharing
        };
        let mut seen: Vec<&String> = Vec::new();
        let machines = all
            .iter()
            .map(|(m, _)| match seen.iter().position(|s| *s == m) {
                Some(at) => at,
                None => {
                    seen.push(m);
                    seen.len() - 1
                }
            });
        Self {
            machines: machines.collect(),
            turn: Turn {
                index: (0..rank).filter(here).count(),
                of: (0..all.len()).filter(here).count(),
            },
            cores: mask[part].iter().map(|&c| c as usize).collect(),
            crowded,
        }
    }

    /// Keeps this process to its cores from now on.
    pub fn take(&self) {
        topology::claim(&self.cores);
    }

    /// Whether this is the first rank of its machine.
    pub fn leads(&self) -> bool {
        self.turn.index == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(machine: &str, cores: &[u64]) -> (String, Vec<u64>) {
        (machine.to_string(), cores.to_vec())
    }

    #[test]
    fn ranks_of_a_machine_share_out_what_all_are_offered() {
        let all: Vec<_> = (0..3)
            .map(|_| offer("a", &[0, 1, 2, 3, 4, 5, 6, 7]))
            .collect();
        let places: Vec<Place> = (0..3).map(|r| Place::deal(r, &all)).collect();
        let mut cores: Vec<usize> = places.iter().flat_map(|p| p.cores.clone()).collect();
        assert!(places.iter().all(|p| p.cores.len() >= 2 && !p.crowded));
        cores.sort_unstable();
        assert_eq!(cores, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(places[2].turn, Turn { index: 2, of: 3 });
    }

    #[test]
    fn ranks_bound_apart_keep_what_they_have() {
        let all = [
            offer("a", &[0, 1]),
            offer("a", &[2, 3]),
            offer("b", &[0, 1]),
        ];
        for (rank, cores) in [(0, [0, 1]), (1, [2, 3]), (2, [0, 1])] {
            let place = Place::deal(rank, &all);
            assert_eq!(place.cores, cores);
            assert_eq!(place.machines, [0, 0, 1]);
        }
        assert!(Place::deal(2, &all).leads() && !Place::deal(1, &all).leads());
    }

    #[test]
    fn more_ranks_than_cores_take_one_in_turn() {
        let all: Vec<_> = (0..5).map(|_| offer("a", &[4, 6])).collect();
        let cores: Vec<usize> = (0..5).map(|r| Place::deal(r, &all).cores[0]).collect();
        assert_eq!(cores, [4, 6, 4, 6, 4]);
        assert!(Place::deal(0, &all).crowded);
    }
}
