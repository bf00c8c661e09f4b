//! One step of a slice.

use crate::kernel::SLICE;

/// Most values that a step is cut by.
const MOST_VALUES: usize = 4;

/// The rows that have an entry in a step, with its column, or its difference to the base, and its
/// number in the whole matrix.
pub(super) struct Step {
    pub mask: u32,
    pub base: u32,
    pub col: [u32; SLICE],
    pub entry: [usize; SLICE],
}

impl Step {
    pub fn new() -> Self {
        Self {
            mask: 0,
            base: 0,
            col: [0; SLICE],
            entry: [0; SLICE],
        }
    }

    /// The rows that have an entry.
    pub fn rows(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..SLICE).filter(move |l| mask >> l & 1 == 1)
    }

    /// The rows of each value; none where they are many, or values do not stay as they are.
    pub fn by_value(&self, alike: impl Fn(&[usize]) -> bool) -> Option<Vec<u32>> {
        let mut values: Vec<(usize, u32)> = Vec::new();
        for l in self.rows() {
            let entry = self.entry[l];
            match values.iter().position(|&(first, _)| alike(&[first, entry])) {
                Some(k) => values[k].1 |= 1 << l,
                None if values.len() < MOST_VALUES && alike(&[entry]) => {
                    values.push((entry, 1 << l));
                }
                None => return None,
            }
        }
        Some(values.into_iter().map(|(_, mask)| mask).collect())
    }

    pub fn add(&mut self, row: usize, col: u32, entry: usize) {
        self.mask |= 1 << row;
        self.col[row] = col;
        self.entry[row] = entry;
    }
}
