//! From rows to slices.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use rayon::prelude::*;

use super::check::check;
use super::encode::{Empty, Encoder, Lines};
use super::lacking;
use super::reads::Reads;
use super::shared::{Alike, Place, Shared};
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
/// Or of this where kernels write them: a slice of them, which are those kernels' rows, is then a
/// step of one slice here.
const ALIGN_WRITTEN: usize = SLICE;

/// Slices encoded by one task.
#[derive(Default)]
struct Part {
    slices: Vec<Slice>,
    index: Vec<u32>,
    /// Entry and element, counted from the beginning of its slice.
    places: Vec<Place>,
}

/// What one slice takes.
struct Slice {
    /// Values.
    values: usize,
    /// Words of its index block, and whether others may share that.
    words: usize,
    common: bool,
    /// Whether others may share its values.
    alike: Alike,
    /// Its places.
    places: usize,
    /// Numbers of steps.
    counts: [u32; 2],
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
    /// `fixed`: the values, where they stay as they are; `keeps`: see [`Encoder::new`].
    fn new(
        rows: usize,
        row_ptr: &[usize],
        col: &[u32],
        fixed: Option<&[&[f64]]>,
        keeps: Empty,
    ) -> Result<Self> {
        let too_large = |_| {
            Error::failure(
                format!("a matrix of {rows} rows needs more than 2^32 elements"),
                "take a smaller mesh per node",
            )
        };
        u32::try_from(col.len()).map_err(too_large)?;
        let count = padded(rows.max(1)) / SLICE;
        let align = if fixed.is_some() {
            ALIGN
        } else {
            ALIGN_WRITTEN
        };
        let parts: Vec<Part> = (0..count.div_ceil(SLICES_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let slices = task * SLICES_PER_TASK..count.min((task + 1) * SLICES_PER_TASK);
                Part::new(Encoder::new(keeps), slices, row_ptr, col, fixed)
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

impl Part {
    fn new(
        mut encoder: Encoder,
        slices: Range<usize>,
        row_ptr: &[usize],
        col: &[u32],
        fixed: Option<&[&[f64]]>,
    ) -> Self {
        let alike = |entries: &[usize]| {
            fixed.is_some_and(|planes| planes.iter().all(|p| alike(p, entries)))
        };
        let mut part = Self::default();
        for s in slices {
            let lines: &mut Lines = &mut [(0, &[][..]); SLICE];
            for (l, line) in lines.iter_mut().enumerate() {
                if let Some(&[from, to]) = row_ptr.get(s * SLICE + l..s * SLICE + l + 2) {
                    *line = (from, &col[from..to]);
                }
            }
            encoder.encode(s * SLICE, lines, alike);
            let (words, places) = (part.index.len(), part.places.len());
            encoder.append_to(&mut part.index);
            let values = encoder.places(|entry, place| {
                part.places.push((entry as u32, place as u32));
            });
            let common = encoder.is_common();
            part.slices.push(Slice {
                values,
                words: part.index.len() - words,
                common,
                alike: fixed.map_or(Alike::Not, |planes| {
                    let own = &part.places[places..];
                    Alike::of(planes, encoder.single_values(), common, own)
                }),
                places: part.places.len() - places,
                counts: encoder.counts(),
            });
        }
        part
    }
}

impl Sell<f64> {
    /// [`Sell::bytes`] of a matrix, without making it, packed as on a node without a
    /// device or AVX-512.
    ///
    /// # Errors
    /// More than 2^32 elements.
    pub fn footprint_bytes(a: &Csr) -> Result<f64> {
        let l = Layout::new(a.rows, &a.row_ptr, &a.col, None, Empty::default())?;
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
        check(rows, cols, row_ptr, col, planes)?;
        let fixed = fixed.then_some(planes);
        let mut layout = Layout::new(rows, row_ptr, col, fixed, Empty::of::<T>(node))?;
        let (x_bytes, caches) = (cols * size_of::<T>(), node.caches);
        let scattered = x_bytes > caches.second_bytes && layout.is_scattered();
        if x_bytes > caches.prefetch_above_bytes() {
            layout.mark_far();
        }
        let inner = inner_rows(rows, row_ptr, col);
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
        let sell = Self {
            rows,
            cols,
            elements: layout.elements,
            index_words: layout.index.len(),
            nnz: col.len(),
            inner,
            reading: Reading::of(&layout.slices, scattered, caches),
            mostly_same: usual::are_most(&layout.slices, layout.usual.len(), same),
            long: long_rows(rows, cols, layout.elements, &layout.slices),
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

/// Whether the values of `entries` are one, bit for bit.
fn alike(values: &[f64], entries: &[usize]) -> bool {
    entries
        .windows(2)
        .all(|w| values[w[0]].to_bits() == values[w[1]].to_bits())
}
