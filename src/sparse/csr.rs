//! Compressed sparse rows: the reference format, and the one in which operators are built.

use rayon::prelude::*;

/// Rows per task when a matrix is built in parallel.
const ROWS_PER_TASK: usize = 4096;

/// A sparse matrix in compressed sparse rows; columns ascend within each row and appear once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Csr {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Row `i` holds the entries `row_ptr[i]..row_ptr[i + 1]`; length `rows + 1`.
    pub row_ptr: Vec<usize>,
    /// Column of each entry.
    pub col: Vec<u32>,
    /// Value of each entry.
    pub val: Vec<f64>,
}

impl Csr {
    /// `0`, without entries.
    pub fn zero(rows: usize, cols: usize) -> Self {
        Self {
            rows,
            cols,
            row_ptr: vec![0; rows + 1],
            col: Vec::new(),
            val: Vec::new(),
        }
    }

    /// `A_ij = sum of the values given for (i, j)`, summed in the order in which they are given.
    ///
    /// Every triplet must have `i < rows` and `j < cols`.
    pub fn from_triplets(rows: usize, cols: usize, triplets: &[(u32, u32, f64)]) -> Self {
        let mut start = vec![0usize; rows + 1];
        for &(i, _, _) in triplets {
            start[i as usize + 1] += 1;
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut sorted = vec![(0u32, 0.0); triplets.len()];
        for &(i, j, v) in triplets {
            sorted[next[i as usize]] = (j, v);
            next[i as usize] += 1;
        }
        Self::from_rows(rows, cols, |i, row| {
            row.extend_from_slice(&sorted[start[i]..start[i + 1]]);
        })
    }

    /// `A_ij = sum of the values that fill(i, row) pushes for column j`.
    ///
    /// `fill` is called once per row, with an empty `row`, by several threads; the result does
    /// not depend on their number. Every column pushed must be less than `cols`.
    pub fn from_rows(
        rows: usize,
        cols: usize,
        fill: impl Fn(usize, &mut Vec<(u32, f64)>) + Sync,
    ) -> Self {
        let (row_ptr, col, val) = assemble(rows, cols, &fill, |sum, v| *sum += v);
        Self {
            rows,
            cols,
            row_ptr,
            col,
            val,
        }
    }

    /// Number of entries stored.
    pub fn entries(&self) -> usize {
        self.col.len()
    }

    /// Columns and values of row `i < rows`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let span = self.row_ptr[i]..self.row_ptr[i + 1];
        let val = &self.val[span.clone()];
        self.col[span]
            .iter()
            .map(|&j| j as usize)
            .zip(val.iter().copied())
    }

    /// `A_ij`, zero where nothing is stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.row(i).find(|&(c, _)| c == j).map_or(0.0, |(_, v)| v)
    }

    /// `A^T`.
    pub fn transpose(&self) -> Self {
        let mut row_ptr = vec![0usize; self.cols + 1];
        for &j in &self.col {
            row_ptr[j as usize + 1] += 1;
        }
        for j in 0..self.cols {
            row_ptr[j + 1] += row_ptr[j];
        }
        let mut next = row_ptr.clone();
        let mut col = vec![0u32; self.col.len()];
        let mut val = vec![0.0; self.val.len()];
        for i in 0..self.rows {
            for (j, v) in self.row(i) {
                col[next[j]] = i as u32;
                val[next[j]] = v;
                next[j] += 1;
            }
        }
        Self {
            rows: self.cols,
            cols: self.rows,
            row_ptr,
            col,
            val,
        }
    }

    /// `A B`, with `A.cols == B.rows`; entries that cancel stay stored.
    pub fn product(&self, b: &Self) -> Self {
        debug_assert_eq!(self.cols, b.rows);
        Self::from_rows(self.rows, b.cols, |i, row| {
            for (k, a) in self.row(i) {
                row.extend(b.row(k).map(|(j, v)| (j as u32, a * v)));
            }
        })
    }

    /// `a A + b B`, on the union of both patterns; both have one shape.
    pub fn sum(&self, a: f64, other: &Self, b: f64) -> Self {
        debug_assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        Self::from_rows(self.rows, self.cols, |i, row| {
            row.extend(self.row(i).map(|(j, v)| (j as u32, a * v)));
            row.extend(other.row(i).map(|(j, v)| (j as u32, b * v)));
        })
    }

    /// `-A`.
    pub fn negated(mut self) -> Self {
        self.val.iter_mut().for_each(|v| *v = -*v);
        self
    }

    /// `diag(s) A`, with one `s` per row.
    pub fn scale_rows(mut self, s: &[f64]) -> Self {
        debug_assert_eq!(s.len(), self.rows);
        for (span, s) in self.row_ptr.windows(2).zip(s) {
            for v in &mut self.val[span[0]..span[1]] {
                *v *= s;
            }
        }
        self
    }

    /// `A diag(s)`, with one `s` per column.
    pub fn scale_cols(mut self, s: &[f64]) -> Self {
        debug_assert_eq!(s.len(), self.cols);
        for (v, &j) in self.val.iter_mut().zip(&self.col) {
            *v *= s[j as usize];
        }
        self
    }

    /// `y = A x`, row by row in the order of the columns.
    pub fn mul_vec(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!((x.len(), y.len()), (self.cols, self.rows));
        for (i, y) in y.iter_mut().enumerate().take(self.rows) {
            *y = self.row(i).fold(0.0, |sum, (j, a)| sum + a * x[j]);
        }
    }

    /// `A x`.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows];
        self.mul_vec(x, &mut y);
        y
    }

    /// `A_ii` for every row, zero where nothing is stored.
    pub fn diag(&self) -> Vec<f64> {
        (0..self.rows).map(|i| self.get(i, i)).collect()
    }
}

/// Pushes columns and values of a row.
type Fill<'a, V> = &'a (dyn Fn(usize, &mut Vec<(u32, V)>) + Sync);

/// Row pointers, columns and values of a matrix with values of any kind: rows are filled in
/// parallel, sorted by column, and duplicates added up in the order in which they were pushed.
/// One function for all callers: a copy of it for each would be a tenth of the program.
pub(super) fn assemble<V: Copy + Send>(
    rows: usize,
    cols: usize,
    fill: Fill<'_, V>,
    add: fn(&mut V, V),
) -> (Vec<usize>, Vec<u32>, Vec<V>) {
    struct Part<V> {
        len: Vec<usize>,
        col: Vec<u32>,
        val: Vec<V>,
    }
    let parts: Vec<Part<V>> = (0..rows.div_ceil(ROWS_PER_TASK))
        .into_par_iter()
        .map(|task| {
            let span = task * ROWS_PER_TASK..rows.min((task + 1) * ROWS_PER_TASK);
            let mut part = Part {
                len: Vec::with_capacity(span.len()),
                col: Vec::new(),
                val: Vec::new(),
            };
            let mut row = Vec::new();
            for i in span {
                row.clear();
                fill(i, &mut row);
                // Stable, so that duplicates keep the order of their arrival.
                row.sort_by_key(|&(j, _)| j);
                let before = part.col.len();
                for &(j, v) in &row {
                    debug_assert!((j as usize) < cols);
                    let seen = part.col.len() > before && part.col.last() == Some(&j);
                    match part.val.last_mut() {
                        Some(sum) if seen => add(sum, v),
                        _ => {
                            part.col.push(j);
                            part.val.push(v);
                        }
                    }
                }
                part.len.push(part.col.len() - before);
            }
            part
        })
        .collect();
    let entries = parts.iter().map(|p| p.col.len()).sum();
    let mut row_ptr = Vec::with_capacity(rows + 1);
    let mut col = Vec::with_capacity(entries);
    let mut val = Vec::with_capacity(entries);
    row_ptr.push(0);
    let mut end = 0;
    for part in parts {
        for len in part.len {
            end += len;
            row_ptr.push(end);
        }
        col.extend_from_slice(&part.col);
        val.extend_from_slice(&part.val);
    }
    (row_ptr, col, val)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(rows: usize, cols: usize, entries: usize, seed: u64) -> (Csr, Vec<Vec<f64>>) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut dense = vec![vec![0.0; cols]; rows];
        let triplets: Vec<_> = (0..entries)
            .map(|_| {
                // Small integers: sums and products are exact, so equality is the test.
                let (i, j, v) = (rng.usize(..rows), rng.usize(..cols), rng.i32(-8..9) as f64);
                dense[i][j] += v;
                (i as u32, j as u32, v)
            })
            .collect();
        (Csr::from_triplets(rows, cols, &triplets), dense)
    }

    fn assert_is(a: &Csr, dense: &[Vec<f64>]) {
        assert_eq!((a.rows, a.row_ptr.len()), (dense.len(), dense.len() + 1));
        for (i, row) in dense.iter().enumerate() {
            assert_eq!(a.cols, row.len());
            let cols: Vec<usize> = a.row(i).map(|(j, _)| j).collect();
            assert!(
                cols.windows(2).all(|w| w[0] < w[1]),
                "row {i} is not sorted: {cols:?}"
            );
            for (j, &v) in row.iter().enumerate() {
                assert_eq!(a.get(i, j), v, "({i}, {j})");
            }
        }
    }

    #[test]
    fn triplets_are_sorted_and_duplicates_summed() {
        let (a, dense) = random(37, 23, 400, 1);
        assert_is(&a, &dense);
        assert!(a.entries() < 400);
        let (tall, dense) = random(ROWS_PER_TASK + 5, 3, 9000, 2);
        assert_is(&tall, &dense);
    }

    #[test]
    fn transpose_product_and_sum_match_dense() {
        let (a, da) = random(17, 29, 120, 3);
        let (b, db) = random(29, 11, 90, 4);
        let (c, dc) = random(17, 29, 70, 5);
        let transposed: Vec<Vec<f64>> = (0..29)
            .map(|j| (0..17).map(|i| da[i][j]).collect())
            .collect();
        assert_is(&a.transpose(), &transposed);
        let product: Vec<Vec<f64>> = (0..17)
            .map(|i| {
                (0..11)
                    .map(|j| (0..29).map(|k| da[i][k] * db[k][j]).sum())
                    .collect()
            })
            .collect();
        assert_is(&a.product(&b), &product);
        let sum: Vec<Vec<f64>> = (0..17)
            .map(|i| (0..29).map(|j| 2.0 * da[i][j] - 3.0 * dc[i][j]).collect())
            .collect();
        assert_is(&a.sum(2.0, &c, -3.0), &sum);
        assert_eq!(a.clone().negated(), a.sum(-1.0, &a, 0.0));
    }

    #[test]
    fn scaling_products_with_vectors_and_diagonal_match_dense() {
        let (a, dense) = random(19, 13, 80, 6);
        let row_scale: Vec<f64> = (0..19).map(|i| i as f64 - 7.0).collect();
        let col_scale: Vec<f64> = (0..13).map(|j| 3.0 - j as f64).collect();
        let scaled: Vec<Vec<f64>> = (0..19)
            .map(|i| {
                (0..13)
                    .map(|j| row_scale[i] * dense[i][j] * col_scale[j])
                    .collect()
            })
            .collect();
        assert_is(
            &a.clone().scale_rows(&row_scale).scale_cols(&col_scale),
            &scaled,
        );
        let y: Vec<f64> = (0..19)
            .map(|i| (0..13).map(|j| dense[i][j] * col_scale[j]).sum())
            .collect();
        assert_eq!(a.apply(&col_scale), y);
        let (square, dense) = random(9, 9, 30, 7);
        let diag: Vec<f64> = (0..9).map(|i| dense[i][i]).collect();
        assert_eq!(square.diag(), diag);
        assert_eq!(Csr::zero(4, 6).apply(&[1.0; 6]), vec![0.0; 4]);
    }
}
