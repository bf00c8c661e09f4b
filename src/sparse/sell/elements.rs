//! Two matrices of which the second has a row for each element of the first, to compute its values.

use super::Sell;
use super::build::Values;
use crate::kernel::{Real, SLICE};
use crate::node::{BLOCK, Node};
use crate::sparse::{Csr, Repeated};
use crate::{Error, Result};

/// A matrix whose values a kernel computes from two parts.
pub struct ByElement<T: Real> {
    /// Its pattern, without values, and a matrix with a row for each of its elements.
    pub mats: [Sell<T>; 2],
    /// A value of each element.
    pub values: Repeated<T>,
}

impl<T: Real> Sell<T> {
    /// Converts `a`, whose slices have each its own elements, and `c`, which has a row for each entry of
    /// `a`: a row for each element, empty where no entry is (thesis section 2.3, equation 2.10). Which
    /// number it has follows from how `a` is stored, so that of `c` no column is the diagonal: a row's
    /// sum is that of its ascending columns. Those of `c` become others by `column`.
    ///
    /// # Errors
    /// As [`Sell::from_csr`]; `c` has another number of rows.
    pub fn by_element(
        node: &Node,
        a: &Csr,
        c: &Csr,
        column: &(impl Fn(usize) -> u32 + Sync),
    ) -> Result<ByElement<T>> {
        if c.rows != a.entries() {
            return Err(Error::failure(
                format!("{} rows for {} entries of a matrix", c.rows, a.entries()),
                "give a row for each entry",
            ));
        }
        let (stored, position) = Self::build(node, a.rows, a.cols, &a.row_ptr, &a.col, &[], false)?;
        let mut entry = vec![usize::MAX; stored.elements()];
        for (e, &at) in position.iter().enumerate() {
            entry[at as usize] = e;
        }
        let rows = Csr::from_rows(stored.elements(), c.cols, |at, row| {
            if entry[at] != usize::MAX {
                row.extend(c.row(entry[at]).map(|(j, v)| (column(j), v)));
            }
        });
        let (size, plane) = ([rows.rows, rows.cols], [&rows.val[..]]);
        let (row_ptr, col) = (&rows.row_ptr, &rows.col);
        let (c, _) = Self::build_of(node, size, row_ptr, col, &plane, Values::OfElements)?;
        Ok(ByElement {
            mats: [stored, c],
            values: Repeated::new(node, &of_elements(&a.val, &entry))?,
        })
    }

    /// Elements that come before row `cut`, a whole number of blocks, where slices have each its own.
    pub(crate) fn elements_before(&self, cut: usize) -> usize {
        self.before[cut / BLOCK] as usize
    }

    /// Elements of a slice, at most, where slices have each its own; more than any number else.
    pub(crate) fn most_of_a_slice(&self) -> usize {
        self.most_of_a_slice
    }
}

/// The value of each element; that of a place without an entry, which is not used, is one beside it, so that
/// like rows have like slices.
fn of_elements(val: &[f64], entry: &[usize]) -> Vec<f64> {
    let mut values = Vec::with_capacity(entry.len());
    for slice in entry.chunks(SLICE) {
        let mut there = slice.iter().filter_map(|&e| val.get(e));
        let mut last = there.next().copied().unwrap_or(0.0);
        for &e in slice {
            last = val.get(e).copied().unwrap_or(last);
            values.push(last);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::SLICE;
    use crate::kernel::elements::ELEMENTS;
    use crate::node::{Config, DeviceChoice};

    fn node() -> Node {
        let alone = Config {
            device: DeviceChoice::None,
            ..Config::default()
        };
        Node::open(&alone).unwrap()
    }

    /// Rows of seven entries, at distances that change from row to row, fill as many places as they can.
    #[test]
    fn rows_of_a_cell_of_six_faces_never_have_too_many_elements() {
        let (node, mut most) = (node(), 0);
        for seed in 0..400 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (far, lines) = (40 + rng.usize(..40), 1 + rng.usize(..3 * SLICE));
            let shift = [rng.usize(..2), rng.usize(..2)];
            let a = Csr::from_rows(4 * SLICE, 1000, |i, row| {
                let jump = usize::from(i >= lines) + usize::from(i >= 2 * lines);
                let near = [0, 1, 2, far + jump, 2 * far + shift[i % 2], 300, 400 + jump];
                row.extend(near.map(|d| ((i + d) as u32, 1.0)));
            });
            assert!(a.row_ptr.windows(2).all(|w| w[1] - w[0] <= 7));
            let c = Csr::zero(a.entries(), 1);
            let [a, c] = Sell::<f64>::by_element(&node, &a, &c, &|j| j as u32)
                .unwrap()
                .mats;
            assert_eq!((c.rows(), c.nnz()), (a.elements(), 0));
            most = most.max(a.most_of_a_slice());
        }
        assert!(most <= ELEMENTS && most > 7 * SLICE, "{most}");
    }

    #[test]
    fn a_row_for_each_entry_is_asked_for() {
        let a = Csr::from_rows(3, 3, |i, row| row.push((i as u32, 1.0)));
        let refused = Sell::<f64>::by_element(&node(), &a, &Csr::zero(2, 1), &|j| j as u32);
        let text = refused.map(|_| ()).unwrap_err().to_string();
        assert!(
            text.contains("2 rows for 3 entries") && text.contains("a row for each"),
            "{text}"
        );
    }

    /// The first row's number is that of a column of its own, but its sum is that of all others.
    #[test]
    fn a_row_of_an_element_ascends_whatever_its_number() {
        let node = node();
        for apart in [1, 50, 90_000] {
            let a = Csr::from_rows(70, 70, |i, row| row.push((i as u32, 1.0)));
            let columns = move |e: usize| [0, 1, 2].map(|k| (e + k * apart).saturating_sub(apart));
            let c = Csr::from_rows(70, 200_000, |e, row| {
                row.extend(columns(e).map(|j| (j as u32, (j + 1) as f64)));
            });
            let [a, c] = Sell::<f64>::by_element(&node, &a, &c, &|j| j as u32)
                .unwrap()
                .mats;
            let (a, c) = (a.view(false, true).unwrap(), c.view(false, true).unwrap());
            for e in 0..70 {
                let (at, _) = a.row(e).next().unwrap();
                let got: Vec<usize> = c.row(at).map(|(_, j)| j).collect();
                let mut want = columns(e).to_vec();
                want.dedup();
                assert_eq!(got, want, "element {at}, columns {apart} apart");
            }
        }
    }
}
