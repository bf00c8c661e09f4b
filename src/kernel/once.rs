//! Numbers of vectors that columns lead to in no order, and of matrices that lead there: what counts
//! then is how much of the vector the caches hold, so matrices are asked for as read once.

use bytemuck::{Pod, Zeroable};

use super::Real;
use super::wrapped::{members, operators};

/// A number that computes to the same bits. What is read in order is asked for ahead past the outer
/// caches. Columns are not asked for where these hold a vector well: single loads, which `wide.rs` has,
/// are enough under way then.
///
/// Zen 5, `couloir bench spmv --matrix tet:N --order random --where cpu --device none --threads 1
/// --flush`, medians in turns: 200K 1.10 -> 0.76 ms (without asking for columns alone 1.16 -> 0.80),
/// 1.6M 10.3 -> 8.3 (9.6 -> 9.6); in caches that were not swept 200K 0.75 -> 0.56. With `pcg` for
/// `spmv`, 1.6M 12.5 -> 8.8. Another one with 32 MiB of last cache, beside neighbours, columns not asked
/// for -> asked for: 1.6M (12.8 MB a vector) 11.2 -> 9.6 ms, by two threads 5.3 -> 4.9; in caches that were
/// not swept 1.6M by two threads 4.0 -> 4.8, 6.4M 115 -> 69, by two 55 -> 34, 700K 3.0 -> 3.4, 200K
/// 0.52 -> 0.68. That was in one burst a slice: `scattered.rs` has what is done since, and what it gains.
/// Asked for like that, 700K with `--flush` 3.9 -> 3.1, without 2.7 -> 2.9, `pcg` 3.4 -> 3.5.
///
/// Chosen within each slice it gains half of that, for loops that are not taken cost the others registers:
/// so it is a type.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Zeroable, Pod)]
#[repr(transparent)]
pub struct Once<T>(T);

impl<T: Real> Real for Once<T> {
    members!();
    const ONCE: bool = true;
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Self(self.0.fma(b.0, c.0))
    }
}

operators!(Once);
