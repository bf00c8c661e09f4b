//! Writing files so that nobody meets half of one.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Makes sure, before a long run, that files can be written to `folder`, which is made if it is
/// missing.
///
/// # Errors
/// As [`write_file`].
pub fn ensure_writable(folder: &Path) -> Result<()> {
    let probe = temporary(&folder.join("probe"));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&probe, "\n"))
        .and_then(|()| std::fs::remove_file(&probe))
        .map_err(|error| {
            // The first error is the one to report; the file may not even be there.
            let _ = std::fs::remove_file(&probe);
            let remedy = remedy(&error);
            Error::io(folder, error, remedy)
        })
}

/// Writes what `fill` writes to the file `path`: to a temporary name in the same folder, which
/// is made if it is missing, then renamed. A `path` that is no regular file, such as
/// `/dev/stdout`, is written to directly.
///
/// # Errors
/// [`Error::Io`] with the remedy for a full disk, a lack of permission, or a name in the way;
/// a file that was there before is unchanged then, and no temporary file is left.
pub fn write_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let failed = |error: io::Error| {
        let remedy = remedy(&error);
        Error::io(path, error, remedy)
    };
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        let file = std::fs::File::options()
            .write(true)
            .open(path)
            .map_err(failed)?;
        return fill_through(file, fill).map_err(failed);
    }
    if path.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let temporary = temporary(path);
    std::fs::File::create(&temporary)
        .and_then(|file| fill_through(file, fill))
        .and_then(|()| std::fs::rename(&temporary, path))
        .map_err(|error| {
            // The first error is the one to report; the file may not even be there.
            let _ = std::fs::remove_file(&temporary);
            failed(error)
        })
}

fn fill_through(
    file: std::fs::File,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    fill(&mut writer)?;
    writer.flush()
}

/// A hidden name beside `path` that no other process uses.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or write elsewhere with --out"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a folder that you may write to with --out"
        }
        io::ErrorKind::NotADirectory
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::IsADirectory => {
            "something of this name is in the way; choose another with --out"
        }
        _ => "check the path, or choose another",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("couloir-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = folder("write");
        let path = folder.join("new/a.txt");
        write_file(&path, |out| out.write_all(b"first")).unwrap();
        let error = write_file(&path, |out| {
            out.write_all(b"second")?;
            Err(io::ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert!(error.to_string().contains("free some space"), "{error}");
        assert_eq!(error.exit_code(), 1);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(names(&folder.join("new")), ["a.txt"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn names_in_the_way_are_reported() {
        let folder = folder("way");
        std::fs::write(folder.join("file"), "x").unwrap();
        for path in [folder.join("file/a.txt"), folder.clone()] {
            let error = write_file(&path, |_| Ok(())).unwrap_err().to_string();
            assert!(error.contains("in the way"), "{error}");
        }
        for blocked in [folder.join("file"), folder.join("file/a")] {
            let error = ensure_writable(&blocked).unwrap_err().to_string();
            assert!(error.contains("in the way"), "{error}");
        }
        ensure_writable(&folder.join("a/b")).unwrap();
        assert!(names(&folder.join("a/b")).is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_full_device_is_reported() {
        let full = Path::new("/dev/full");
        if full.exists() {
            let error = write_file(full, |out| out.write_all(b"x"))
                .unwrap_err()
                .to_string();
            assert!(error.contains("free some space"), "{error}");
        }
    }
}
