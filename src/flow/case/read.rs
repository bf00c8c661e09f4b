//! From TOML text and overrides to a [`Case`]; errors say where.

use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::source::{Index, Source};
use super::{Case, MeshSource, explain};
use crate::{Error, Result};

/// A case file is shorter than this; a mesh given in its place is not read through.
const LONGEST_BYTES: u64 = 1 << 20;

/// Keys of which only one can be given: an override with one drops the file's other.
const ALTERNATIVES: [(&str, &str); 2] =
    [("time.dt", "time.max_courant"), ("mesh.file", "mesh.box")];

/// A key that the command line sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) origin: String,
}

impl Override {
    /// `key = value`, the value as TOML; a bare word is a string. `origin` is the flag, as
    /// messages show it.
    pub fn new(key: &str, value: &str, origin: &str) -> Self {
        Self {
            key: key.trim().to_owned(),
            value: value.trim().to_owned(),
            origin: origin.to_owned(),
        }
    }

    /// `key = "value"`, for values that are text whatever they look like.
    pub fn text(key: &str, value: &str, origin: &str) -> Self {
        let quoted = toml::Value::String(value.to_owned()).to_string();
        Self::new(key, &quoted, origin)
    }
}

impl Case {
    /// Reads the case file at `path` and applies `overrides` in their order.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that cannot be read, is no TOML, or holds anything that the
    /// keys' documentation does not allow; it names file, line and key, or the flag.
    pub fn read(path: &Path, overrides: &[Override]) -> Result<Self> {
        let place = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            let remedy = "give the path of a readable case file, such as cases/cavity.toml";
            Error::input(&place, format!("the case cannot be read ({error})"), remedy)
        };
        let not_a_case = |what: &str| {
            let remedy = "give a case in TOML; a case names its mesh in mesh.file";
            Error::input(&place, what, remedy)
        };
        let about = std::fs::metadata(path).map_err(unreadable)?;
        if about.is_dir() {
            return Err(not_a_case("this is a folder, not a case file"));
        }
        if about.len() > LONGEST_BYTES {
            return Err(not_a_case("the file is too large for a case"));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let text =
            String::from_utf8(bytes).map_err(|_| not_a_case("the file is not UTF-8 text"))?;
        Self::parse(&text, path, overrides)
    }

    /// [`Case::read`] of a text; `path` serves messages, the name, and relative paths.
    pub fn parse(text: &str, path: &Path, overrides: &[Override]) -> Result<Self> {
        let source = Source::new(text, path, overrides);
        let mut root =
            DeTable::parse(text).map_err(|e| source.syntax(&e, "correct the TOML there"))?;
        for line in &source.lines {
            let table = source.parse_line(line)?;
            for (a, b) in ALTERNATIVES {
                for (given, other) in [(a, b), (b, a)] {
                    if under(&line.over.key, given) {
                        remove(root.get_mut(), other);
                    }
                }
            }
            merge(root.get_mut(), table);
        }
        let index = Index::new(root.get_ref());
        let mut case = Self::deserialize(toml::de::Deserializer::from(root))
            .map_err(|e| explain::error(&e, &source, &index))?;

        case.name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        case.file = path.to_path_buf();
        let folder = path.parent().unwrap_or(Path::new(""));
        let from_file = |key: &str| index.offset(key).is_some_and(|at| !source.is_override(at));
        if let MeshSource::File(mesh) = &mut case.mesh
            && from_file("mesh.file")
        {
            *mesh = folder.join(&*mesh);
        }
        if case.output.directory == Path::new("") {
            case.output.directory = Path::new("out").join(&case.name);
        } else if from_file("output.directory") {
            case.output.directory = folder.join(&case.output.directory);
        }
        case.places = index.places(&source);
        case.check()?;
        Ok(case)
    }
}

/// Whether `key` is `section` or lies in it.
fn under(key: &str, section: &str) -> bool {
    key.strip_prefix(section)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Adds `over` to `base`: tables are joined, all else is replaced, key and all.
fn merge<'i>(base: &mut DeTable<'i>, over: DeTable<'i>) {
    for (key, mut value) in over {
        let name: &str = key.get_ref();
        if let (Some(DeValue::Table(old)), DeValue::Table(new)) =
            (base.get_mut(name).map(|old| old.get_mut()), value.get_mut())
        {
            merge(old, std::mem::take(new));
            continue;
        }
        base.remove(name);
        base.insert(key, value);
    }
}

/// Drops the dotted `key`.
fn remove(table: &mut DeTable, key: &str) {
    match key.split_once('.') {
        None => drop(table.remove(key)),
        Some((section, rest)) => {
            if let Some(DeValue::Table(inner)) = table.get_mut(section).map(|v| v.get_mut()) {
                remove(inner, rest);
            }
        }
    }
}
