//! Vectors that say the same of most rows.
//!
//! What a flow's boundary adds to cells and faces is nought beside it, volumes and conductances of like
//! cells are alike: stored by slices, each kind of slice once, such a vector takes 4 bytes per slice and
//! stays in the first cache, where it would take 8 bytes per row of the memory's time.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use crate::kernel::repeats::Repeats;
use crate::kernel::{Real, SLICE};
use crate::node::memory::Arg;
use crate::node::{Buffer, Node, padded};
use crate::{Error, Result};

/// A vector in unified memory, by slices of 32 rows of which like ones are stored once; zeros follow it to
/// whole blocks.
pub struct Repeated<T: Real> {
    len: usize,
    /// Where the values of each slice begin.
    at: Buffer<u32>,
    values: Buffer<T>,
}

impl<T: Real> Repeated<T> {
    /// `values`, rounded, which stay as they are.
    ///
    /// # Errors
    /// Out of memory; more than 2^32 values.
    pub fn new(node: &Node, values: &[f64]) -> Result<Self> {
        Self::with_own(node, values, [])
    }

    /// The same, but of these `rows` in ascending order, whose slices are stored each by itself, others
    /// can be [`set`](Self::set).
    ///
    /// # Errors
    /// As [`Repeated::new`].
    pub(crate) fn with_own(
        node: &Node,
        values: &[f64],
        rows: impl IntoIterator<Item = usize>,
    ) -> Result<Self> {
        let mut own = rows.into_iter().map(|row| row / SLICE).peekable();
        let count = padded(values.len().max(1)) / SLICE;
        let mut at = node.buffer::<u32>(count)?;
        let mut kinds = Kinds::default();
        for (s, at) in at.write()?[..count].iter_mut().enumerate() {
            let mut slice = [T::ZERO; SLICE];
            let rows = values.iter().skip(s * SLICE);
            for (to, from) in slice.iter_mut().zip(rows) {
                *to = T::of(*from);
            }
            let mut is_own = false;
            while own.next_if(|&o| o <= s).is_some() {
                is_own = true;
            }
            *at = u32::try_from(kinds.place(&slice, is_own)).map_err(|_| {
                Error::failure(
                    format!(
                        "a vector of {} rows has more than 2^32 values",
                        values.len()
                    ),
                    "take a smaller mesh per node",
                )
            })?;
        }
        Ok(Self {
            len: values.len(),
            at,
            values: node.buffer_from(&kinds.values)?,
        })
    }

    /// Rows, without padding.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No rows?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Rows with padding: whole blocks.
    pub fn rows(&self) -> usize {
        padded(self.len.max(1))
    }

    /// Sets rows, which are among those that the vector was made [with](Self::with_own): a slice that is
    /// shared would change for all of its rows.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub(crate) fn set(&mut self, rows: impl IntoIterator<Item = (usize, T)>) -> Result<()> {
        let at = self.at.read()?;
        let values = self.values.write()?;
        for (row, value) in rows {
            values[at[row / SLICE] as usize + row % SLICE] = value;
        }
        Ok(())
    }

    /// Least memory traffic of reading it: what is stored, once.
    pub fn bytes(&self) -> f64 {
        let places = self.len.div_ceil(SLICE) * size_of::<u32>();
        (self.values.len() * size_of::<T>() + places) as f64
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        self.at.copied_bytes() + self.values.copied_bytes()
    }

    /// Lets the sides that take rows read it; the host's view is empty if it takes none.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub(crate) fn view(&self, device: bool, host: bool) -> Result<Repeats<'_, T>> {
        let to = if device { usize::MAX } else { 0 };
        let from = if host { 0 } else { usize::MAX };
        Ok(Repeats {
            at: self.at.share(to, from)?.host,
            values: self.values.share(to, from)?.host,
        })
    }

    /// The device's arguments.
    pub(crate) fn args(&self) -> [Arg; 2] {
        [self.at.arg(), self.values.arg()]
    }
}

/// Slices that differ, and where each is.
struct Kinds<T> {
    values: Vec<T>,
    by_hash: HashMap<u64, usize>,
}

impl<T> Default for Kinds<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            by_hash: HashMap::new(),
        }
    }
}

impl<T: Real> Kinds<T> {
    /// Where `slice` is, to be shared or for itself alone.
    fn place(&mut self, slice: &[T; SLICE], own: bool) -> usize {
        let end = self.values.len();
        let bits: &[u8] = bytemuck::cast_slice(slice);
        if !own {
            let mut hasher = DefaultHasher::new();
            hasher.write(bits);
            let at = *self.by_hash.entry(hasher.finish()).or_insert(end);
            // Two slices may, seldom, have one hash.
            if at < end && bytemuck::cast_slice::<T, u8>(&self.values[at..at + SLICE]) == bits {
                return at;
            }
        }
        self.values.extend_from_slice(slice);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Config, DeviceChoice};

    fn node() -> Node {
        let alone = Config {
            device: DeviceChoice::None,
            ..Config::default()
        };
        Node::open(&alone).unwrap()
    }

    fn read<T: Real>(v: &Repeated<T>) -> Vec<f64> {
        let view = v.view(false, true).unwrap();
        (0..v.rows()).map(|i| view.row(i).f64()).collect()
    }

    /// Rows 0 to 9 and some others differ; zeros follow, of which the last slice has some.
    fn mostly_two(rows: usize) -> Vec<f64> {
        let value = |i: usize| if i % 500 < 10 { i as f64 } else { 2.0 };
        (0..rows).map(value).collect()
    }

    #[test]
    fn like_slices_are_stored_once_and_every_row_is_found() {
        let node = node();
        for rows in [0, 1, 31, 32, 33, 1000, 2077] {
            let values = mostly_two(rows);
            let v = Repeated::<f64>::new(&node, &values).unwrap();
            let mut want = values;
            want.resize(v.rows(), 0.0);
            assert_eq!(read(&v), want, "{rows} rows");
        }
        // Six slices have rows that differ, the last one has rows of padding, the rest are alike.
        let v = Repeated::<f32>::new(&node, &mostly_two(2046)).unwrap();
        assert_eq!(v.bytes(), (8 * SLICE * 4 + 64 * 4) as f64);
    }

    /// Zeros of either sign and numbers that are none are told apart, by their bits.
    #[test]
    fn only_the_same_bits_are_alike() {
        let values = [[0.0; SLICE], [-0.0; SLICE], [f64::NAN; SLICE]].concat();
        let v = Repeated::<f64>::new(&node(), &values).unwrap();
        for (got, want) in read(&v).iter().zip(&values) {
            assert_eq!(got.to_bits(), want.to_bits());
        }
    }

    #[test]
    fn rows_of_their_own_change_alone() {
        let mut want = vec![3.0; 1000];
        let rows = [5, 6, 40, 999];
        let mut v = Repeated::<f64>::with_own(&node(), &want, rows).unwrap();
        let set = rows.map(|i| (i, i as f64));
        set.iter().for_each(|&(i, x)| want[i] = x);
        v.set(set).unwrap();
        assert_eq!(read(&v)[..1000], want);
        // Three slices are set, those between are one, and so would be the padding's.
        assert_eq!(v.bytes(), (4 * SLICE * 8 + 32 * 4) as f64);
    }
}
