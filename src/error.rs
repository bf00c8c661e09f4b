//! The one error type: every text names what is wrong, where, and the remedy.

use std::path::{Path, PathBuf};

/// Result with couloir's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong. The library returns it; `main` prints it and exits with
/// [`Error::exit_code`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's input is wrong: a file, a line of it, a key, or a flag.
    #[error("{place}: {what}; {remedy}")]
    Input {
        /// File, `file:line`, `file: key`, or `--flag`.
        place: String,
        /// What is wrong.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}; {remedy}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// What to do about it.
        remedy: String,
    },
    /// An OpenCL call failed while a device was in use.
    #[error("device {device}: {what}; {remedy}")]
    Device {
        /// Name of the device.
        device: String,
        /// The call and its code, or the build log.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// The flow solution is no longer finite, or its energy grows without bound.
    #[error(
        "the solution diverged at step {step} (t = {time_s:.6e} s, largest Courant number {courant_max:.3e}); \
         the last good field is in {}; use a smaller time.dt or time.max_courant, or a finer mesh",
        last_good.display()
    )]
    Diverged {
        /// Number of the first bad step, counted from 1.
        step: usize,
        /// Time at the start of that step, in seconds.
        time_s: f64,
        /// Largest Courant number of that step.
        courant_max: f64,
        /// File (or folder) that holds the last good field.
        last_good: PathBuf,
    },
    /// Anything else that stops a run.
    #[error("{what}; {remedy}")]
    Failure {
        /// What is wrong.
        what: String,
        /// What to do about it.
        remedy: String,
    },
}

impl Error {
    /// An [`Error::Input`].
    pub fn input(
        place: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Input {
            place: place.into(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// An [`Error::Io`].
    pub fn io(path: impl AsRef<Path>, source: std::io::Error, remedy: impl Into<String>) -> Self {
        Self::Io {
            path: path.as_ref().to_path_buf(),
            source,
            remedy: remedy.into(),
        }
    }

    /// An [`Error::Failure`].
    pub fn failure(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Failure {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// 2 for bad input, 1 for a failure.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Input { .. } => 2,
            _ => 1,
        }
    }
}
