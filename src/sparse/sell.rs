//! SELL-C-sigma (sliced ELLPACK): one layout for vector lanes and work-items alike.
//!
//! Rows are taken in slices of C; within a slice, element k of every row stands beside the
//! others' (column-major), so C rows load together. Rows of like length are made neighbours by
//! the ordering of the mesh (sigma), so little is padded. Padding has value 0 and a column of
//! its own row, so it changes no result and touches no new memory.

use std::rc::Rc;

use super::Csr;
use crate::kernel::rows::WIDTH;
use crate::kernel::{MAX_PLANES, Mat, Real};
use crate::node::{BLOCK, Buffer, Node, padded};
use crate::{Error, Result};

/// One or several matrices of one pattern in unified memory.
pub struct Sell<T: Real> {
    rows: usize,
    cols: usize,
    slice: usize,
    elements: usize,
    nnz: usize,
    slice_ptr: Rc<Buffer<u32>>,
    col: Rc<Buffer<u32>>,
    planes: Vec<Buffer<T>>,
    position: Vec<u32>,
}

impl<T: Real> Sell<T> {
    /// Converts a matrix.
    ///
    /// # Errors
    /// Out of memory; more than 2^32 elements.
    pub fn from_csr(node: &Node, a: &Csr) -> Result<Self> {
        Self::new(node, a.rows, a.cols, &a.row_ptr, &a.col, &[&a.val])
    }

    /// Converts matrices of one pattern; `planes[p][e]` belongs to entry `e` of `row_ptr`, `col`.
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
        let slice = node.device.as_ref().map_or(WIDTH, |d| d.tuning.slice);
        let ordered = row_ptr.windows(2).all(|w| w[0] <= w[1]) && row_ptr.len() == rows + 1;
        let inside = col.iter().all(|&j| (j as usize) < cols) && row_ptr.last() == Some(&col.len());
        if !ordered
            || !inside
            || planes.len() > MAX_PLANES
            || planes.iter().any(|p| p.len() != col.len())
        {
            return Err(Error::failure(
                "a matrix has columns or row pointers out of range",
                "report this as a defect",
            ));
        }
        let slices = padded(rows.max(1)) / slice;
        let length = |i: usize| {
            if i < rows {
                row_ptr[i + 1] - row_ptr[i]
            } else {
                0
            }
        };
        let mut ptr = vec![0u32; slices + 1];
        let mut elements = 0usize;
        for s in 0..slices {
            let longest = (s * slice..(s + 1) * slice).map(length).max().unwrap_or(0);
            elements += longest * slice;
            ptr[s + 1] = u32::try_from(elements).map_err(|_| {
                Error::failure(
                    format!("a matrix of {rows} rows needs more than 2^32 elements"),
                    "take a smaller mesh per node",
                )
            })?;
        }
        let mut columns = vec![0u32; elements];
        let mut position = vec![0u32; col.len()];
        for s in 0..slices {
            let width = (ptr[s + 1] - ptr[s]) as usize / slice;
            for i in s * slice..(s + 1) * slice {
                let at = ptr[s] as usize + i % slice;
                let (from, n) = if i < rows {
                    (row_ptr[i], length(i))
                } else {
                    (0, 0)
                };
                // Padding repeats the row's last column; an empty row takes 0, or its own number
                // where that is a column.
                let spare = if n > 0 {
                    col[from + n - 1]
                } else if i < cols {
                    i as u32
                } else {
                    0
                };
                for k in 0..width {
                    let e = at + k * slice;
                    columns[e] = if k < n { col[from + k] } else { spare };
                    if k < n {
                        position[from + k] = e as u32;
                    }
                }
            }
        }
        let planes = planes
            .iter()
            .map(|values| {
                let mut b = node.buffer::<T>(elements)?;
                let v = b.write()?;
                for (e, &x) in values.iter().enumerate() {
                    v[position[e] as usize] = T::of(x);
                }
                Ok(b)
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            rows,
            cols,
            slice,
            elements,
            nnz: col.len(),
            slice_ptr: Rc::new(node.buffer_from(&ptr)?),
            col: Rc::new(node.buffer_from(&columns)?),
            planes,
            position,
        })
    }

    /// Rows, without padding.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Stored elements, padding included.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Entries, without padding.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Rows per slice.
    pub fn slice(&self) -> usize {
        self.slice
    }

    /// Element that holds each entry of the matrix it was made from.
    pub fn position(&self) -> &[u32] {
        &self.position
    }

    /// Values of plane `p`, one per element, to be written by a kernel.
    pub fn plane_mut(&mut self, p: usize) -> &mut Buffer<T> {
        &mut self.planes[p]
    }

    /// Values of each plane.
    pub fn planes(&self) -> &[Buffer<T>] {
        &self.planes
    }

    /// First element of each slice, and the end.
    pub fn slice_ptr(&self) -> &Buffer<u32> {
        &self.slice_ptr
    }

    /// Column of each element.
    pub fn col(&self) -> &Buffer<u32> {
        &self.col
    }

    /// Least memory traffic of one product, without the vectors: values and columns of every
    /// element, and the slice pointers.
    pub fn bytes(&self) -> f64 {
        let per_element = self.planes.len() * size_of::<T>() + size_of::<u32>();
        (self.elements * per_element + (padded(self.rows) / self.slice + 1) * size_of::<u32>())
            as f64
    }

    /// Lets the sides that take rows read the matrix; the host's view is empty if it takes none.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub(crate) fn view(&self, device: bool, host: bool) -> Result<Mat<'_, T>> {
        let to = if device { usize::MAX } else { 0 };
        let from = if host { 0 } else { usize::MAX };
        let mut m = Mat {
            slice: self.slice,
            cols: self.cols,
            slice_ptr: self.slice_ptr.share(to, from)?.host,
            col: self.col.share(to, from)?.host,
            ..Mat::default()
        };
        for (view, plane) in m.planes.iter_mut().zip(&self.planes) {
            *view = plane.share(to, from)?.host;
        }
        Ok(m)
    }
}

const _: () = assert!(BLOCK.is_multiple_of(WIDTH));
