//! System files below a root that tests can make.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most files of the system hold one short line; the longest that are read, such as
/// /proc/cpuinfo of a large server, stay below this.
const FILE_BYTES_MAX: u64 = 1 << 20;

type ReadText = dyn Fn(&Path) -> io::Result<String> + Send + Sync;

/// A file system seen from a root, with a replaceable way to read a file.
#[derive(Clone)]
pub struct Tree {
    root: PathBuf,
    read_text: Arc<ReadText>,
}

impl Tree {
    /// The real files below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self::with_reader(root, read_file)
    }

    /// Files below `root`, read by `read_text`: tests use it to inject errors.
    pub fn with_reader(
        root: impl Into<PathBuf>,
        read_text: impl Fn(&Path) -> io::Result<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            root: root.into(),
            read_text: Arc::new(read_text),
        }
    }

    /// Where it begins.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Text of the file at `path`, which is below the root, as the system gives it.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&self, path: &Path) -> io::Result<String> {
        (self.read_text)(path)
    }

    /// Whether this is the machine's own file system.
    pub fn is_machine(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Names in a folder, sorted; none if the folder is not there.
    pub fn list(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(folder)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|e| e.ok()?.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether there is such a file or folder.
    pub fn exists(&self, file: &str) -> bool {
        self.root.join(file).exists()
    }

    /// Last name of what a symbolic link points to, which need not exist.
    pub fn link(&self, file: &str) -> Option<String> {
        let target = fs::read_link(self.root.join(file)).ok()?;
        Some(target.file_name()?.to_str()?.to_owned())
    }

    /// Text of a file, without the white space around it.
    ///
    /// # Errors
    /// What the system says; a file that is not UTF-8 is `InvalidData`.
    pub fn text(&self, file: &str) -> io::Result<String> {
        let text = (self.read_text)(&self.root.join(file))?;
        Ok(text.trim().to_string())
    }

    /// The whole number that a file holds.
    ///
    /// # Errors
    /// What the system says; `InvalidData` for anything but one whole number.
    pub fn integer(&self, file: &str) -> io::Result<i64> {
        let text = self.text(file)?;
        text.parse().map_err(|_| {
            let what = if text.is_empty() {
                "the file is empty".to_string()
            } else {
                let start: String = text.chars().take(40).collect();
                format!("not a whole number: {start:?}")
            };
            io::Error::new(io::ErrorKind::InvalidData, what)
        })
    }

    /// The finite number that a file holds, with or without a decimal point.
    ///
    /// # Errors
    /// As [`integer`](Self::integer).
    pub fn decimal(&self, file: &str) -> io::Result<f64> {
        let text = self.text(file)?;
        let value = text.parse().ok().filter(|x: &f64| x.is_finite());
        value.ok_or_else(|| {
            let start: String = text.chars().take(40).collect();
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("not a number: {start:?}"),
            )
        })
    }

    /// Writes a setting of a sensor.
    ///
    /// # Errors
    /// What the system says.
    pub fn set(&self, file: &str, text: &str) -> io::Result<()> {
        fs::write(self.root.join(file), text)
    }

    /// The program `name`: of the machine on its PATH, of a made tree in its `usr/bin`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = match self.is_machine() {
            true => std::env::var_os("PATH").unwrap_or_default(),
            false => self.root.join("usr/bin").into_os_string(),
        };
        let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
        files.find(|file| file.is_file())
    }

    /// A path as a message shows it.
    pub fn shown(&self, file: &str) -> String {
        self.root.join(file).display().to_string()
    }
}

/// Opens the file anew on every read, so that a sensor that went away is noticed.
fn read_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?
        .take(FILE_BYTES_MAX)
        .read_to_string(&mut text)?;
    Ok(text)
}
