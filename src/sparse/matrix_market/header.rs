//! The first lines of a Matrix Market file: what it holds, and how much.

use super::{Lines, WRITE_AGAIN, fits, quote, whole};
use crate::Result;

/// What the file announces.
pub(super) struct Header {
    pub rows: usize,
    pub cols: usize,
    /// Lines to come.
    pub entries: usize,
    /// Without values.
    pub pattern: bool,
    /// One triangle stands for both.
    pub symmetric: bool,
    integer: bool,
}

/// Remedy for what does not begin like a Matrix Market file.
const BANNER: &str =
    "the first line must read `%%MatrixMarket matrix coordinate real general`, or similar";
/// What a file packed by gzip begins with: collections hand matrices out so.
const GZIP: [u8; 2] = [0x1f, 0x8b];

impl Header {
    pub fn parse(lines: &mut Lines) -> Result<Self> {
        let banner = lines.raw().unwrap_or_default().to_ascii_lowercase();
        if banner.starts_with(&GZIP) {
            let remedy = "unpack it by gunzip, or tar -xzf, and give the .mtx file";
            return Err(lines.fail("the file is packed by gzip", remedy));
        }
        let words: Vec<&[u8]> = banner
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .collect();
        let [b"%%matrixmarket", object, format, field, symmetry] = words[..] else {
            return Err(lines.fail("this is no Matrix Market header", BANNER));
        };
        let refused = |word: &[u8], remedy: &str| {
            let what = format!("couloir reads no {} matrices", quote(word));
            lines.fail(what, remedy)
        };
        if object != b"matrix" {
            let what = format!("{} is not a matrix", quote(object));
            return Err(lines.fail(what, BANNER));
        }
        match format {
            b"coordinate" => {}
            b"array" => return Err(refused(format, "a full matrix: write it as coordinate")),
            _ => return Err(lines.fail(format!("no format {}", quote(format)), BANNER)),
        }
        let (pattern, integer) = match field {
            b"real" | b"double" => (false, false),
            b"integer" => (false, true),
            b"pattern" => (true, false),
            b"complex" => return Err(refused(field, "write its real part as a real matrix")),
            _ => return Err(lines.fail(format!("no kind of number {}", quote(field)), BANNER)),
        };
        let symmetric = match symmetry {
            b"general" => false,
            b"symmetric" => true,
            b"skew-symmetric" | b"hermitian" => {
                return Err(refused(symmetry, "write all its entries as general"));
            }
            _ => return Err(lines.fail(format!("no symmetry {}", quote(symmetry)), BANNER)),
        };
        let size = loop {
            match lines.next() {
                Some(line) if line.starts_with(b"%") => {}
                Some(line) => break line,
                None => return Err(lines.fail("the file ends before its sizes", WRITE_AGAIN)),
            }
        };
        let numbers: Vec<Option<u64>> = size
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .map(whole)
            .collect();
        let [Some(rows), Some(cols), Some(entries)] = numbers[..] else {
            let what = format!("{} are no sizes", quote(size));
            return Err(lines.fail(what, "give the numbers of rows, columns and entries"));
        };
        Self::check(lines, [rows, cols, entries], symmetric)?;
        Ok(Self {
            rows: rows as usize,
            cols: cols as usize,
            entries: entries as usize,
            pattern,
            symmetric,
            integer,
        })
    }

    fn check(lines: &Lines, [rows, cols, entries]: [u64; 3], symmetric: bool) -> Result<()> {
        let most = u64::from(u32::MAX);
        if rows == 0 || cols == 0 {
            let remedy = "give a matrix with at least one row and column";
            return Err(lines.fail(format!("a matrix of {rows} x {cols}"), remedy));
        }
        if rows > most || cols > most {
            let what = format!("{rows} x {cols} is beyond 32-bit indices");
            return Err(lines.fail(what, format!("take a matrix of at most {most} rows")));
        }
        if symmetric && rows != cols {
            let what = format!("a symmetric matrix of {rows} x {cols}");
            return Err(lines.fail(what, "correct the sizes, or write it as general"));
        }
        if u128::from(entries) > u128::from(rows) * u128::from(cols) {
            let what = format!("{entries} entries are more than {rows} x {cols} places");
            return Err(lines.fail(what, WRITE_AGAIN));
        }
        Ok(())
    }

    /// Refuses a matrix whose list of entries and compressed rows need more than the memory
    /// available.
    pub fn fits_memory(&self, lines: &Lines) -> Result<()> {
        let stored = self.entries as u128 * if self.symmetric { 2 } else { 1 };
        let bytes = 16 * self.entries as u128 + 12 * stored + 8 * self.rows as u128;
        let place = format!("{}:{}", lines.name, lines.number);
        fits(&place, u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// A finite number.
    pub fn value(&self, lines: &Lines, word: &[u8]) -> Result<f64> {
        let text = std::str::from_utf8(word).ok();
        let value = match self.integer {
            true => text.and_then(|t| t.parse::<i64>().ok()).map(|v| v as f64),
            false => text.and_then(|t| t.parse::<f64>().ok()),
        };
        let fail = |what: &str, remedy: &str| -> Result<f64> {
            Err(lines.fail(format!("{} {what}", quote(word)), remedy))
        };
        match value {
            Some(value) if value.is_finite() => Ok(value),
            Some(_) => fail("is not finite", "a matrix must hold finite numbers"),
            None if self.integer => fail("is not an integer", WRITE_AGAIN),
            None => fail("is not a number", WRITE_AGAIN),
        }
    }
}
