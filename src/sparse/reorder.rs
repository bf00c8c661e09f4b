//! The order of rows that makes a matrix's product cheap, and what it gains.

use super::order::{bandwidth, by_length_then, inverse, reverse_cuthill_mckee};
use super::{Csr, Sell};
use crate::{Error, Result};

/// Rows of like length are brought together within so many rows, where doing so everywhere would
/// tear neighbours apart (the sigma of SELL-C-sigma).
const WINDOW: usize = 1024;

/// A matrix before or after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Largest distance of an entry from the diagonal.
    pub bandwidth: usize,
    /// Bytes that one product (fp64) moves per row, each vector once.
    pub bytes_per_row: f64,
}

impl Look {
    fn of(a: &Csr) -> Result<Self> {
        let natural: Vec<u32> = (0..a.rows as u32).collect();
        let vectors = 8.0 * (a.rows + a.cols) as f64;
        let bytes = Sell::<f64>::footprint_bytes(a)? + vectors;
        Ok(Self {
            bandwidth: bandwidth(&a.row_ptr, &a.col, &natural),
            bytes_per_row: bytes / a.rows.max(1) as f64,
        })
    }
}

/// A matrix in a better order: `P A P^T`.
#[derive(Clone, Debug)]
pub struct Reordered {
    /// `order[new] = old`, of rows and columns alike.
    pub order: Vec<u32>,
    /// The matrix in this order.
    pub matrix: Csr,
    /// As it was.
    pub before: Look,
    /// As it is.
    pub after: Look,
}

impl Csr {
    /// `P A P^T`: row and column `i` are those that were `order[i]`, a permutation.
    pub fn permuted(&self, order: &[u32]) -> Self {
        debug_assert_eq!((self.rows, order.len()), (self.cols, self.rows));
        let new = inverse(order);
        Self::from_rows(self.rows, self.cols, |i, row| {
            let old = self.row(order[i] as usize);
            row.extend(old.map(|(j, v)| (new[j], v)));
        })
    }

    /// The matrix with rows by length, then by reverse Cuthill-McKee on the pattern of `A + A^T`
    /// (thesis section 2.4); where that moves more bytes than grouping the lengths within windows
    /// of the Cuthill-McKee order alone, as for rows of many lengths, the latter.
    ///
    /// # Errors
    /// [`Error::Input`] if the matrix is not square; more than 2^32 entries.
    pub fn reordered(&self) -> Result<Reordered> {
        if self.rows != self.cols {
            return Err(Error::input(
                "matrix",
                format!("{} x {} is not square", self.rows, self.cols),
                "leave its order as it is",
            ));
        }
        let pattern = self.sum(1.0, &self.transpose(), 1.0);
        let rcm = reverse_cuthill_mckee(&pattern.row_ptr, &pattern.col);
        let lengths: Vec<u32> = self
            .row_ptr
            .windows(2)
            .map(|w| (w[1] - w[0]) as u32)
            .collect();
        let windows = rcm.chunks(WINDOW);
        let windows: Vec<u32> = windows.flat_map(|w| by_length_then(&lengths, w)).collect();
        let before = Look::of(self)?;
        let in_order = |order: Vec<u32>| -> Result<Reordered> {
            let matrix = self.permuted(&order);
            Ok(Reordered {
                after: Look::of(&matrix)?,
                order,
                matrix,
                before,
            })
        };
        let everywhere = in_order(by_length_then(&lengths, &rcm))?;
        let within = in_order(windows)?;
        let better = within.after.bytes_per_row < everywhere.after.bytes_per_row;
        Ok(if better { within } else { everywhere })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of `n` nodes, every ninth with a long row, numbered at random.
    fn shuffled(n: usize, spread: usize) -> Csr {
        let mut number: Vec<u32> = (0..n as u32).collect();
        fastrand::Rng::with_seed(5).shuffle(&mut number);
        let mut triplets = Vec::new();
        for i in 0..n {
            triplets.push((number[i], number[i], 2.0));
            for j in i + 1..n.min(i + 1 + if i % 9 == 0 { spread } else { 1 }) {
                triplets.push((number[i], number[j], -(i as f64)));
                triplets.push((number[j], number[i], -(j as f64)));
            }
        }
        Csr::from_triplets(n, n, &triplets)
    }

    #[test]
    fn the_order_is_a_permutation_that_gains() {
        for spread in [1, 12] {
            let a = shuffled(5000, spread);
            let r = a.reordered().unwrap();
            assert_eq!(r.matrix, a.permuted(&r.order));
            assert_eq!(r.matrix.permuted(&inverse(&r.order)), a);
            assert!(
                r.after.bytes_per_row < r.before.bytes_per_row,
                "{r:?}",
                r = r.after
            );
            assert!(r.after.bytes_per_row > 8.0 * a.entries() as f64 / 5000.0);
            // Rows of like length stand together, so a path's two ends come last.
            let lengths = r.matrix.row_ptr.windows(2).map(|w| w[1] - w[0]);
            assert!(lengths.take(WINDOW).is_sorted_by(|a, b| a >= b));
            assert!(r.before.bandwidth > 4000);
        }
    }

    #[test]
    fn patterns_need_not_be_symmetric_but_square() {
        let upper = Csr::from_triplets(4, 4, &[(0, 3, 1.0), (1, 2, 2.0), (3, 3, 3.0)]);
        assert_eq!(upper.reordered().unwrap().matrix.entries(), 3);
        let e = Csr::zero(2, 3).reordered().unwrap_err();
        assert_eq!(e.exit_code(), 2);
        assert!(e.to_string().contains("2 x 3 is not square"), "{e}");
        assert!(Csr::zero(0, 0).reordered().unwrap().order.is_empty());
    }
}
