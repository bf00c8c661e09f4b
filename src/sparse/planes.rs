//! Matrices that share one pattern: one per component of a vector, and what goes with them.

use super::Csr;
use super::csr::assemble;

/// `P` matrices of one pattern: `val[k]` belongs to `row_ptr` and `col` as in [`Csr`].
#[derive(Clone, Debug, PartialEq)]
pub struct Planes<const P: usize = 3> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Row `i` holds the entries `row_ptr[i]..row_ptr[i + 1]`; length `rows + 1`.
    pub row_ptr: Vec<usize>,
    /// Column of each entry, ascending within a row.
    pub col: Vec<u32>,
    /// Values of each matrix.
    pub val: [Vec<f64>; P],
}

impl<const P: usize> Planes<P> {
    /// As [`Csr::from_rows`], with the values of all planes per entry.
    pub fn from_rows(
        rows: usize,
        cols: usize,
        fill: impl Fn(usize, &mut Vec<(u32, [f64; P])>) + Sync,
    ) -> Self {
        let (row_ptr, col, val) = assemble(rows, cols, &fill, |sum, v| {
            for (sum, v) in sum.iter_mut().zip(v) {
                *sum += v;
            }
        });
        Self {
            rows,
            cols,
            row_ptr,
            col,
            val: std::array::from_fn(|k| val.iter().map(|v| v[k]).collect()),
        }
    }

    /// Columns and the values of row `i < rows`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, [f64; P])> + Clone + '_ {
        (self.row_ptr[i]..self.row_ptr[i + 1]).map(|e| {
            (
                self.col[e] as usize,
                std::array::from_fn(|k| self.val[k][e]),
            )
        })
    }

    /// Number of entries of each plane.
    pub fn entries(&self) -> usize {
        self.col.len()
    }
}

impl Planes {
    /// `0`, without entries.
    pub fn zero(rows: usize, cols: usize) -> Self {
        Self {
            rows,
            cols,
            row_ptr: vec![0; rows + 1],
            col: Vec::new(),
            val: Default::default(),
        }
    }

    /// The planes, and a fourth one: `a`; row i is that of number `of(i)` here.
    pub fn beside(&self, a: &Csr, of: impl Fn(usize) -> usize + Sync) -> Planes<4> {
        debug_assert_eq!((a.rows, a.cols), (self.rows, self.cols));
        Planes::from_rows(self.rows, self.cols, |i, row| {
            let i = of(i);
            row.extend(self.row(i).map(|(j, [x, y, z])| (j as u32, [x, y, z, 0.0])));
            row.extend(a.row(i).map(|(j, v)| (j as u32, [0.0, 0.0, 0.0, v])));
        })
    }

    /// Plane k is `diag(s_k) A`, with the vector `s` per row.
    pub fn from_scaled(a: &Csr, s: &[[f64; 3]]) -> Self {
        debug_assert_eq!(s.len(), a.rows);
        Self::from_rows(a.rows, a.cols, |i, row| {
            row.extend(a.row(i).map(|(j, v)| (j as u32, s[i].map(|s| s * v))));
        })
    }

    /// Plane `k < 3` by itself.
    pub fn plane(&self, k: usize) -> Csr {
        Csr {
            rows: self.rows,
            cols: self.cols,
            row_ptr: self.row_ptr.clone(),
            col: self.col.clone(),
            val: self.val[k].clone(),
        }
    }

    /// Plane k is `A` times plane k of this.
    pub fn left_product(&self, a: &Csr) -> Self {
        debug_assert_eq!(a.cols, self.rows);
        Self::from_rows(a.rows, self.cols, |i, row| {
            for (k, a) in a.row(i) {
                row.extend(self.row(k).map(|(j, v)| (j as u32, v.map(|v| a * v))));
            }
        })
    }

    /// Each plane transposed.
    pub fn transpose(&self) -> Self {
        let order = Csr {
            // The position of each entry travels as its value: exact below 2^53.
            val: (0..self.entries()).map(|e| e as f64).collect(),
            ..self.plane_pattern()
        }
        .transpose();
        Self {
            rows: self.cols,
            cols: self.rows,
            val: std::array::from_fn(|k| {
                order.val.iter().map(|&e| self.val[k][e as usize]).collect()
            }),
            row_ptr: order.row_ptr,
            col: order.col,
        }
    }

    fn plane_pattern(&self) -> Csr {
        Csr {
            rows: self.rows,
            cols: self.cols,
            row_ptr: self.row_ptr.clone(),
            col: self.col.clone(),
            val: Vec::new(),
        }
    }

    /// Each plane becomes `diag(s)` times itself, with one `s` per row.
    pub fn scale_rows(mut self, s: &[f64]) -> Self {
        debug_assert_eq!(s.len(), self.rows);
        for plane in &mut self.val {
            for (span, s) in self.row_ptr.windows(2).zip(s) {
                for v in &mut plane[span[0]..span[1]] {
                    *v *= s;
                }
            }
        }
        self
    }

    /// Plane `k < 3` times `x`.
    pub fn apply_plane(&self, k: usize, x: &[f64]) -> Vec<f64> {
        let plane = &self.val[k];
        let row = |span: &[usize]| {
            let entries = self.col[span[0]..span[1]]
                .iter()
                .zip(&plane[span[0]..span[1]]);
            entries.fold(0.0, |sum, (&j, a)| sum + a * x[j as usize])
        };
        self.row_ptr.windows(2).map(row).collect()
    }

    /// Adds `sum over k of plane_k x_k` to `y`.
    pub fn add_dot(&self, x: &[Vec<f64>; 3], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate().take(self.rows) {
            for (j, v) in self.row(i) {
                *y += v[0] * x[0][j] + v[1] * x[1][j] + v[2] * x[2][j];
            }
        }
    }

    /// Adds `plane_k x` to `y_k`.
    pub fn add_each(&self, x: &[f64], y: &mut [Vec<f64>; 3]) {
        for (k, y) in y.iter_mut().enumerate() {
            let product = self.apply_plane(k, x);
            y.iter_mut().zip(product).for_each(|(y, a)| *y += a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_match_their_matrices() {
        let mut rng = fastrand::Rng::with_seed(11);
        let mut value = || f64::from(rng.i32(-8..9));
        let triplets: Vec<(u32, u32, [f64; 3])> = (0..90u32)
            .map(|e| (e * 7 % 13, e * e % 17, [value(), value(), value()]))
            .collect();
        let planes = Planes::from_rows(13, 17, |i, row| {
            let mine = triplets.iter().filter(|t| t.0 as usize == i);
            row.extend(mine.map(|&(_, j, v)| (j, v)));
        });
        let fourth = Csr::from_triplets(13, 17, &[(0, 2, 2.0), (7, 16, -1.0), (7, 1, 3.0)]);
        let four = planes.beside(&fourth, |i| i);
        for i in 0..13 {
            for (j, v) in four.row(i) {
                let three = planes.row(i).find(|e| e.0 == j).map_or([0.0; 3], |e| e.1);
                assert_eq!((&v[..3], v[3]), (&three[..], fourth.get(i, j)));
            }
            let kept = |j| four.row(i).any(|e| e.0 == j);
            assert!(planes.row(i).all(|e| kept(e.0)) && fourth.row(i).all(|e| kept(e.0)));
        }
        let left = Csr::from_triplets(3, 13, &[(0, 2, 2.0), (2, 12, -1.0), (2, 0, 3.0)]);
        let scale: Vec<f64> = (0..13).map(|i| f64::from(i) - 3.0).collect();
        let x: [Vec<f64>; 3] = std::array::from_fn(|_| (0..17).map(|_| value()).collect());
        let (mut dot, mut each) = (vec![1.0; 13], std::array::from_fn(|_| vec![1.0; 13]));
        planes.add_dot(&x, &mut dot);
        planes.add_each(&x[0], &mut each);
        let mut want = vec![1.0; 13];
        for k in 0..3 {
            let alone: Vec<_> = triplets.iter().map(|&(i, j, v)| (i, j, v[k])).collect();
            let alone = Csr::from_triplets(13, 17, &alone);
            assert_eq!(planes.plane(k), alone);
            assert_eq!(planes.transpose().plane(k), alone.transpose());
            assert_eq!(planes.left_product(&left).plane(k), left.product(&alone));
            let scaled = alone.clone().scale_rows(&scale);
            assert_eq!(planes.clone().scale_rows(&scale).plane(k), scaled);
            for (want, y) in want.iter_mut().zip(alone.apply(&x[k])) {
                *want += y;
            }
            assert_eq!(planes.apply_plane(k, &x[0]), alone.apply(&x[0]));
            let component: Vec<f64> = alone.apply(&x[0]).iter().map(|y| 1.0 + y).collect();
            assert_eq!(each[k], component);
        }
        assert_eq!(dot, want);
        assert_eq!(Planes::zero(2, 3).transpose(), Planes::zero(3, 2));
    }
}
