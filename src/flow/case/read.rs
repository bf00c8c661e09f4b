//! From TOML text and overrides to a [`Case`]; errors say where.

use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::{Case, MeshSource};
use crate::Result;
use crate::board;
use crate::cluster::pack::hash;
use crate::input::{self, Index, Override, Source};

/// Keys of which only one can be given: an override with one drops the file's other.
const ALTERNATIVES: [(&str, &str); 2] =
    [("time.dt", "time.max_courant"), ("mesh.file", "mesh.box")];

impl Case {
    /// Reads the case file at `path` and applies `overrides` in their order.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) for a file that cannot be read, is no TOML, or holds
    /// anything that the keys' documentation does not allow; it names file, line and key, or the
    /// flag.
    pub fn read(path: &Path, overrides: &[Override]) -> Result<Self> {
        let example = "cases/cavity.toml; a case names its mesh in mesh.file";
        let text = input::text(path, "case", example)?;
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
        let mut case = Self::deserialize(input::Value::root(root))
            .map_err(|e| input::error(&e, &source, &index))?;

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
        if board::is_file(&case.node.board) && from_file("node.board") {
            let path = folder.join(&case.node.board);
            case.node.board = path.to_string_lossy().into_owned();
        }
        let sets = overrides.iter().map(|o| o.line()).collect::<Vec<_>>();
        case.hash = hash([text, &sets.join("\n")].join("\n").as_bytes());
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
