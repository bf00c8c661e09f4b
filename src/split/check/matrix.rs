//! Random matrices with every kind of step.

use crate::Result;
use crate::kernel::Real;
use crate::node::Node;
use crate::sparse::{ByElement, Csr, Sell};

/// The first half of the rows like those of a grid of 4 to 7 neighbours, some entries missing (or of
/// a quarter of the rows many), one neighbour before the first column at first; then rows of six
/// entries anywhere, some of five, or of the diagonal and four more, some of three (or the first of
/// them next to it); the last quarter of 0 to 9, some empty, one long.
/// So every kind of step is there (32-bit ones where `cols` are many), in slices that are full, have
/// gaps and are packed.
pub(super) fn random<T: Real>(
    node: &Node,
    rows: usize,
    cols: usize,
    planes: usize,
    rng: &mut fastrand::Rng,
) -> Result<Sell<T>> {
    let r = Random::new(rows, cols, planes, rng);
    let values: Vec<&[f64]> = r.values.iter().map(Vec::as_slice).collect();
    Ok(Sell::build(node, rows, cols, &r.row_ptr, &r.col, &values, r.like)?.0)
}

/// A matrix whose slices have each its own elements, few enough of them, and one with a row for each of
/// these; the same whatever the node, which says where elements are.
pub(super) fn by_element<T: Real>(
    node: &Node,
    rows: usize,
    cols: usize,
    rng: &mut fastrand::Rng,
) -> Result<ByElement<T>> {
    let r = Random::new(rows, cols, 1, rng);
    let short = Csr::from_rows(rows, cols, |i, row| row.extend(r.row(i, 0).take(7)));
    let r = Random::new(short.entries(), cols, 1, rng);
    // Of a quarter of the rows, each element has its own column and a value by its distance, so that
    // slices of elements are like those of a box.
    let boxed = short.row_ptr[rows / 4];
    let c = Csr::from_rows(short.entries(), cols, |e, row| {
        if e >= boxed {
            return row.extend(r.row(e, 0));
        }
        let i = short.row_ptr.partition_point(|&start| start <= e) - 1;
        let distance = f64::from(short.col[e]) - i as f64;
        row.push((short.col[e], 0.1 * distance));
    });
    Sell::by_element(node, &short, &c, &|j| j as u32)
}

/// What [`random`] is made of.
struct Random {
    row_ptr: Vec<usize>,
    col: Vec<u32>,
    values: Vec<Vec<f64>>,
    /// On the grid, neighbours at one distance have one value here and there.
    like: bool,
}

impl Random {
    /// Columns and values of row `i` in plane `p`.
    fn row(&self, i: usize, p: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let entries = self.row_ptr[i]..self.row_ptr[i + 1];
        entries.map(move |e| (self.col[e], self.values[p][e]))
    }

    fn new(rows: usize, cols: usize, planes: usize, rng: &mut fastrand::Rng) -> Self {
        let mut row_ptr = vec![0];
        let mut col = Vec::new();
        let neighbours = 4 + rng.usize(..4);
        let diagonal = rng.bool();
        let like = rng.bool();
        let (uneven, beside) = (!like && rng.bool(), rng.bool());
        for i in 0..rows {
            let mut row: Vec<u32> = if i < rows / 2 {
                let near = [i, i + 1, i + 3, i.wrapping_sub(17), i + 40, i + 2, i + 55];
                let near = near.into_iter().take(neighbours);
                let one_of = if uneven && i >= rows / 4 { 3 } else { 150 };
                near.filter(|_| rng.usize(..one_of) > 0)
                    .map(|j| j as u32)
                    .collect()
            } else {
                let n = match i {
                    _ if i < rows / 4 * 3 => {
                        6 - 2 * usize::from(diagonal) - usize::from(rng.usize(..100) == 0)
                    }
                    _ if i == rows / 4 * 3 => 40.min(cols),
                    _ if rng.usize(..8) == 0 => 0,
                    _ => rng.usize(..10),
                };
                let own = (diagonal && i < rows / 4 * 3).then_some(i as u32);
                // The first of the others follows it.
                let next = own.filter(|_| beside && i + 9 < cols).map(|i| i + 1);
                let least = next.map_or(0, |j| j as usize + 1);
                let others =
                    (usize::from(next.is_some())..n).map(|_| rng.usize(least..cols) as u32);
                own.into_iter().chain(next).chain(others).collect()
            };
            row.retain(|&j| (j as usize) < cols);
            row.sort_unstable();
            row.dedup();
            col.extend_from_slice(&row);
            row_ptr.push(col.len());
        }
        let values: Vec<Vec<f64>> = (0..planes)
            .map(|p| {
                let mut value = || 2.0 * rng.f64() - 1.0;
                let distances: Vec<f64> = (0..80).map(|_| value()).collect();
                row_of(&row_ptr)
                    .enumerate()
                    .map(|(e, i)| {
                        // From the farthest one before the diagonal on.
                        let distance = (col[e] as usize + 17).wrapping_sub(i);
                        let any = value();
                        match distances.get(distance) {
                            Some(v) if like && i < rows / 2 => v + p as f64,
                            _ => any,
                        }
                    })
                    .collect()
            })
            .collect();
        Self {
            row_ptr,
            col,
            values,
            like,
        }
    }
}

/// The row of each entry.
fn row_of(row_ptr: &[usize]) -> impl Iterator<Item = usize> + '_ {
    let rows = row_ptr.windows(2).enumerate();
    rows.flat_map(|(i, w)| std::iter::repeat_n(i, w[1] - w[0]))
}
