//! The index block of one slice.

use crate::kernel::SLICE;
use crate::kernel::mat::FULL;

/// Most affine steps of each kind in a block, and most steps of 16-bit differences.
const MAX_AFFINE: usize = u8::MAX as usize;
const MAX_SHORT: usize = u16::MAX as usize;
/// What a step that lacks some rows costs beyond its bytes, in bytes.
const PARTIAL: usize = 16;

/// The rows of a slice: for each, its first entry in the whole matrix and its columns, ascending.
pub(super) type Lines<'a> = [(usize, &'a [u32])];

/// Makes index blocks, one after the other; its memory is used again.
#[derive(Default)]
pub(super) struct Encoder {
    /// Steps of each kind, in this order.
    affine: usize,
    ones: usize,
    short: usize,
    wide: usize,
    /// Mask and base of each step.
    steps: Vec<u32>,
    halves: Vec<u16>,
    words: Vec<u32>,
    /// Entries in the order of their values, and where each step's begin.
    entries: Vec<usize>,
    begin: Vec<usize>,
    offsets: Vec<i64>,
}

/// The rows that have an entry in a step, with its column and its number in the whole matrix.
struct Step {
    mask: u32,
    col: [u32; SLICE],
    entry: [usize; SLICE],
}

impl Encoder {
    /// Encodes the slice of rows from `first` on. Affine steps at the end of their run whose
    /// entries are all `alike` store one value.
    pub fn encode(&mut self, first: usize, lines: &Lines, alike: impl Fn(&[usize]) -> bool) {
        self.clear();
        if self.diagonals(first, lines) {
            self.by_offset(first, lines);
        } else {
            self.by_position(first, lines);
        }
        let mut ones = 0;
        while ones < self.affine.min(MAX_AFFINE) && alike(self.step(self.affine - ones - 1)) {
            ones += 1;
        }
        (self.affine, self.ones) = (self.affine - ones, ones);
    }

    fn clear(&mut self) {
        (self.affine, self.ones, self.short, self.wide) = (0, 0, 0, 0);
        self.steps.clear();
        self.halves.clear();
        self.words.clear();
        self.entries.clear();
        self.begin.clear();
    }

    /// Steps.
    fn count(&self) -> usize {
        self.begin.len()
    }

    /// Whether the block may stand for other slices', too: it has affine steps only.
    pub fn is_common(&self) -> bool {
        self.short + self.wide == 0
    }

    /// Appends the index block.
    pub fn append_to(&self, index: &mut Vec<u32>) {
        index.push((self.affine | self.ones << 8 | self.short << 16) as u32);
        let full = self.steps.iter().step_by(2).all(|&mask| mask == u32::MAX);
        index.push(self.wide as u32 | if full { FULL } else { 0 });
        index.extend_from_slice(&self.steps);
        let at = index.len();
        index.resize(at + self.halves.len().div_ceil(2), 0);
        let halves: &mut [u16] = bytemuck::cast_slice_mut(&mut index[at..]);
        halves[..self.halves.len()].copy_from_slice(&self.halves);
        index.extend_from_slice(&self.words);
        // Devices read two words at once.
        index.resize(index.len().next_multiple_of(2), 0);
    }

    /// Calls `put(entry, place)` with each entry's value's place in the slice, and returns how many
    /// values the slice stores.
    pub fn places(&self, mut put: impl FnMut(usize, usize)) -> usize {
        let mut place = 0;
        for k in 0..self.count() {
            let one = (self.affine..self.affine + self.ones).contains(&k);
            for &entry in self.step(k) {
                put(entry, place);
                place += usize::from(!one);
            }
            place += usize::from(one);
        }
        place
    }

    fn step(&self, k: usize) -> &[usize] {
        let end = self.begin.get(k + 1).copied();
        &self.entries[self.begin[k]..end.unwrap_or(self.entries.len())]
    }

    /// Whether every row depends on its neighbours in so few distances that a step for each is
    /// cheaper than a step for each position in the row. Leaves the distances in `offsets`.
    fn diagonals(&mut self, first: usize, lines: &Lines) -> bool {
        let longest = lines.iter().map(|(_, cols)| cols.len()).max().unwrap_or(0);
        let entries: usize = lines.iter().map(|(_, cols)| cols.len()).sum();
        // Beyond this many, 16-bit differences are smaller.
        let most = (8 * longest + 2 * entries) / (8 + PARTIAL / 2) + 2;
        self.offsets.clear();
        for (l, (_, cols)) in lines.iter().enumerate() {
            let row = (first + l) as i64;
            for &j in *cols {
                let offset = i64::from(j) - row;
                if let Err(at) = self.offsets.binary_search(&offset) {
                    self.offsets.insert(at, offset);
                }
            }
            if self.offsets.len() > most.min(MAX_AFFINE) {
                return false;
            }
        }
        true
    }

    /// One step per distance between row and column: the diagonal, then ascending.
    fn by_offset(&mut self, first: usize, lines: &Lines) {
        let offsets = std::mem::take(&mut self.offsets);
        let others = offsets.iter().copied().filter(|&o| o != 0);
        let diagonal = offsets.contains(&0).then_some(0);
        let mut next = [0; SLICE];
        for offset in diagonal.into_iter().chain(others) {
            let mut step = Step::new();
            for (l, &(start, cols)) in lines.iter().enumerate() {
                let column = (first + l) as i64 + offset;
                if offset == 0 {
                    if let Ok(k) = cols.binary_search(&(column as u32)) {
                        step.add(l, cols[k], start + k);
                    }
                    continue;
                }
                if cols.get(next[l]).is_some_and(|&j| j as usize == first + l) {
                    next[l] += 1;
                }
                if cols.get(next[l]).is_some_and(|&j| i64::from(j) == column) {
                    step.add(l, cols[next[l]], start + next[l]);
                    next[l] += 1;
                }
            }
            self.push(first, &step);
        }
        self.offsets = offsets;
    }

    /// One step for the diagonal, then one per position in the rest of the row.
    fn by_position(&mut self, first: usize, lines: &Lines) {
        let mut diagonal = Step::new();
        // Where each row's diagonal is; its length if it has none.
        let mut without = [usize::MAX; SLICE];
        for (l, &(start, cols)) in lines.iter().enumerate() {
            if let Ok(k) = cols.binary_search(&((first + l) as u32)) {
                diagonal.add(l, cols[k], start + k);
                without[l] = k;
            }
        }
        if diagonal.mask != 0 {
            self.push(first, &diagonal);
        }
        for position in 0.. {
            let mut step = Step::new();
            for (l, &(start, cols)) in lines.iter().enumerate() {
                let k = position + usize::from(position >= without[l]);
                if let Some(&j) = cols.get(k) {
                    step.add(l, j, start + k);
                }
            }
            if step.mask == 0 {
                return;
            }
            self.push(first, &step);
        }
    }

    fn push(&mut self, first: usize, step: &Step) {
        let first = first as u32;
        let present = || (0..SLICE).filter(|l| step.mask >> l & 1 == 1);
        let column = |l: usize| step.col[l];
        let lowest = present().map(column).min().unwrap_or(0);
        let highest = present().map(column).max().unwrap_or(0);
        let line = |l: usize| column(l).wrapping_sub(l as u32);
        let start = present().map(line).next().unwrap_or(0);
        let base = if self.affine == self.begin.len()
            && self.affine < MAX_AFFINE
            && present().all(|l| line(l) == start)
        {
            self.affine += 1;
            start
        } else if self.wide == 0
            && self.short < MAX_SHORT
            && highest - lowest <= u32::from(u16::MAX)
        {
            self.short += 1;
            self.halves
                .extend(present().map(|l| (column(l) - lowest) as u16));
            lowest
        } else {
            self.wide += 1;
            self.words
                .extend(present().map(|l| column(l).wrapping_sub(first)));
            first
        };
        self.steps.extend([step.mask, base.wrapping_sub(first)]);
        self.begin.push(self.entries.len());
        self.entries.extend(present().map(|l| step.entry[l]));
    }
}

impl Step {
    fn new() -> Self {
        Self {
            mask: 0,
            col: [0; SLICE],
            entry: [0; SLICE],
        }
    }

    fn add(&mut self, row: usize, col: u32, entry: usize) {
        self.mask |= 1 << row;
        self.col[row] = col;
        self.entry[row] = entry;
    }
}
