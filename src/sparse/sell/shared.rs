//! Values that slices share.
//!
//! Of whole slices, too: `couloir bench step --rows 4000000 --where cpu --device none` on two cores of a
//! Xeon 1.05 and 1.12 s -> 0.94 and 0.94, `--rows 1000000 --where device --device 1` on an H200 723 to
//! 744 us -> 684 to 693.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// An entry, and its place among the values of its slice.
pub(super) type Place = (u32, u32);

/// Where the values of slices begin, by what they are.
pub(super) struct Shared<'a> {
    planes: &'a [&'a [f64]],
    /// Of steps of one value each, which need not be those of the same rows.
    single: HashMap<Vec<u64>, u32>,
    /// Of rows with values of their own, by index block and [`hash`].
    whole: HashMap<(u32, u64), (&'a [Place], u32)>,
}

impl<'a> Shared<'a> {
    /// Nothing is shared where there are no `planes`.
    pub fn new(planes: &'a [&'a [f64]]) -> Self {
        let (single, whole) = Default::default();
        Self {
            planes,
            single,
            whole,
        }
    }

    /// Where a slice's values, of one for each step, are already; else they begin at `start`. `entries`
    /// has one for each.
    pub fn single(&mut self, entries: &[usize], start: u32) -> Option<u32> {
        let bits = |p: &&[f64]| entries.iter().map(|&e| p[e].to_bits()).collect();
        let key: Vec<Vec<u64>> = self.planes.iter().map(bits).collect();
        let at = *self.single.entry(key.concat()).or_insert(start);
        Some(at).filter(|&at| at != start)
    }

    /// The same of a slice whose rows have values of their own, and its index block at `block`, which
    /// others may have, too.
    pub fn whole(&mut self, block: u32, hash: u64, own: &'a [Place], start: u32) -> Option<u32> {
        let &mut (places, at) = self.whole.entry((block, hash)).or_insert((own, start));
        let equal = |p: &&[f64]| {
            let mut pairs = places.iter().zip(own);
            pairs.all(|(&(a, _), &(b, _))| p[a as usize].to_bits() == p[b as usize].to_bits())
        };
        let all = places.len() == own.len() && self.planes.iter().all(equal);
        Some(at).filter(|&at| at != start && all)
    }
}

/// What stands for the values of a slice, in every plane.
pub(super) fn hash(planes: &[&[f64]], own: &[Place]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for p in planes {
        own.iter()
            .for_each(|&(e, _)| hasher.write_u64(p[e as usize].to_bits()));
    }
    hasher.finish()
}
