//! How the CPU asks for a matrix's values ahead of time: a choice for a whole matrix, since loops that a
//! slice does not take cost the others registers (tetrahedra in RCM order, of which a third of the slices
//! are like a grid's, 4.1 to 4.7 -> 5.2 to 6.0 ms on a Zen 4 by AVX-512: `couloir bench spmv --matrix
//! tet:1600000 --order rcm --where cpu --device none --threads 1`).

use super::mat::{FLAGS, PACKED};
use super::steps::LONG;
use crate::node::Caches;

/// A choice that AVX-512 has a path for. All give the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Into the first cache.
    #[default]
    Near,
    /// Past the outer caches: see `once.rs`.
    Once,
    /// Into the second cache: see `far.rs`.
    Far,
}

impl Reading {
    /// For `slices`, four words of each, some of them [`FAR`](super::mat::FAR) or none, and such `caches`:
    /// far if nearly all slices store no columns, or are [`LONG`] and not packed.
    pub(crate) fn of(slices: &[u32], scattered: bool, caches: Caches) -> Self {
        let all = slices.chunks_exact(4);
        let is_stream = |s: &&[u32]| {
            let (short, wide) = (s[2] >> 16, s[3] & !FLAGS);
            wide == 0 && (short == 0 || s[3] & PACKED == 0 && short as usize >= LONG)
        };
        if scattered && caches.bypassed {
            Self::Once
        } else if caches.staged && 16 * all.clone().filter(is_stream).count() >= 15 * all.len() {
            Self::Far
        } else {
            Self::Near
        }
    }
}
