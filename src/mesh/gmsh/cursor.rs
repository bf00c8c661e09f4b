//! A position in a mesh file, and how to read numbers from there.

use crate::{Error, Result};

/// Remedy for files whose text or bytes make no sense.
pub(crate) const EXPORT_AGAIN: &str = "the file is truncated or corrupt: export it again from Gmsh";

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Ascii,
    LittleEndian,
    BigEndian,
}

/// Reads a file from front to back; every message names the line (ASCII) or the byte.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    name: &'a str,
    /// Next byte.
    at: usize,
    /// First byte of what was read last: where messages point.
    last: usize,
    pub coding: Coding,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], name: &'a str) -> Self {
        Self {
            bytes,
            name,
            at: 0,
            last: 0,
            coding: Coding::Ascii,
        }
    }

    /// An error at what was read last.
    pub fn fail(&self, what: impl Into<String>, remedy: impl Into<String>) -> Error {
        let place = match self.coding {
            Coding::Ascii => {
                let before = &self.bytes[..self.last];
                let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
                format!("{}:{line}", self.name)
            }
            _ => format!("{}: byte {}", self.name, self.last),
        };
        Error::input(place, what, remedy)
    }

    fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn skip_blank(&mut self) {
        let rest = &self.bytes[self.at..];
        let blank = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.at += blank;
    }

    /// Next word of text, whatever the coding; empty at the end of the file.
    pub fn word(&mut self) -> &'a [u8] {
        self.skip_blank();
        let rest = &self.bytes[self.at..];
        let len = rest
            .iter()
            .position(|b| b.is_ascii_whitespace())
            .unwrap_or(rest.len());
        self.last = self.at;
        self.at += len;
        &rest[..len]
    }

    /// The rest of the line, as text.
    pub fn line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|&b| b == b'\n');
        self.last = self.at;
        self.at += len.map_or(rest.len(), |len| len + 1);
        rest[..len.unwrap_or(rest.len())].trim_ascii()
    }

    /// Skips the section that `$name` opened.
    pub fn skip_section(&mut self, name: &[u8]) -> Result<()> {
        let end = [b"$End", name].concat();
        let rest = &self.bytes[self.at..];
        match rest.windows(end.len()).position(|w| w == end) {
            Some(offset) => {
                self.at += offset + end.len();
                Ok(())
            }
            None => Err(self.fail(
                format!("section ${} does not end", show(name)),
                EXPORT_AGAIN,
            )),
        }
    }

    pub fn expect_end(&mut self, name: &[u8]) -> Result<()> {
        let word = self.word();
        if word.strip_prefix(b"$End") == Some(name) {
            return Ok(());
        }
        Err(self.fail(
            format!("expected $End{}, found {}", show(name), quote(word)),
            EXPORT_AGAIN,
        ))
    }

    /// Next word of text as a number, whatever the coding.
    pub fn text<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.word();
        let number = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
        number.ok_or_else(|| {
            self.fail(
                format!("expected {what}, found {}", quote(word)),
                EXPORT_AGAIN,
            )
        })
    }

    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        self.last = self.at;
        let Some(bytes) = self.bytes[self.at..].first_chunk::<N>() else {
            return Err(self.fail(
                format!("expected {what}, found the end of the file"),
                EXPORT_AGAIN,
            ));
        };
        self.at += N;
        Ok(*bytes)
    }

    /// An `int` of the format: 4 bytes.
    pub fn int(&mut self, what: &str) -> Result<i32> {
        match self.coding {
            Coding::Ascii => self.text(what),
            Coding::LittleEndian => Ok(i32::from_le_bytes(self.take(what)?)),
            Coding::BigEndian => Ok(i32::from_be_bytes(self.take(what)?)),
        }
    }

    /// A `size_t` of the format: 8 bytes.
    pub fn size(&mut self, what: &str) -> Result<u64> {
        match self.coding {
            Coding::Ascii => self.text(what),
            Coding::LittleEndian => Ok(u64::from_le_bytes(self.take(what)?)),
            Coding::BigEndian => Ok(u64::from_be_bytes(self.take(what)?)),
        }
    }

    /// A `double` of the format.
    pub fn real(&mut self, what: &str) -> Result<f64> {
        match self.coding {
            Coding::Ascii => self.text(what),
            Coding::LittleEndian => Ok(f64::from_le_bytes(self.take(what)?)),
            Coding::BigEndian => Ok(f64::from_be_bytes(self.take(what)?)),
        }
    }

    /// Checks that `count` things fit into the rest of the file, each of at least `words`
    /// words (ASCII) or `bytes` bytes (binary), so that memory is bounded by its size.
    pub fn fits(&self, count: u64, what: &str, words: usize, bytes: usize) -> Result<usize> {
        let each = match self.coding {
            Coding::Ascii => 2 * words,
            _ => bytes,
        };
        let most = self.remaining() / each.max(1);
        match usize::try_from(count) {
            Ok(count) if count <= most => Ok(count),
            _ => Err(self.fail(
                format!(
                    "{count} {what} do not fit into the {} bytes that follow",
                    self.remaining()
                ),
                EXPORT_AGAIN,
            )),
        }
    }
}

/// Text for a message, shortened and without control characters.
pub(crate) fn show(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(&word[..word.len().min(40)]);
    text.escape_debug().to_string()
}

fn quote(word: &[u8]) -> String {
    if word.is_empty() {
        "the end of the file".into()
    } else {
        format!("\"{}\"", show(word))
    }
}
