//! From rows to slices.

use std::collections::HashMap;
use std::rc::Rc;

use rayon::prelude::*;

use super::check::check;
use super::encode::{Empty, Encoder};
use super::lacking;
use super::part::Part;
use super::reads::Reads;
use super::shared::Shared;
use super::usual;
use super::{Sell, long_rows};
use crate::kernel::mat::{FAR, FLAGS};
use crate::kernel::reading::Reading;
use crate::kernel::{Real, SLICE};
use crate::node::{BLOCK, Buffer, Node, padded};
use crate::sparse::Csr;
use crate::{Error, Result};

/// Slices encoded by one task.
const SLICES_PER_TASK: usize = 512;
/// A slice's values begin at a multiple of this: a cache line of doubles.
const ALIGN: usize = 8;
/// Or of this where slices have each its own: a slice of them, where they are rows of another matrix, is
/// then a step of one slice here.
const ALIGN_OWN: usize = SLICE;

/// What the values of a matrix are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Each slice has its own, and they may change.
    Own,
    /// They stay as they are, and slices share what they have alike.
    Fixed,
    /// The same, and rows are elements: see [`Sell::by_element`].
    OfElements,
}

/// Where everything goes.
struct Layout {
    slices: Vec<u32>,
    index: Vec<u32>,
    position: Vec<u32>,
    elements: usize,
    usual: Vec<u32>,
    same: Option<u32>,
}

impl Layout {
    /// `fixed`: the values, where they stay as they are; the others: see [`Encoder::new`].
    fn new(
        rows: usize,
        row_ptr: &[usize],
        col: &[u32],
        fixed: Option<&[&[f64]]>,
        keeps: Empty,
        ascending: bool,
    ) -> Result<Self> {
        let too_large = |_| {
            Error::failure(
                format!("a matrix of {rows} rows needs more than 2^32 elements"),
                "take a smaller mesh per node",
            )
        };
        u32::try_from(col.len()).map_err(too_large)?;
        let count = padded(rows.max(1)) / SLICE;
        let align = if fixed.is_some() { ALIGN } else { ALIGN_OWN };
        let parts: Vec<Part> = (0..count.div_ceil(SLICES_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let slices = task * SLICES_PER_TASK..count.min((task + 1) * SLICES_PER_TASK);
                Part::new(Encoder::new(keeps, ascending), slices, row_ptr, col, fixed)
            })
            .collect();
        let mut slices = Vec::with_capacity(4 * count);
        let mut index = Vec::new();
        let mut position = vec![0u32; col.len()];
        let mut blocks: HashMap<&[u32], u32> = HashMap::new();
        let mut shared = Shared::new(fixed.unwrap_or(&[]));
        let mut elements = 0usize;
        for part in &parts {
            let (mut words, mut places) = (part.index.as_slice(), part.places.as_slice());
            for slice in &part.slices {
                let (block, rest) = words.split_at(slice.words);
                words = rest;
                let end = u32::try_from(index.len()).map_err(too_large)?;
                let at = match blocks.get(block) {
                    Some(&at) if slice.common => at,
                    _ => {
                        if slice.common {
                            blocks.insert(block, end);
                        }
                        index.extend_from_slice(block);
                        end
                    }
                };
                let (own, rest) = places.split_at(slice.places);
                places = rest;
                let end = u32::try_from(elements).map_err(too_large)?;
                let before = shared.before(&slice.alike, at, own, end);
                if before.is_none() {
                    elements += slice.values.next_multiple_of(align);
                }
                let start = before.unwrap_or(end);
                let [steps, wide] = slice.counts;
                slices.extend([start, at, steps, wide]);
                for &(entry, place) in own {
                    position[entry as usize] = start + place;
                }
            }
            u32::try_from(elements).map_err(too_large)?;
        }
        let usual = usual::mark(&mut slices, &mut index);
        let same = usual::same(&slices, usual.len());
        Ok(Self {
            slices,
            index,
            position,
            elements,
            usual,
            same,
        })
    }

    /// Where the elements of each slice begin, and where the last one's end.
    fn starts(&self) -> impl Iterator<Item = u32> {
        let starts = self.slices.iter().step_by(4).copied();
        starts.chain([self.elements as u32])
    }

    /// Whether a slice has 32-bit steps.
    fn is_scattered(&self) -> bool {
        let mut slices = self.slices.chunks_exact(4);
        slices.any(|s| s[3] & !FLAGS > 0)
    }

    /// Flags the slices that have 32-bit steps.
    fn mark_far(&mut self) {
        for slice in self.slices.chunks_exact_mut(4) {
            if slice[3] & !FLAGS > 0 {
                slice[3] |= FAR;
            }
        }
    }
}

impl Sell<f64> {
    /// [`Sell::bytes`] of a matrix, without making it, packed as on a node without a
    /// device or AVX-512.
    ///
    /// # Errors
    /// More than 2^32 elements.
    pub fn footprint_bytes(a: &Csr) -> Result<f64> {
        let l = Layout::new(a.rows, &a.row_ptr, &a.col, None, Empty::default(), false)?;
        let words = l.index.len() + 4 * a.rows.div_ceil(SLICE);
        Ok((l.elements * size_of::<f64>() + words * size_of::<u32>()) as f64)
    }
}

impl<T: Real> Sell<T> {
    /// As [`Sell::new`]; where `fixed`, as [`Sell::fixed`]. With the element that holds each entry.
    pub(crate) fn build(
        node: &Node,
        rows: usize,
        cols: usize,
        row_ptr: &[usize],
        col: &[u32],
        planes: &[&[f64]],
        fixed: bool,
    ) -> Result<(Self, Vec<u32>)> {
        let values = if fixed { Values::Fixed } else { Values::Own };
        Self::build_of(node, [rows, cols], row_ptr, col, planes, values)
    }

    /// As [`Sell::build`], of such values.
    pub(super) fn build_of(
        node: &Node,
        [rows, cols]: [usize; 2],
        row_ptr: &[usize],
        col: &[u32],
        planes: &[&[f64]],
        values: Values,
    ) -> Result<(Self, Vec<u32>)> {
        let fixed = values != Values::Own;
        let ascending = values == Values::OfElements;
        check(rows, cols, row_ptr, col, planes)?;
        let fixed = fixed.then_some(planes);
        let keeps = Empty::of::<T>(node);
        let mut layout = Layout::new(rows, row_ptr, col, fixed, keeps, ascending)?;
        let (x_bytes, caches) = (cols * size_of::<T>(), node.caches);
        let scattered = x_bytes > caches.second_bytes && layout.is_scattered();
        if x_bytes > caches.prefetch_above_bytes() {
            layout.mark_far();
        }
        let inner = inner_rows(rows, row_ptr, col);
        let starts: Vec<u32> = layout.starts().collect();
        let lengths = || starts.windows(2).map(|w| (w[1] - w[0]) as usize);
        let most = match fixed {
            None => lengths().max().unwrap_or(0),
            Some(_) => usize::MAX,
        };
        let planes: Vec<Rc<Buffer<T>>> = planes
            .iter()
            .map(|values| {
                let mut b = node.buffer::<T>(layout.elements)?;
                let v = b.write()?;
                for (&at, &x) in layout.position.iter().zip(*values) {
                    v[at as usize] = T::of(x);
                }
                Ok(Rc::new(b))
            })
            .collect::<Result<_>>()?;
        let same = layout.same.filter(|_| planes.len() == 1);
        let mut given = [0; 16];
        if let (Some(plane), Some(same)) = (planes.first(), same) {
            let (plane, steps) = (plane.read()?, layout.usual.len());
            given = usual::same_words(plane, same, steps);
            lacking::mark_given(&mut layout.slices, &layout.index, plane, same, steps);
        }
        let reading = Reading::of(&layout.slices, scattered, caches);
        let mostly_same = usual::are_most(&layout.slices, layout.usual.len(), same);
        let long = long_rows(rows, cols, layout.elements, &layout.slices);
        layout.slices.extend([layout.elements as u32, 0, 0, 0]);
        let sell = Self {
            rows,
            cols,
            elements: layout.elements,
            before: starts.iter().step_by(BLOCK / SLICE).copied().collect(),
            most_of_a_slice: most,
            index_words: layout.index.len(),
            nnz: col.len(),
            inner,
            reading,
            mostly_same,
            long,
            usual: Box::new([usual::words(&layout.usual, same, cols, col.len()), given]),
            reads: Rc::new(Reads::of(rows, row_ptr, col, inner)),
            slices: Rc::new(node.buffer_from(&layout.slices)?),
            index: Rc::new(node.buffer_from(&layout.index)?),
            planes,
        };
        Ok((sell, layout.position))
    }
}

fn inner_rows(rows: usize, row_ptr: &[usize], col: &[u32]) -> usize {
    let owned = padded(rows.max(1));
    let first = col.iter().position(|&j| j as usize >= owned);
    match first.map(|e| row_ptr.partition_point(|&start| start <= e) - 1) {
        Some(row) => row / BLOCK * BLOCK,
        None => owned,
    }
}
