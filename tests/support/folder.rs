//! The built program in a folder of its own.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A folder that goes away with its owner.
pub struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the program said.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("couloir-run-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("couloir")).expect("a folder");
        // Splits are found anew, but kernels need not be compiled for each folder.
        if let Some(shared) = couloir::node::program::cache_dir() {
            let drivers = shared.parent().expect("not the root");
            for (own, of) in [
                ("couloir/kernels", shared.join("kernels")),
                ("pocl", drivers.join("pocl")),
                ("mesa_shader_cache", drivers.join("mesa_shader_cache")),
            ] {
                std::fs::create_dir_all(&of).expect("the user's cache");
                std::os::unix::fs::symlink(of, folder.join(own)).expect("a link");
            }
        }
        Self(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn text(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).expect("valid JSON")
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("a file");
        self.path(name).to_str().expect("a UTF-8 path").to_owned()
    }

    /// Names in the sub-folder `name`, sorted; none if there is no such folder.
    pub fn list(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(name)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|e| Some(e.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    /// `couloir run ARGS` with its results in `out` and its cache in this folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_couloir"));
        command
            .arg("run")
            .args(args)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("XDG_CACHE_HOME", &self.0)
            .stdin(Stdio::null());
        if !args.contains(&"--out") {
            command.arg("--out").arg(self.path("out"));
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        said(&mut self.command(args))
    }

    /// A run that succeeds; its report.
    pub fn report(&self, args: &[&str]) -> Value {
        let file = self.path("report.json");
        let said = said(self.command(args).arg("--json").arg(&file));
        assert_eq!(said.code, Some(0), "{args:?}: {}", said.err);
        self.json("report.json")
    }

    /// A run that ends with `code` and one line on standard error, without panic.
    pub fn refused(&self, args: &[&str], code: i32) -> String {
        refused(self.run(args), code)
    }
}

pub fn said(command: &mut Command) -> Said {
    let output = command.output().expect("the binary starts");
    Said {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

pub fn refused(said: Said, code: i32) -> String {
    assert_eq!(said.code, Some(code), "{}", said.err);
    assert!(said.err.starts_with("error: "), "{}", said.err);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    said.err
}

/// Whether `path` is a regular file that is not empty.
pub fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.len() > 0)
}
