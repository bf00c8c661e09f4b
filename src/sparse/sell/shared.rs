//! Values that slices share.
//!
//! Of whole slices, too: `couloir bench step --rows 4000000 --where cpu --device none` on two cores of a
//! Xeon 1.05 and 1.12 s -> 0.94 and 0.94, `--rows 1000000 --where device --device 1` on an H200 723 to
//! 744 us -> 684 to 693.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// An entry, and its place among the values of its slice.
pub(super) type Place = (u32, u32);

/// What other slices must have to share a slice's values.
pub(super) enum Alike {
    /// None may.
    Not,
    /// These entries' values, one of each step. They need not be of the same rows.
    Steps(Vec<usize>),
    /// All of them, for which this stands, and its index block.
    Whole(u64),
}

impl Alike {
    /// Of a slice with `own` entries, of which `single` has one for each step if each has one value; and
    /// whether its index block may be `common`.
    pub fn of(planes: &[&[f64]], single: Vec<usize>, common: bool, own: &[Place]) -> Self {
        match common {
            _ if !single.is_empty() => Self::Steps(single),
            true => Self::Whole(hash(planes, own)),
            false => Self::Not,
        }
    }
}

/// Where the values of slices begin, by what they are.
pub(super) struct Shared<'a> {
    planes: &'a [&'a [f64]],
    /// By the values of steps.
    steps: HashMap<Vec<u64>, u32>,
    /// By index block and [`hash`].
    whole: HashMap<(u32, u64), (&'a [Place], u32)>,
}

impl<'a> Shared<'a> {
    /// Nothing is shared where there are no `planes`.
    pub fn new(planes: &'a [&'a [f64]]) -> Self {
        let (steps, whole) = Default::default();
        Self {
            planes,
            steps,
            whole,
        }
    }

    /// Where the values of a slice, with its index block at `block` and its `own` entries, are already;
    /// else they begin at `start`.
    pub fn before(
        &mut self,
        alike: &Alike,
        block: u32,
        own: &'a [Place],
        start: u32,
    ) -> Option<u32> {
        match alike {
            Alike::Not => None,
            Alike::Steps(entries) => self.steps(entries, start),
            Alike::Whole(hash) => self.whole((block, *hash), own, start),
        }
    }

    fn steps(&mut self, entries: &[usize], start: u32) -> Option<u32> {
        let bits = |p: &&[f64]| entries.iter().map(|&e| p[e].to_bits()).collect();
        let key: Vec<Vec<u64>> = self.planes.iter().map(bits).collect();
        let at = *self.steps.entry(key.concat()).or_insert(start);
        Some(at).filter(|&at| at != start)
    }

    fn whole(&mut self, key: (u32, u64), own: &'a [Place], start: u32) -> Option<u32> {
        let &mut (places, at) = self.whole.entry(key).or_insert((own, start));
        let equal = |p: &&[f64]| {
            let mut pairs = places.iter().zip(own);
            pairs.all(|(&(a, _), &(b, _))| p[a as usize].to_bits() == p[b as usize].to_bits())
        };
        // Two lists of values may, seldom, have one hash.
        let all = places.len() == own.len() && self.planes.iter().all(equal);
        Some(at).filter(|&at| at != start && all)
    }
}

/// What stands for the values of a slice, in every plane.
fn hash(planes: &[&[f64]], own: &[Place]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for p in planes {
        own.iter()
            .for_each(|&(e, _)| hasher.write_u64(p[e as usize].to_bits()));
    }
    hasher.finish()
}
