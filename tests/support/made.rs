//! Made sensor trees for the energy tests.

// Each test file uses its part of this.
#![allow(dead_code)]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use couloir::energy::{self, Context, Nameplate, Recorder, Resolved, Source};

/// Counter of the first package.
pub const PACKAGE: &str = "sys/class/powercap/intel-rapl:0/energy_uj";

/// A folder that goes away with its owner.
pub struct Made(pub PathBuf);

impl Made {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "couloir-energy-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).unwrap();
        Self(root)
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// Writes as the kernel does: readers see the old or the new text.
    pub fn write(&self, file: &str, text: &str) -> &Self {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let new = path.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, path).unwrap();
        self
    }

    pub fn zone(&self, zone: &str, name: &str, uj: &str) -> &Self {
        let folder = format!("sys/class/powercap/{zone}");
        self.write(&format!("{folder}/name"), &format!("{name}\n"))
            .write(&format!("{folder}/max_energy_range_uj"), "262143328850\n")
            .write(&format!("{folder}/energy_uj"), uj)
    }

    pub fn chip(&self, entry: &str, name: &str, files: &[(&str, &str)]) -> &Self {
        let folder = format!("sys/class/hwmon/{entry}");
        self.write(&format!("{folder}/name"), &format!("{name}\n"));
        for (file, text) in files {
            self.write(&format!("{folder}/{file}"), text);
        }
        self
    }

    pub fn context(&self, nameplate: Nameplate) -> Context {
        Context {
            nameplate,
            ..Context::at(&self.0)
        }
    }

    pub fn open(&self) -> (Source, String) {
        self.open_with(Nameplate::default())
    }

    pub fn open_with(&self, nameplate: Nameplate) -> (Source, String) {
        // A long period: samples are those that a test asks for.
        let (source, log) = energy::open_with(&self.context(nameplate), 3600.0).unwrap();
        (source, log.join("\n"))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Joules of the tree's chosen rails while `change` happens within one second.
pub fn joules_during(made: &Made, change: impl FnOnce()) -> Option<f64> {
    let (meters, choice) = energy::find(&made.context(Nameplate::default())).unwrap();
    let mut recorder = Recorder::new(meters, &choice);
    recorder.sample(|| 0.0);
    change();
    recorder.sample(|| 1.0);
    match recorder.resolve(0.0, 1.0) {
        Resolved::Known(joules) => joules,
        Resolved::Pending => None,
    }
}

pub fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}
