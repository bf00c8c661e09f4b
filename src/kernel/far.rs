//! Numbers of matrices whose values are one long stream from memory: more of it can be under way to a
//! core's second-level cache than to the first one.

use bytemuck::{Pod, Zeroable};

use super::Real;
use super::wrapped::{members, operators};

/// A number that computes to the same bits. Values are asked for 16 KiB ahead into the second cache; those
/// of steps that store columns nearer, too, into the first.
///
/// Zen 4, `couloir bench K --where cpu --device none --threads 1`, medians in turns, beside neighbours at
/// work: `spmv --matrix grid:100` 3.17 -> 2.83 ms, `nodes:1000000 --order rcm` 15.8 -> 9.6; `pcg` there
/// 15.9 -> 11.4, `gspmv --matrix grid:100` 7.5 -> 5.9. For all matrices it would cost `tet:1600000` (3.6 ->
/// 4.7) and nodes as given, a quarter of whose slices are packed (10.8 -> 12.0): see `reading.rs`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Zeroable, Pod)]
#[repr(transparent)]
pub struct Far<T>(T);

impl<T: Real> Real for Far<T> {
    members!();
    const FAR: bool = true;
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Self(self.0.fma(b.0, c.0))
    }
}

operators!(Far);
