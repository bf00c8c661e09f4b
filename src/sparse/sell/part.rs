//! The slices that one task encodes.

use std::ops::Range;

use super::encode::{Encoder, Lines};
use super::shared::{Alike, Place};
use crate::kernel::SLICE;

/// Slices encoded by one task.
#[derive(Default)]
pub(super) struct Part {
    pub slices: Vec<Slice>,
    pub index: Vec<u32>,
    /// Entry and element, counted from the beginning of its slice.
    pub places: Vec<Place>,
}

/// What one slice takes.
pub(super) struct Slice {
    /// Values.
    pub values: usize,
    /// Words of its index block, and whether others may share that.
    pub words: usize,
    pub common: bool,
    /// Whether others may share its values.
    pub alike: Alike,
    /// Its places.
    pub places: usize,
    /// Numbers of steps.
    pub counts: [u32; 2],
}

impl Part {
    /// These slices of such rows.
    pub fn new(
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

/// Whether the values of `entries` are one, bit for bit.
fn alike(values: &[f64], entries: &[usize]) -> bool {
    entries
        .windows(2)
        .all(|w| values[w[0]].to_bits() == values[w[1]].to_bits())
}
