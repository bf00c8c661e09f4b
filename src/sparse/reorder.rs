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

    /// The matrix in the reverse Cuthill-McKee order of the pattern of `A + A^T`: with its rows by length
    /// first (thesis section 2.4), or grouped by length within windows, as suits rows of many lengths, or
    /// as it is, whose few short rows stay beside their neighbours, as suits cells of one kind; that of
    /// the three by which a product moves the fewest bytes.
    ///
    /// Tetrahedra in that order with rows by length -> as it is: `couloir bench K --matrix tet:1600000
    /// --order rcm --where cpu --device none --threads 1` on a Xeon, `pcg` 6.2 -> 5.5 ms, `gspmv` 11.1 ->
    /// 10.0, `spmv --flush` 6.7 -> 6.6; `pcg --matrix tet:6400000 --order rcm --device 1 --where device` on
    /// an H100, 208 -> 205 us. Ordering takes that Xeon 0.4 s more with this third candidate.
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
        let [first, others @ ..] = self.candidates(rcm);
        let mut best = in_order(first)?;
        for order in others {
            let other = in_order(order)?;
            if other.after.bytes_per_row < best.after.bytes_per_row {
                best = other;
            }
        }
        Ok(best)
    }

    /// `rcm` by length everywhere, by length within windows, and as it is.
    fn candidates(&self, rcm: Vec<u32>) -> [Vec<u32>; 3] {
        let lengths = self.row_ptr.windows(2).map(|w| (w[1] - w[0]) as u32);
        let lengths: Vec<u32> = lengths.collect();
        let windows = rcm.chunks(WINDOW);
        let windows = windows.flat_map(|w| by_length_then(&lengths, w));
        [by_length_then(&lengths, &rcm), windows.collect(), rcm]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Origin;

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
            // Rows of like length stand together where there are many of each.
            let lengths = r.matrix.row_ptr.windows(2).map(|w| w[1] - w[0]);
            assert!(spread == 1 || lengths.take(WINDOW).is_sorted_by(|a, b| a >= b));
            assert!(r.before.bandwidth > 4000);
        }
    }

    #[test]
    fn short_rows_of_tetrahedra_stay_beside_their_neighbours() {
        let a = Origin::Tetrahedra(200_000).matrix().unwrap();
        let r = a.reordered().unwrap();
        let [by_length, windows, rcm] = a.candidates(reverse_cuthill_mckee(&a.row_ptr, &a.col));
        assert!(r.order == rcm);
        for other in [by_length, windows].map(|order| a.permuted(&order)) {
            assert!(r.after.bytes_per_row < Look::of(&other).unwrap().bytes_per_row);
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
