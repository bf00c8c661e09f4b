//! The steps of one slice.

mod offsets;

use super::step::Step;
use super::usual::STEPS;
use crate::kernel::mat::{FULL, PACKED};
use crate::kernel::simd::{has_v3, has_v4};
use crate::kernel::{Real, SLICE};
use crate::node::Node;

/// Most affine steps of each kind in a slice, and most steps of 16-bit differences.
const MAX_AFFINE: usize = u8::MAX as usize;
const MAX_SHORT: usize = u16::MAX as usize;
/// What a step that lacks some rows costs beyond its bytes, in bytes that the CPU would read in that
/// time: all rows go through it.
const PARTIAL: usize = 128;
/// A slice in which one place in this many or fewer is empty keeps them. Without differences.
const EMPTY: usize = 4;

/// The same of slices with differences, of 16 bits and with some of 32: by who reads them. Finding a
/// row's place by counting others costs time, empty places cost bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Empty {
    /// A quarter, where columns are near: `couloir bench spmv --matrix nodes:1000000 --where cpu --device
    /// none --threads 1` by AVX2 on a Zen 4 has 9.41 ms, and 9.77 with an eighth; PoCL's device 20.1 and
    /// 31.0. An eighth where they are far: random tetrahedra had 1.50 ms with a quarter where they have 1.31
    /// (an earlier build).
    #[default]
    Some = 4,
    /// An eighth, by AVX-512 alone, which puts rows in place by an instruction: the same command, with
    /// `--flush`, has 8.96 ms for 10.4 with a quarter, `pcg` 10.5 for 11.6, `gspmv` 24.4 for 26.5; what the
    /// last cache holds loses, `nodes:100000` 0.67 -> 0.80.
    Few = 8,
    /// Half, where most rows are those of a device of one row per work-item: `couloir bench spmv --matrix
    /// nodes:1000000 --device 1 --where device` on an H100 had 89.5 us with a quarter, by which a fifth of
    /// the slices were packed, and has 80.8 with half, 5 % more bytes.
    Many = 2,
    /// A third (2 % and 0.5 % of these slices are packed so, by half none, by a quarter 30 % and 23 %), by AVX2 alone,
    /// which takes packed steps entry by entry. With half for a quarter a Zen 3, the first command, has 216 us for 251
    /// (least) of `nodes:30000`, which its last cache holds; `nodes:1000000 --flush` 10.4 ms for 10.8, medians 13.6 and
    /// 13.3. A third in RCM order, two threads: 7.2 and 6.8, medians 9.7 and 8.9, so memory's matrices may lose.
    More = 3,
}

impl Empty {
    /// Of a matrix in this precision for `node`.
    pub(super) fn of<T: Real>(node: &Node) -> Self {
        if node.row_per_work_item() {
            Self::Many
        } else if node.device.is_none() && size_of::<T>() == size_of::<f64>() && has_v4() {
            Self::Few
        } else if node.device.is_none() && size_of::<T>() == size_of::<f64>() && has_v3() {
            Self::More
        } else {
            Self::Some
        }
    }
}

/// The rows of a slice: for each, its first entry in the whole matrix and its columns, ascending.
pub(super) type Lines<'a> = [(usize, &'a [u32])];

/// Encodes slices, one after the other; its memory is used again.
#[derive(Default)]
pub(super) struct Encoder {
    /// Places that stay empty.
    keeps: Empty,
    /// The diagonal does not come first: a row's number says nothing of its columns.
    ascending: bool,
    /// Steps of each kind, in this order.
    affine: usize,
    ones: usize,
    short: usize,
    wide: usize,
    steps: Vec<Step>,
    /// Rows without an entry have no place.
    packed: bool,
    offsets: Vec<i64>,
}

impl Encoder {
    /// `keeps`: places that stay empty where there are differences; `ascending`: the diagonal does not
    /// come first.
    pub fn new(keeps: Empty, ascending: bool) -> Self {
        Self {
            keeps,
            ascending,
            ..Self::default()
        }
    }

    /// Encodes the slice of rows from `first` on. Affine steps at the end of their run whose
    /// entries are all `alike` store one value.
    pub fn encode(&mut self, first: usize, lines: &Lines, alike: impl Fn(&[usize]) -> bool) {
        (self.affine, self.ones, self.short, self.wide) = (0, 0, 0, 0);
        self.steps.clear();
        let by_offset = self.diagonals(first, lines);
        if by_offset {
            self.by_offset(first, lines);
        } else {
            self.by_position(first, lines);
        }
        let entries: usize = self.steps.iter().map(|s| s.rows().count()).sum();
        let places = SLICE * self.steps.len();
        let empty = match (self.keeps, self.short, self.wide) {
            (_, 0, 0) => EMPTY,
            (Empty::Some, _, 1..) => Empty::Few as usize,
            (keeps, ..) => keeps as usize,
        };
        self.packed = empty * (places - entries) > places;
        // Few steps are left whole, for devices have code for those that most slices have.
        if by_offset && !STEPS.contains(&self.steps.len()) {
            self.by_value(&alike);
        }
        let mut ones = 0;
        let mut entries = Vec::with_capacity(SLICE);
        while ones < self.affine.min(MAX_AFFINE) {
            let step = &self.steps[self.affine - ones - 1];
            entries.clear();
            entries.extend(step.rows().map(|l| step.entry[l]));
            if !alike(&entries) {
                break;
            }
            ones += 1;
        }
        (self.affine, self.ones) = (self.affine - ones, ones);
    }

    /// Whether every row has an entry in every step.
    fn is_full(&self) -> bool {
        self.steps.iter().all(|s| s.mask == u32::MAX)
    }

    /// The third and fourth word of the slice: numbers of steps and flags.
    pub fn counts(&self) -> [u32; 2] {
        let full = self.is_full();
        let flags = if full { FULL } else { 0 } | if self.packed { PACKED } else { 0 };
        [
            (self.affine | self.ones << 8 | self.short << 16) as u32,
            self.wide as u32 | flags,
        ]
    }

    /// Whether the index block may stand for other slices', too: it has affine steps only.
    pub fn is_common(&self) -> bool {
        self.short + self.wide == 0
    }

    /// An entry for each value, where every step stores one; else none. Slices with the same may
    /// share them.
    pub fn single_values(&self) -> Vec<usize> {
        let single = self.ones == self.steps.len();
        let steps = self.steps.iter().take(if single { self.ones } else { 0 });
        steps
            .filter_map(|s| Some(s.entry[s.rows().next()?]))
            .collect()
    }

    /// Appends the index block.
    pub fn append_to(&self, index: &mut Vec<u32>) {
        for step in &self.steps {
            index.extend([step.mask, step.base]);
        }
        let (short, wide) = self.steps[self.affine + self.ones..].split_at(self.short);
        let halves: Vec<u16> = short
            .iter()
            .flat_map(|s| self.places_of(s).map(|l| s.col[l] as u16))
            .collect();
        for pair in halves.chunks(2) {
            // Halves follow each other in memory, whatever the order of bytes.
            let pair = [pair[0], pair.get(1).copied().unwrap_or(0)];
            index.push(bytemuck::cast(pair));
        }
        for step in wide {
            index.extend(self.places_of(step).map(|l| step.col[l]));
        }
        if self.is_common() && !self.packed && !self.is_full() && STEPS.contains(&self.steps.len())
        {
            index.extend(bytemuck::cast::<_, [u32; SLICE / 4]>(self.rows()));
        }
        // Devices read two words at once.
        index.resize(index.len().next_multiple_of(2), 0);
    }

    /// Of each row, a bit for each step that it has an entry in.
    fn rows(&self) -> [u8; SLICE] {
        let bit = |l: usize, (k, step): (usize, &Step)| (step.mask >> l & 1) << k;
        std::array::from_fn(|l| {
            let bits = self.steps.iter().enumerate().map(|s| bit(l, s));
            bits.sum::<u32>() as u8
        })
    }

    /// Rows that have a place in a step.
    fn places_of(&self, step: &Step) -> impl Iterator<Item = usize> + use<> {
        let mask = if self.packed { step.mask } else { u32::MAX };
        (0..SLICE).filter(move |l| mask >> l & 1 == 1)
    }

    /// Calls `put(entry, place)` with each entry's value's place in the slice, and returns how many
    /// values the slice stores.
    pub fn places(&self, mut put: impl FnMut(usize, usize)) -> usize {
        let mut place = 0;
        for (k, step) in self.steps.iter().enumerate() {
            let one = (self.affine..self.affine + self.ones).contains(&k);
            for l in self.places_of(step) {
                if step.mask >> l & 1 == 1 {
                    put(step.entry[l], place);
                }
                place += usize::from(!one);
            }
            place += usize::from(one);
        }
        place
    }

    /// One step for the diagonal, if it comes first, then one per position in the rest of the row.
    fn by_position(&mut self, first: usize, lines: &Lines) {
        let mut diagonal = Step::new();
        // Where each row's diagonal is; its length if it has none.
        let mut without = [usize::MAX; SLICE];
        for (l, &(start, cols)) in lines.iter().enumerate() {
            if self.ascending {
                break;
            }
            if let Ok(k) = cols.binary_search(&((first + l) as u32)) {
                diagonal.add(l, cols[k], start + k);
                without[l] = k;
            }
        }
        if diagonal.mask != 0 {
            self.push(first, diagonal);
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
            self.push(first, step);
        }
    }

    fn push(&mut self, first: usize, mut step: Step) {
        let first = first as u32;
        let line = |l: usize| step.col[l].wrapping_sub(l as u32);
        let columns = || step.rows().map(|l| step.col[l]);
        let some = step.mask.trailing_zeros() as usize % SLICE;
        let (lowest, highest) = (columns().min().unwrap_or(0), columns().max().unwrap_or(0));
        let base = if self.affine == self.steps.len()
            && self.affine < MAX_AFFINE
            && step.rows().all(|l| line(l) == line(some))
        {
            self.affine += 1;
            line(some)
        } else if self.wide == 0
            && self.short < MAX_SHORT
            && highest - lowest <= u32::from(u16::MAX)
        {
            self.short += 1;
            lowest
        } else {
            self.wide += 1;
            first
        };
        // A row that lacks the entry has another's column, which can be read.
        let other = step.col[some];
        for (l, col) in step.col.iter_mut().enumerate() {
            let has = step.mask >> l & 1 == 1;
            *col = if has { *col } else { other }.wrapping_sub(base);
        }
        step.base = base.wrapping_sub(first);
        self.steps.push(step);
    }
}
