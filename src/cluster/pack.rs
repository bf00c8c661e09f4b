//! Plain arrays as bytes, to be sent and hashed.

use bytemuck::Pod;

use crate::{Error, Result};

/// Arrays one after the other, each with its length.
#[derive(Default)]
pub struct Pack(Vec<u8>);

impl Pack {
    /// Adds an array.
    pub fn put<T: Pod>(&mut self, values: &[T]) -> &mut Self {
        self.0.extend((values.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytemuck::cast_slice(values));
        self
    }

    /// Adds one value.
    pub fn one<T: Pod>(&mut self, value: T) -> &mut Self {
        self.put(&[value])
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.put(text.as_bytes())
    }

    /// The bytes.
    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Takes from bytes what [`Pack`] has put there, in the same order.
pub struct Unpack<'a>(pub &'a [u8]);

impl Unpack<'_> {
    /// The next array.
    ///
    /// # Errors
    /// The bytes end before it does.
    pub fn take<T: Pod>(&mut self) -> Result<Vec<T>> {
        let short = || Error::failure("a message between ranks is cut short", "report this");
        let (head, rest) = self.0.split_at_checked(8).ok_or_else(short)?;
        let length = head.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
        let bytes = usize::try_from(length)
            .ok()
            .and_then(|n| n.checked_mul(size_of::<T>()));
        let (body, rest) = bytes
            .and_then(|n| rest.split_at_checked(n))
            .ok_or_else(short)?;
        self.0 = rest;
        // The bytes need not be aligned for T.
        let mut values = vec![T::zeroed(); body.len() / size_of::<T>()];
        bytemuck::cast_slice_mut(&mut values).copy_from_slice(body);
        Ok(values)
    }

    /// The next value.
    ///
    /// # Errors
    /// As [`Unpack::take`].
    pub fn one<T: Pod>(&mut self) -> Result<T> {
        self.take()?
            .first()
            .copied()
            .ok_or_else(|| Error::failure("a message between ranks lacks a value", "report this"))
    }

    /// The next text.
    ///
    /// # Errors
    /// As [`Unpack::take`].
    pub fn text(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.take::<u8>()?).into_owned())
    }
}

/// 64-bit FNV-1a hash.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_what_is_cut_is_refused() {
        let mut pack = Pack::default();
        pack.text("a b")
            .put(&[1.5f64, -2.0])
            .one(7u32)
            .put::<u32>(&[]);
        let bytes = pack.bytes();
        let mut from = Unpack(&bytes);
        assert_eq!(from.text().unwrap(), "a b");
        assert_eq!(from.take::<f64>().unwrap(), [1.5, -2.0]);
        assert_eq!(from.one::<u32>().unwrap(), 7);
        assert!(from.take::<u32>().unwrap().is_empty());
        assert!(from.take::<u8>().is_err());
        for end in 0..bytes.len() {
            let mut from = Unpack(&bytes[..end]);
            let whole = from.text().and_then(|_| from.take::<f64>());
            assert!(whole.is_err() || end >= bytes.len() - 20);
        }
    }

    #[test]
    fn hashes_tell_apart() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_ne!(hash(b"ab"), hash(b"ba"));
    }
}
