//! Where things stand in a file and in the overrides of the command line.
//!
//! Overrides are parsed as lines that follow the file: each is padded with blanks to the
//! offset at which it would stand, so that one number, the offset, places every error.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::Override;
use crate::{Error, Result};

/// The text of the file and the overrides as if they followed it.
pub(crate) struct Source<'a> {
    path: &'a Path,
    text: &'a str,
    pub(crate) lines: Vec<Line<'a>>,
}

/// An override, its line as TOML and as a TOML string, both padded to its offset.
pub(crate) struct Line<'a> {
    start: usize,
    pub(crate) over: &'a Override,
    plain: String,
    quoted: String,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str, path: &'a Path, overrides: &'a [Override]) -> Self {
        let mut start = text.len() + 1;
        let mut lines = Vec::new();
        for over in overrides {
            let pad = " ".repeat(start);
            let value = toml::Value::String(over.value.clone());
            let plain = format!("{pad}{} = {}", over.key, over.value);
            let quoted = format!("{pad}{} = {value}", over.key);
            let end = plain.len().max(quoted.len()) + 1;
            lines.push(Line {
                start,
                over,
                plain,
                quoted,
            });
            start = end;
        }
        Self { path, text, lines }
    }

    /// The override as a table; a value that is no TOML but a bare word becomes a string.
    pub(crate) fn parse_line<'l>(&self, line: &'l Line) -> Result<DeTable<'l>> {
        let remedy = "give KEY=VALUE with a dotted key, such as fluid.viscosity=1e-3";
        if line.over.key.contains('\n') || line.over.value.contains('\n') {
            return Err(Error::input(
                &line.over.origin,
                "a line break is in it",
                remedy,
            ));
        }
        let bare =
            !line.over.value.starts_with(['"', '\'', '[', '{']) && !line.over.value.is_empty();
        DeTable::parse(&line.plain)
            .or_else(|error| {
                if bare {
                    DeTable::parse(&line.quoted)
                } else {
                    Err(error)
                }
            })
            .map(|table| table.into_inner())
            .map_err(|error| self.syntax(&error, remedy))
    }

    pub(crate) fn syntax(&self, error: &toml::de::Error, remedy: &str) -> Error {
        let at = error.span().map_or(0, |span| span.start);
        let place = match self.line_at(at) {
            Some(line) => line.over.origin.clone(),
            None => {
                let (row, column) = self.position(at);
                format!("{}:{row}:{column}", self.path.display())
            }
        };
        let what = error.message().trim().replace('\n', ", ");
        Error::input(place, what, remedy)
    }

    /// `FILE:LINE: KEY`, or the flag.
    pub(crate) fn place(&self, at: usize, key: &str) -> String {
        match self.line_at(at) {
            Some(line) => line.over.origin.clone(),
            None => format!("{}:{}: {key}", self.path.display(), self.position(at).0),
        }
    }

    /// The name of the file.
    pub(crate) fn file(&self) -> String {
        self.path.display().to_string()
    }

    pub(crate) fn is_override(&self, at: usize) -> bool {
        self.line_at(at).is_some()
    }

    fn line_at(&self, at: usize) -> Option<&Line<'a>> {
        self.lines.iter().rev().find(|line| line.start <= at)
    }

    /// Line and column of an offset, both from 1.
    fn position(&self, at: usize) -> (usize, usize) {
        let before = self
            .text
            .get(..at.min(self.text.len()))
            .unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let column = before.get(line_start..).unwrap_or("").chars().count();
        (before.matches('\n').count() + 1, column + 1)
    }
}

/// Where each key and its value stand.
pub(crate) struct Index(BTreeMap<String, (Range<usize>, Range<usize>)>);

impl Index {
    pub(crate) fn new(root: &DeTable) -> Self {
        let mut index = Self(BTreeMap::new());
        index.walk("", root);
        index
    }

    fn walk(&mut self, prefix: &str, table: &DeTable) {
        for (key, value) in table {
            let path = match prefix {
                "" => key.get_ref().to_string(),
                _ => format!("{prefix}.{}", key.get_ref()),
            };
            self.0.insert(path.clone(), (key.span(), value.span()));
            self.descend(&path, value.get_ref());
        }
    }

    fn descend(&mut self, path: &str, value: &DeValue) {
        if let Some(table) = value.as_table() {
            self.walk(path, table);
        }
        for (i, item) in value.as_array().into_iter().flatten().enumerate() {
            let path = format!("{path}[{i}]");
            self.0.insert(path.clone(), (item.span(), item.span()));
            self.descend(&path, item.get_ref());
        }
    }

    pub(crate) fn offset(&self, key: &str) -> Option<usize> {
        self.0.get(key).map(|(key, _)| key.start)
    }

    /// The innermost key whose name or value holds the offset.
    pub(crate) fn key_at(&self, at: usize) -> Option<&str> {
        self.0
            .iter()
            .flat_map(|(path, (key, value))| [(path, key), (path, value)])
            .filter(|(_, range)| range.contains(&at))
            .min_by_key(|(path, range)| (range.len(), usize::MAX - path.len()))
            .map(|(path, _)| path.as_str())
    }

    pub(crate) fn places(&self, source: &Source) -> BTreeMap<String, String> {
        let place = |(path, (key, _)): (&String, &(Range<usize>, _))| {
            (path.clone(), source.place(key.start, path))
        };
        self.0.iter().map(place).collect()
    }
}

/// The place of `key`, or else of the nearest section around it, or else the file.
pub(crate) fn place(places: &BTreeMap<String, String>, file: &Path, key: &str) -> String {
    let mut outer = key;
    loop {
        if let Some(place) = places.get(outer) {
            return place.clone();
        }
        match outer.rfind('.') {
            Some(dot) => outer = &outer[..dot],
            None => return format!("{}: {key}", file.display()),
        }
    }
}
