//! Files that people write: TOML whose errors name file, line and key.

pub mod cluster;
mod explain;
mod names;
mod source;
mod value;

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::de::DeTable;

use crate::{Error, Result};

pub(crate) use explain::error;
pub use names::nearest;
pub(crate) use source::{Index, Source, place};
pub(crate) use value::Value;

/// Files that people write are shorter than this; another file given in their place is not read
/// through.
const LONGEST_BYTES: u64 = 1 << 20;

/// A number in few characters, however large or small.
pub(crate) fn shown(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// A key that the command line sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) origin: String,
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

    /// Whether it sets `key`.
    pub fn sets(&self, key: &str) -> bool {
        self.key == key
    }

    /// `key = value`, as it was given.
    pub fn line(&self) -> String {
        format!("{} = {}", self.key, self.value)
    }

    /// `key = "value"`, for values that are text whatever they look like.
    pub fn text(key: &str, value: &str, origin: &str) -> Self {
        let quoted = toml::Value::String(value.to_owned()).to_string();
        Self::new(key, &quoted, origin)
    }
}

/// The text of the file at `path`, which is to be a `kind` of file (such as "case"); `example`
/// completes the remedy.
///
/// # Errors
/// [`Error::Input`] for a file that cannot be read, is too large or is not UTF-8.
pub fn text(path: &Path, kind: &str, example: &str) -> Result<String> {
    let place = path.display().to_string();
    let unreadable = |error: std::io::Error| {
        let remedy = format!("give the path of a readable {kind} file, such as {example}");
        Error::input(
            &place,
            format!("the {kind} cannot be read ({error})"),
            remedy,
        )
    };
    let unfit = |what: String| {
        Error::input(
            &place,
            what,
            format!("give a {kind} file in TOML, such as {example}"),
        )
    };
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if about.is_dir() {
        return Err(unfit(format!("this is a folder, not a {kind} file")));
    }
    if about.len() > LONGEST_BYTES {
        return Err(unfit(format!("the file is too large for a {kind}")));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| unfit("the file is not UTF-8 text".to_owned()))
}

/// What a TOML text says, and where each of its keys stands, for later checks.
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    file: String,
    places: BTreeMap<String, String>,
}

impl<T> Decoded<T> {
    /// An error at `key`: `FILE:LINE: KEY`, or the section around a key that is not given.
    pub fn wrong(&self, key: &str, what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(
            place(&self.places, Path::new(&self.file), key),
            what,
            remedy,
        )
    }
}

/// Decodes `text`; `path` serves messages.
///
/// # Errors
/// [`Error::Input`] with file, line and key for what is no TOML or does not fit `T`.
pub fn decode<T: DeserializeOwned>(text: &str, path: &Path) -> Result<Decoded<T>> {
    let source = Source::new(text, path, &[]);
    let root = DeTable::parse(text).map_err(|e| source.syntax(&e, "correct the TOML there"))?;
    let index = Index::new(root.get_ref());
    let value = T::deserialize(Value::root(root)).map_err(|e| error(&e, &source, &index))?;
    Ok(Decoded {
        value,
        file: path.display().to_string(),
        places: index.places(&source),
    })
}
