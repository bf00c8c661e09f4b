//! Cuts found by earlier runs: where the next run starts its search.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::node::program::cache_dir;
use crate::{Error, Result};

/// Layout of the file; another version is not read.
const VERSION: u32 = 1;

/// What a cut depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Board or host name.
    pub board: String,
    /// Device name and driver version.
    pub device: String,
    /// Kernel.
    pub kernel: String,
    /// Call site.
    pub label: String,
    /// Rows of the call.
    pub rows: usize,
    /// `fp64`, `mixed` or `fp32`.
    pub precision: String,
    /// CPU threads.
    pub threads: usize,
    /// `time`, `energy` or `edp`.
    #[serde(default = "time")]
    pub objective: String,
}

/// What all entries were found for before there was a choice.
fn time() -> String {
    "time".to_string()
}

/// A cut that was settled on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What it was found for.
    pub key: Key,
    /// Share of the rows on the device.
    pub ratio: f64,
    /// Median cost of a call: seconds, or what the objective counts.
    pub seconds_s: f64,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    splits: Vec<Entry>,
}

/// The cuts in one file.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    path: Option<PathBuf>,
    splits: Vec<Entry>,
}

impl Cache {
    /// `splits.json` of the user: in `$XDG_CACHE_HOME/couloir`, or `~/.cache/couloir`. `None`
    /// without either.
    pub fn default_path() -> Option<PathBuf> {
        Some(cache_dir()?.join("splits.json"))
    }

    /// No cuts yet; [`save`](Self::save) adds to `path`.
    pub fn empty(path: Option<PathBuf>) -> Self {
        Self {
            path,
            splits: Vec::new(),
        }
    }

    /// Reads `path`; `None` keeps the cuts in memory only. A file that is not there is an empty
    /// cache; one that cannot be used is one too, with a warning, and is replaced by
    /// [`save`](Self::save).
    pub fn load(path: Option<PathBuf>) -> Self {
        let splits = match path.as_deref().map(read) {
            None => Vec::new(),
            Some(Ok(splits)) => splits,
            Some(Err(why)) => {
                let place = path.as_deref().unwrap_or(Path::new("")).display();
                log::warn!("{place}: {why}; the cached splits are ignored and found anew");
                Vec::new()
            }
        };
        Self { path, splits }
    }

    /// The entry for exactly this key.
    pub fn get(&self, key: &Key) -> Option<&Entry> {
        self.splits.iter().find(|e| e.key == *key)
    }

    /// Adds an entry, or replaces that of the same key. One whose ratio is not in 0..=1 or
    /// whose time is not a positive number is left out.
    pub fn put(&mut self, entry: Entry) {
        if !sane(&entry) {
            return;
        }
        match self.splits.iter_mut().find(|e| e.key == entry.key) {
            Some(old) => *old = entry,
            None => self.splits.push(entry),
        }
    }

    /// Writes the file: to a temporary name in its folder, then renamed. Entries that another
    /// run has added since the file was read are kept.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be made or the file cannot be written. A run need not
    /// stop for it.
    pub fn save(&self) -> Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut merged = Self {
            path: None,
            splits: read(path).unwrap_or_default(),
        };
        for entry in &self.splits {
            merged.put(entry.clone());
        }
        let file = File {
            version: VERSION,
            splits: merged.splits,
        };
        let text = serde_json::to_string_pretty(&file)
            .map_err(|e| Error::failure(format!("splits not written: {e}"), "report this"))?;
        write(path, &text).map_err(|e| {
            let remedy = "set XDG_CACHE_HOME to a folder that can be written";
            Error::io(path, e, remedy)
        })
    }
}

fn sane(entry: &Entry) -> bool {
    (0.0..=1.0).contains(&entry.ratio) && entry.seconds_s > 0.0 && entry.seconds_s.is_finite()
}

/// The entries of a file, or why it cannot be used.
fn read(path: &Path) -> std::result::Result<Vec<Entry>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e.to_string()),
    };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if version != Some(u64::from(VERSION)) {
        return Err(format!("its version is not {VERSION}"));
    }
    let file: File = serde_json::from_value(value).map_err(|e| e.to_string())?;
    if !file.splits.iter().all(sane) {
        return Err("a ratio is not in 0..=1 or a time is not positive".to_string());
    }
    Ok(file.splits)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    std::fs::write(&temporary, text)
        .and_then(|()| std::fs::rename(&temporary, path))
        .inspect_err(|_| {
            // The write's error is the one to tell; a leftover is harmless.
            let _ = std::fs::remove_file(&temporary);
        })
}
