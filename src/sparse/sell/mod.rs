//! Compressed SELL-C-sigma (sliced ELLPACK): one layout for vector lanes and work-items alike.
//!
//! Rows are taken in slices of C = 32, and a slice in steps. A step takes at most one entry of each
//! row: its mask says of which rows. Its columns are stored in the least of three ways: affine
//! (column minus row is the same for all: one number), 16-bit or 32-bit differences to a base. All
//! are relative to the slice's first row, so slices that look alike share one index block. Values that
//! stay as they are ([`Sell::fixed`]) are shared, too: by slices each of whose steps has one value for
//! all rows, and by those of one index block that agree in every row, as at the walls of a box of like
//! cells. Where it pays, a step of a few values is cut into one step per value, with the same columns.
//!
//! A step of nearly every row has a value and a difference for each of the C, so that a row finds
//! its own at once; where more than a quarter of the places would be empty (with differences, an
//! eighth where some have 32 bits or AVX-512 alone reads them; half, where most rows are those of a device
//! with memory of its own, a work-item for each), the slice is packed: those of the rows that have the entry follow each
//! other, and nothing is padded.
//!
//! A row's entries follow each other as diagonal, then by ascending column ([`Sell::by_element`]: all by
//! ascending column); this is the order of its sum on every side, whatever the slice. Rows of like length
//! are made neighbours by the ordering of the mesh (sigma), so most masks are full.
//!
//! A slice, in 32-bit words:
//!
//! | words | what |
//! |---|---|
//! | 1 | where its values begin |
//! | 1 | where its index block begins |
//! | 1 | numbers of steps: affine (8 bits), affine with one value for all rows (8), 16-bit (16) |
//! | 1 | number of 32-bit steps; the highest bits are flags: see `kernel/mat.rs` |
//!
//! Its index block:
//!
//! | words | what |
//! |---|---|
//! | 2 per step, in this order | mask; column of the slice's row 0, or base, minus the first row |
//! | 1 per two places of all 16-bit steps | differences |
//! | 1 per place of the 32-bit steps | differences |
//! | 8, where there are 4 to 7 steps, all affine, and a row lacks one | of each row, a byte: bit k is set if it has an entry in step k |
//! | 0 or 1 | a block's length is even |
//!
//! Devices that load ahead have another one of slices that lack some of the steps that most have: see
//! `lacking.rs`.

mod build;
mod check;
mod elements;
mod encode;
mod lacking;
mod part;
mod reads;
mod shared;
mod step;
#[cfg(test)]
mod tests;
mod usual;

pub use elements::ByElement;
pub(crate) use usual::STEPS_AHEAD;

use std::rc::Rc;

use reads::Reads;

use super::Csr;
use crate::Result;
use crate::kernel::reading::Reading;
use crate::kernel::{Mat, Real, SLICE, mat};
use crate::node::{BLOCK, Buffer, Node, padded};

/// One or several matrices of one pattern in unified memory.
pub struct Sell<T: Real> {
    rows: usize,
    cols: usize,
    elements: usize,
    /// Elements before each block of rows, and all of them; of slices that have each its own.
    before: Rc<[u32]>,
    most_of_a_slice: usize,
    index_words: usize,
    nnz: usize,
    inner: usize,
    reading: Reading,
    /// See [`long_rows`].
    long: bool,
    /// See [`usual::are_most`].
    mostly_same: bool,
    reads: Rc<Reads>,
    slices: Rc<Buffer<u32>>,
    index: Rc<Buffer<u32>>,
    /// What devices are given by value: see [`Sell::usual`], [`Sell::same`].
    usual: Box<[[u32; 16]; 2]>,
    planes: Vec<Rc<Buffer<T>>>,
}

impl<T: Real> Sell<T> {
    /// Converts a matrix.
    ///
    /// # Errors
    /// Out of memory; more than 2^32 elements.
    pub fn from_csr(node: &Node, a: &Csr) -> Result<Self> {
        Self::new(node, a.rows, a.cols, &a.row_ptr, &a.col, &[&a.val])
    }

    /// As [`Sell::from_csr`], with the element that holds each entry.
    ///
    /// # Errors
    /// As [`Sell::from_csr`].
    pub fn placed(node: &Node, a: &Csr) -> Result<(Self, Vec<u32>)> {
        Self::build(node, a.rows, a.cols, &a.row_ptr, &a.col, &[&a.val], false)
    }

    /// Converts a matrix whose values stay as they are: where neighbouring rows have the same value
    /// at the same distance, it is stored once, and so is what whole slices have alike.
    ///
    /// # Errors
    /// As [`Sell::from_csr`].
    pub fn fixed(node: &Node, a: &Csr) -> Result<Self> {
        Ok(Self::build(node, a.rows, a.cols, &a.row_ptr, &a.col, &[&a.val], true)?.0)
    }

    /// Converts matrices of one pattern; `planes[p][e]` belongs to entry `e` of `row_ptr`, `col`.
    /// Columns ascend within a row.
    ///
    /// # Errors
    /// As [`Sell::from_csr`].
    pub fn new(
        node: &Node,
        rows: usize,
        cols: usize,
        row_ptr: &[usize],
        col: &[u32],
        planes: &[&[f64]],
    ) -> Result<Self> {
        Ok(Self::build(node, rows, cols, row_ptr, col, planes, false)?.0)
    }

    /// Rows, without padding.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Stored elements of a plane; some may belong to no entry.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Reads it in another way than it would be: for tests.
    #[cfg(test)]
    pub(crate) fn read_as(&mut self, reading: Reading) {
        self.reading = reading;
    }

    /// Whether it has many values per row, and near columns: see `long_registers` of
    /// `cl/tuning.toml`.
    pub(crate) fn is_long(&self) -> bool {
        self.long
    }

    /// Whether most slices have the usual steps with the [`same`](Self::same) values, as many as devices
    /// load ahead: see `cl/ahead.cl`.
    pub(crate) fn is_same(&self) -> bool {
        self.mostly_same
    }

    /// Entries.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Rows, in whole blocks, before the first that reads a column beyond the padded rows: before
    /// the halo has come, these can be multiplied.
    pub fn inner_rows(&self) -> usize {
        self.inner
    }

    /// Owned columns that the rows from [`inner_rows`](Self::inner_rows) on read, in order.
    pub(crate) fn border_columns(&self) -> &[u32] {
        &self.reads.border
    }

    /// Columns that rows before `cut` read lie below the first, those of the others from the second
    /// on; of whole blocks, so that those of the block around `cut` count twice.
    pub(crate) fn reach(&self, cut: usize) -> [usize; 2] {
        let [to, _] = self.reads.reach(cut.div_ceil(BLOCK));
        let [_, from] = self.reads.reach(cut / BLOCK);
        [to, from]
    }

    /// Plane `p` as a matrix by itself, in the same memory.
    ///
    /// # Panics
    /// There is no such plane.
    pub fn alone(&self, p: usize) -> Self {
        let mut usual = self.usual.clone();
        if self.planes.len() > 1 {
            usual[0] = usual::without_values(usual[0]);
        }
        Self {
            usual,
            reads: Rc::clone(&self.reads),
            before: Rc::clone(&self.before),
            slices: Rc::clone(&self.slices),
            index: Rc::clone(&self.index),
            planes: vec![Rc::clone(&self.planes[p])],
            ..*self
        }
    }

    /// Values of each plane.
    pub fn planes(&self) -> &[Rc<Buffer<T>>] {
        &self.planes
    }

    /// Four words of each slice, and of one more, which begins where the last one's values end.
    pub fn slices(&self) -> &Buffer<u32> {
        &self.slices
    }

    /// Index blocks.
    pub fn index(&self) -> &Buffer<u32> {
        &self.index
    }

    /// What devices are told of the steps that most slices of a grid have: their number, 0 where
    /// no slices are alike; the last column; of each step, column minus row; as the tenth word,
    /// where the slices begin in the values that have those of [`same`](Self::same); and, as the
    /// eleventh, 1 if there is any entry.
    pub(crate) fn usual(&self) -> [u32; 16] {
        self.usual[0]
    }

    /// The values of these steps, in the matrix's precision, where many slices share them and there
    /// is one plane.
    pub(crate) fn same(&self) -> [u32; 16] {
        self.usual[1]
    }

    /// Least memory traffic of one product, without the vectors: values, index blocks and slices,
    /// each once.
    pub fn bytes(&self) -> f64 {
        let words = self.index_words + 4 * self.rows.div_ceil(SLICE);
        (self.elements * self.planes.len() * size_of::<T>() + words * size_of::<u32>()) as f64
    }

    /// The same view for inner rows alone, whose columns all lie in the padded rows.
    pub(crate) fn inner<'a>(&self, view: Mat<'a, T>) -> Mat<'a, T> {
        Mat {
            cols: self.cols.min(padded(self.rows.max(1))),
            ..view
        }
    }

    /// Lets the sides that take rows read the matrix; the host's view is empty if it takes none.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub(crate) fn view(&self, device: bool, host: bool) -> Result<Mat<'_, T>> {
        let to = if device { usize::MAX } else { 0 };
        let from = if host { 0 } else { usize::MAX };
        let index = self.index.share(to, from)?.host;
        let mut m = Mat {
            cols: self.cols,
            slices: bytemuck::cast_slice(self.slices.share(to, from)?.host),
            index,
            halves: bytemuck::cast_slice(index),
            reading: self.reading,
            ..Mat::default()
        };
        for (view, plane) in m.planes.iter_mut().zip(&self.planes) {
            *view = plane.share(to, from)?.host;
        }
        Ok(m)
    }
}

const _: () = assert!(BLOCK.is_multiple_of(SLICE));

/// Whether a matrix of about as many columns as rows stores 8 values or more of a row, and most slices
/// have no 32-bit differences.
fn long_rows(rows: usize, cols: usize, elements: usize, slices: &[u32]) -> bool {
    let near = slices.iter().skip(3).step_by(4);
    let near = near.filter(|&word| word & !mat::FLAGS == 0).count();
    let square = rows > 0 && cols < 2 * rows;
    square && elements >= 8 * rows && 2 * near > slices.len() / 4
}
