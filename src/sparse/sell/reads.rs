//! Which columns the rows of each side read: what must be brought to it, and no more.

use crate::node::{BLOCK, padded};

/// Of the blocks of rows.
pub(super) struct Reads {
    /// One behind the last column that the blocks before each read.
    to: Vec<u32>,
    /// The first column that each block and those behind it read.
    from: Vec<u32>,
    /// Owned columns that rows which wait for a halo read.
    pub border: Vec<u32>,
}

impl Reads {
    /// Of a matrix whose rows from `inner` on wait for a halo.
    pub fn of(rows: usize, row_ptr: &[usize], col: &[u32], inner: usize) -> Self {
        let owned = padded(rows.max(1));
        let blocks = owned / BLOCK;
        let (mut to, mut from) = (vec![0; blocks + 1], vec![u32::MAX; blocks + 1]);
        for (i, w) in row_ptr.windows(2).enumerate() {
            // Columns ascend within a row.
            if let [first, .., last] | [first @ last] = &col[w[0]..w[1]] {
                let b = i / BLOCK;
                to[b + 1] = to[b + 1].max(last + 1);
                from[b] = from[b].min(*first);
            }
        }
        for b in 0..blocks {
            to[b + 1] = to[b + 1].max(to[b]);
        }
        for b in (0..blocks).rev() {
            from[b] = from[b].min(from[b + 1]);
        }
        let start = row_ptr.get(inner).copied().unwrap_or(col.len());
        let mut border = col[start..].to_vec();
        border.retain(|&j| (j as usize) < owned);
        border.sort_unstable();
        border.dedup();
        border.shrink_to_fit();
        Self { to, from, border }
    }

    /// See [`Sell::reach`](super::Sell::reach).
    pub fn reach(&self, block: usize) -> [usize; 2] {
        [self.to[block] as usize, self.from[block] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_reads_what_its_rows_name() {
        let n = 2 * BLOCK + 3;
        // Row i reads i - 1 and i + 1; the last one the halo, too.
        let (mut row_ptr, mut col) = (vec![0], Vec::new());
        for i in 0..n {
            col.extend(
                [i.wrapping_sub(1), i + 1]
                    .iter()
                    .filter(|&&j| j < n)
                    .map(|&j| j as u32),
            );
            if i + 1 == n {
                col.push(3 * BLOCK as u32 + 7);
            }
            row_ptr.push(col.len());
        }
        let reads = Reads::of(n, &row_ptr, &col, 2 * BLOCK);
        assert_eq!(reads.reach(0), [0, 0]);
        assert_eq!(reads.reach(1), [BLOCK + 1, BLOCK - 1]);
        assert_eq!(reads.reach(2), [2 * BLOCK + 1, 2 * BLOCK - 1]);
        assert_eq!(reads.reach(3), [3 * BLOCK + 8, u32::MAX as usize]);
        let b = 2 * BLOCK as u32;
        assert_eq!(reads.border, [b - 1, b, b + 1, b + 2]);
        assert_eq!(Reads::of(0, &[0], &[], 0).reach(0), [0, u32::MAX as usize]);
    }
}
