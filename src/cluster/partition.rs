//! Cells dealt out to ranks: parts of like size with few faces between them.
//!
//! METIS cuts any mesh well, but leaves ragged parts. Where bisection by coordinates cuts about as
//! few faces, as in boxes, its straight parts are better: their rows are nearly as regular as those
//! of the whole.

mod bisect;

use bisect::bisect;

use super::comm::k_way;
use crate::{Error, Result};

/// A part for every cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Rank of each cell.
    pub part: Vec<u32>,
    /// Cells of each rank.
    pub cells: Vec<usize>,
    /// Edges of the graph (faces of the mesh) between different ranks.
    pub cut: usize,
}

/// Bisection is taken where it cuts at most so many times the faces that METIS does.
const STRAIGHT: f64 = 1.1;

impl Partition {
    /// Deals out the vertices of a graph (`adjacent[ptr[v]..ptr[v + 1]]` are the neighbours of
    /// `v`; every edge is listed from both ends) to `ranks` ranks, always in the same way; in straight
    /// parts, if they cut hardly more, where the `centres` of the cells are given.
    ///
    /// # Errors
    /// [`Error::Input`] for more ranks than there are pairs of cells; METIS fails.
    pub fn new(
        ptr: &[usize],
        adjacent: &[u32],
        centres: Option<&[[f64; 3]]>,
        ranks: usize,
    ) -> Result<Self> {
        let cells = ptr.len().saturating_sub(1);
        if ranks > 1 && ranks * 2 > cells {
            return Err(Error::input(
                format!("{ranks} ranks"),
                format!("a mesh of {cells} cells cannot feed so many"),
                format!("start at most {}, or refine the mesh", (cells / 2).max(1)),
            ));
        }
        let part = if ranks == 1 {
            vec![0; cells]
        } else {
            let too_big = || {
                Error::input(
                    "mesh",
                    format!("{cells} cells are more than can be dealt out"),
                    "use at most 300 million",
                )
            };
            if i32::try_from(adjacent.len()).is_err() {
                return Err(too_big());
            }
            // METIS wants each edge once; periodic boxes two cells wide have them twice.
            let (mut starts, mut ends) = (vec![0i32], Vec::with_capacity(adjacent.len()));
            for v in 0..cells {
                let from = ends.len();
                ends.extend(adjacent[ptr[v]..ptr[v + 1]].iter().map(|&w| w as i32));
                ends[from..].sort_unstable();
                let mut kept = from;
                for i in from..ends.len() {
                    if i == from || ends[i] != ends[kept - 1] {
                        ends[kept] = ends[i];
                        kept += 1;
                    }
                }
                ends.truncate(kept);
                starts.push(kept as i32);
            }
            k_way(&starts, &ends, ranks)?
        };
        let mut partition = Self::of(part, ranks, ptr, adjacent);
        if let (2.., Some(centres)) = (ranks, centres) {
            let straight = Self::of(bisect(centres, ranks), ranks, ptr, adjacent);
            if straight.cut as f64 <= STRAIGHT * partition.cut as f64 {
                partition = straight;
            }
        }
        partition.feed_the_empty(ptr, adjacent);
        Ok(partition)
    }

    fn of(part: Vec<u32>, ranks: usize, ptr: &[usize], adjacent: &[u32]) -> Self {
        let mut partition = Self {
            part,
            cells: vec![0; ranks],
            cut: 0,
        };
        partition.count(ptr, adjacent);
        partition
    }

    fn count(&mut self, ptr: &[usize], adjacent: &[u32]) {
        self.cells.fill(0);
        let mut ends = 0;
        for (v, &p) in self.part.iter().enumerate() {
            self.cells[p as usize] += 1;
            let others = adjacent[ptr[v]..ptr[v + 1]].iter();
            ends += others.filter(|&&w| self.part[w as usize] != p).count();
        }
        self.cut = ends / 2;
    }

    /// On tiny meshes a part may come out empty: it takes a cell from the largest.
    fn feed_the_empty(&mut self, ptr: &[usize], adjacent: &[u32]) {
        while let Some(empty) = self.cells.iter().position(|&n| n == 0) {
            let (largest, _) = (self.cells.iter().enumerate())
                .max_by_key(|&(_, n)| n)
                .unwrap_or((0, &0));
            let Some(cell) = self.part.iter().rposition(|&p| p as usize == largest) else {
                return;
            };
            self.part[cell] = empty as u32;
            self.count(ptr, adjacent);
        }
    }

    /// Largest part over the mean.
    pub fn balance(&self) -> f64 {
        let largest = self.cells.iter().copied().max().unwrap_or(0) as f64;
        largest * self.cells.len() as f64 / self.part.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of `n` vertices.
    fn path(n: usize) -> (Vec<usize>, Vec<u32>) {
        let (mut ptr, mut adjacent) = (vec![0], Vec::new());
        for v in 0..n {
            adjacent.extend((v > 0).then(|| v as u32 - 1));
            adjacent.extend((v + 1 < n).then(|| v as u32 + 1));
            ptr.push(adjacent.len());
        }
        (ptr, adjacent)
    }

    #[test]
    fn one_part_needs_no_library_and_too_many_are_refused() {
        let (ptr, adjacent) = path(9);
        let one = Partition::new(&ptr, &adjacent, None, 1).unwrap();
        assert_eq!((one.cells.as_slice(), one.cut), ([9].as_slice(), 0));
        assert_eq!(one.balance(), 1.0);
        let error = Partition::new(&ptr, &adjacent, None, 5).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("at most 4"), "{error}");
    }

    #[test]
    fn empty_parts_are_fed_from_the_largest() {
        let (ptr, adjacent) = path(4);
        let mut p = Partition {
            part: vec![0, 0, 0, 2],
            cells: vec![3, 0, 1],
            cut: 1,
        };
        p.feed_the_empty(&ptr, &adjacent);
        assert_eq!(
            (p.part, p.cells, p.cut),
            (vec![0, 0, 1, 2], vec![2, 1, 1], 2)
        );
    }
}
