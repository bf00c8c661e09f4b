//! Matrix Market files in coordinate format: real, integer or pattern; general or symmetric
//! (R. F. Boisvert, R. Pozo, K. Remington, The Matrix Market exchange formats, NISTIR 5935, 1996).
//!
//! A pattern's entries are 1. A symmetric file lists one triangle, usually the lower one. An
//! entry that is listed twice is refused: the format does not say whether they are to be added.

mod header;

use std::io::{self, Write};
use std::path::Path;

use super::Csr;
use crate::node::pages;
use crate::{Error, Result};
use header::Header;

/// Remedy for a file that ends early or holds what no writer would write.
const WRITE_AGAIN: &str = "the file is truncated or corrupt: fetch or write it again";

/// Reads the file `path`.
///
/// # Errors
/// [`Error::Input`] with the line of whatever is wrong, and for a matrix that does not fit into
/// the memory available; [`Error::Io`] if the file cannot be read.
pub fn read(path: &Path) -> Result<Csr> {
    let failed = |e: io::Error| {
        let what = format!("the matrix cannot be read ({e})");
        Error::input(path.display().to_string(), what, "check the path")
    };
    let name = path.display().to_string();
    let size = std::fs::metadata(path).map_err(failed)?.len();
    fits(&name, size)?;
    parse(&name, &std::fs::read(path).map_err(failed)?)
}

/// Reads the text of a file that messages call `name`.
///
/// # Errors
/// As [`read`].
pub fn parse(name: &str, text: &[u8]) -> Result<Csr> {
    let mut lines = Lines {
        name,
        rest: text,
        number: 0,
    };
    let header = Header::parse(&mut lines)?;
    header.fits_memory(&lines)?;
    let entries = header.entries;
    // Every entry takes at least `1 1` and a line break, so this bounds the allocation, too.
    if entries > lines.rest.len() / 4 + 1 {
        return Err(lines.truncated(0, entries));
    }
    let mut triplets: Vec<(u32, u32, f64)> = Vec::with_capacity(entries);
    while let Some(line) = lines.next() {
        if triplets.len() == entries {
            let what = format!("a line more than the {entries} entries announced");
            return Err(lines.fail(what, "correct the number of entries in the size line"));
        }
        triplets.push(entry(&header, &lines, line)?);
    }
    if triplets.len() < entries {
        return Err(lines.truncated(triplets.len(), entries));
    }
    let (matrix, twice) = assemble(&header, &triplets);
    match twice {
        None => Ok(matrix),
        Some(place) => Err(duplicate(&header, name, text, place)),
    }
}

/// Writes `a` as a general real matrix, in full precision.
///
/// # Errors
/// As `out` says.
pub fn write(a: &Csr, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(out, "{} {} {}", a.rows, a.cols, a.entries())?;
    for i in 0..a.rows {
        for (j, v) in a.row(i) {
            writeln!(out, "{} {} {v:e}", i + 1, j + 1)?;
        }
    }
    Ok(())
}

/// Refuses what needs more than the memory available.
fn fits(place: &str, bytes: u64) -> Result<()> {
    match pages::available_bytes() {
        Some(available) if bytes > available => Err(Error::input(
            place,
            format!(
                "the matrix needs {:.1} GB, and {:.1} GB of memory are available",
                bytes as f64 / 1e9,
                available as f64 / 1e9
            ),
            "take a smaller matrix, or a machine with more memory",
        )),
        _ => Ok(()),
    }
}

/// Lines with their numbers; blank ones are skipped.
struct Lines<'a> {
    name: &'a str,
    rest: &'a [u8],
    /// Of the line read last, from 1.
    number: usize,
}

impl<'a> Lines<'a> {
    /// The next line as it stands; none at the end.
    fn raw(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&b| b == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        self.number += 1;
        Some(line.trim_ascii())
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.raw() {
                Some([]) => {}
                line => return line,
            }
        }
    }

    fn fail(&self, what: impl Into<String>, remedy: impl Into<String>) -> Error {
        let line = self.number.max(1);
        Error::input(format!("{}:{line}", self.name), what, remedy)
    }

    fn truncated(&self, found: usize, entries: usize) -> Error {
        let what = match found {
            0 => format!("the file ends before its {entries} entries"),
            _ => format!("the file ends after {found} of its {entries} entries"),
        };
        self.fail(what, WRITE_AGAIN)
    }
}

/// One line of the list: row and column from 0, and the value.
fn entry(header: &Header, lines: &Lines, line: &[u8]) -> Result<(u32, u32, f64)> {
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let mut next = |what: &str| {
        let missing = || lines.fail(format!("{what} is missing"), WRITE_AGAIN);
        words.next().ok_or_else(missing)
    };
    let i = index(lines, next("the row")?, "row", header.rows)?;
    let j = index(lines, next("the column")?, "column", header.cols)?;
    let value = match header.pattern {
        true => 1.0,
        false => header.value(lines, next("the value")?)?,
    };
    match words.next() {
        None => Ok((i, j, value)),
        Some(word) => {
            let what = format!("{} is one word too many", quote(word));
            Err(lines.fail(what, "write one entry per line: row, column, value"))
        }
    }
}

fn index(lines: &Lines, word: &[u8], what: &str, count: usize) -> Result<u32> {
    let Some(number) = whole(word) else {
        let what = format!("{} is not a {what} number", quote(word));
        return Err(lines.fail(what, WRITE_AGAIN));
    };
    if number == 0 || number > count as u64 {
        let remedy = match number {
            0 => "rows and columns count from 1",
            _ => "correct the index, or the sizes in the size line",
        };
        let what = format!("{what} {number} is outside of 1 to {count}");
        return Err(lines.fail(what, remedy));
    }
    Ok((number - 1) as u32)
}

/// A number without sign, if `word` is one.
fn whole(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 19 {
        return None;
    }
    word.iter().try_fold(0u64, |sum, b| {
        b.is_ascii_digit().then(|| 10 * sum + u64::from(b - b'0'))
    })
}

fn quote(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    let start: String = text.chars().take(20).collect();
    let more = if start.len() < text.len() { ".." } else { "" };
    format!("`{}{more}`", start.escape_debug())
}

/// The matrix, and the first place (row and column) that is listed twice, if one is.
fn assemble(header: &Header, triplets: &[(u32, u32, f64)]) -> (Csr, Option<(u32, u32)>) {
    let mirrored = |i: u32, j: u32| header.symmetric && i != j;
    let mut row_ptr = vec![0usize; header.rows + 1];
    for &(i, j, _) in triplets {
        row_ptr[i as usize + 1] += 1;
        if mirrored(i, j) {
            row_ptr[j as usize + 1] += 1;
        }
    }
    for i in 0..header.rows {
        row_ptr[i + 1] += row_ptr[i];
    }
    let entries = row_ptr[header.rows];
    let (mut col, mut val) = (vec![0u32; entries], vec![0.0; entries]);
    // Rows are filled from their starts, which so become their ends: those of the rows before.
    let mut place = |i: u32, j: u32, v: f64| {
        let at = &mut row_ptr[i as usize];
        (col[*at], val[*at]) = (j, v);
        *at += 1;
    };
    for &(i, j, v) in triplets {
        place(i, j, v);
        if mirrored(i, j) {
            place(j, i, v);
        }
    }
    row_ptr.rotate_right(1);
    row_ptr[0] = 0;
    let mut twice = None;
    let mut row = Vec::new();
    for i in 0..header.rows {
        let span = row_ptr[i]..row_ptr[i + 1];
        let (col, val) = (&mut col[span.clone()], &mut val[span]);
        if !col.is_sorted() {
            row.clear();
            row.extend(col.iter().copied().zip(val.iter().copied()));
            row.sort_unstable_by_key(|&(j, _)| j);
            for (e, &(j, v)) in row.iter().enumerate() {
                (col[e], val[e]) = (j, v);
            }
        }
        if let Some(pair) = col.windows(2).find(|w| w[0] == w[1]) {
            twice = twice.or(Some((i as u32, pair[0])));
        }
    }
    let (rows, cols) = (header.rows, header.cols);
    let matrix = Csr {
        rows,
        cols,
        row_ptr,
        col,
        val,
    };
    (matrix, twice)
}

/// The message for an entry that is listed twice: both lines are looked up again.
fn duplicate(header: &Header, name: &str, text: &[u8], (i, j): (u32, u32)) -> Error {
    let mut lines = Lines {
        name,
        rest: text,
        number: 0,
    };
    let mut first = 0;
    if Header::parse(&mut lines).is_ok() {
        while let Some(line) = lines.next() {
            let at = entry(header, &lines, line).map(|(i, j, _)| (i, j));
            let same = at.is_ok_and(|at| at == (i, j) || header.symmetric && at == (j, i));
            match (same, first) {
                (true, 0) => first = lines.number,
                (true, _) => break,
                _ => {}
            }
        }
    }
    let what = format!(
        "entry ({}, {}) is listed twice, first in line {first}",
        i + 1,
        j + 1
    );
    lines.fail(what, "add the two, or remove one")
}
