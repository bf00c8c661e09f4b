//! What the rows at a rank's border read, where the host may not write a halo while the device reads
//! the values before it: in memory of the host alone.

use crate::kernel::Real;
use crate::sparse::Sell;

/// Vectors of which only the columns that border rows read are kept.
pub(super) struct Border<T: Real> {
    columns: Vec<u32>,
    vectors: Vec<Vec<T>>,
}

impl<T: Real> Border<T> {
    /// No vectors.
    pub fn none() -> Self {
        Self {
            columns: Vec::new(),
            vectors: Vec::new(),
        }
    }

    /// For the products of `matrix` with `vectors` vectors. Pages that no column lies in stay
    /// unused.
    pub fn new(matrix: &Sell<T>, vectors: usize) -> Self {
        Self {
            columns: matrix.border_columns().to_vec(),
            vectors: vec![vec![T::ZERO; matrix.cols()]; vectors],
        }
    }

    /// Whether the vectors' own halos serve.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Keeps what border rows read of the owned values `x` of vector `k`.
    pub fn fill(&mut self, k: usize, x: &[T]) {
        let kept = &mut self.vectors[k];
        for &j in &self.columns {
            kept[j as usize] = x[j as usize];
        }
    }

    /// The halo of vector `k`, which begins at row `rows`.
    pub fn halo_mut(&mut self, k: usize, rows: usize) -> &mut [T] {
        &mut self.vectors[k][rows..]
    }

    /// Vector `k`.
    pub fn vector(&self, k: usize) -> &[T] {
        &self.vectors[k]
    }
}
