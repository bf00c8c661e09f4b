//! The file of cached splits: what goes in comes out, and nothing in it can stop a run.

use std::path::PathBuf;
use std::sync::Mutex;

use couloir::split::cache::{Cache, Entry, Key};

/// An empty folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("couloir-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("new").join("splits.json")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn entry(label: &str, rows: usize, ratio: f64) -> Entry {
    Entry {
        key: Key {
            board: "board".into(),
            device: "device 1.2".into(),
            kernel: "spmv".into(),
            label: label.into(),
            rows,
            precision: "fp64".into(),
            threads: 2,
            objective: "time".into(),
        },
        ratio,
        seconds_s: 1.5e-3,
    }
}

/// Warnings, which are global to the process.
struct Warnings(Mutex<Vec<String>>);

impl log::Log for Warnings {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }
    fn log(&self, record: &log::Record) {
        if record.level() == log::Level::Warn {
            self.0.lock().unwrap().push(record.args().to_string());
        }
    }
    fn flush(&self) {}
}

static WARNINGS: Warnings = Warnings(Mutex::new(Vec::new()));

#[test]
fn what_is_saved_is_found_by_exactly_its_key() {
    let folder = Folder::new("cache-found");
    let mut cache = Cache::load(Some(folder.file()));
    cache.put(entry("p", 100, 0.2));
    cache.put(entry("p", 100, 0.3));
    cache.put(entry("p", 101, 0.4));
    cache.put(entry("bad", 1, 1.5));
    cache.save().unwrap();

    // Another run that started before that and ends after it.
    let mut other = Cache::load(None);
    assert!(other.get(&entry("p", 100, 0.0).key).is_none());
    other.save().unwrap();
    other = Cache::load(Some(folder.file()));
    other.put(entry("q", 100, 0.9));
    cache.put(entry("r", 100, 0.8));
    other.save().unwrap();
    cache.save().unwrap();

    let read = Cache::load(Some(folder.file()));
    let ratio = |label, rows| read.get(&entry(label, rows, 0.0).key).map(|e| e.ratio);
    assert_eq!(ratio("p", 100), Some(0.3));
    assert_eq!(ratio("p", 101), Some(0.4));
    assert_eq!(ratio("q", 100), Some(0.9));
    assert_eq!(ratio("r", 100), Some(0.8));
    assert_eq!(ratio("p", 102), None);
    assert_eq!(ratio("bad", 1), None);
    let names = std::fs::read_dir(folder.file().parent().unwrap()).unwrap();
    assert_eq!(names.count(), 1, "a temporary file was left");
}

#[test]
fn a_file_that_cannot_be_used_is_named_ignored_and_replaced() {
    let _ = log::set_logger(&WARNINGS);
    log::set_max_level(log::LevelFilter::Warn);
    let folder = Folder::new("cache-corrupt");
    let file = folder.0.join("splits.json");
    let bad: [(&[u8], &str); 5] = [
        (b"{\"version\": 1, \"spl", "EOF"),
        (b"\xff\xfe\0", "UTF-8"),
        (b"{\"version\": 2, \"splits\": []}", "version is not 1"),
        (b"{\"version\": 1}", "splits"),
        (
            br#"{"version":1,"splits":[{"key":{"board":"b","device":"d","kernel":"k","label":"l",
            "rows":1,"precision":"fp64","threads":1},"ratio":7.0,"seconds_s":1.0}]}"#,
            "ratio",
        ),
    ];
    for (text, why) in bad {
        std::fs::write(&file, text).unwrap();
        WARNINGS.0.lock().unwrap().clear();
        let mut cache = Cache::load(Some(file.clone()));
        let said = WARNINGS.0.lock().unwrap().concat();
        assert!(said.contains("splits.json") && said.contains(why), "{said}");
        assert!(said.contains("ignored"), "{said}");
        cache.put(entry("p", 1, 0.5));
        cache.save().unwrap();
        assert!(
            Cache::load(Some(file.clone()))
                .get(&entry("p", 1, 0.0).key)
                .is_some()
        );
    }
}

#[test]
fn a_place_that_cannot_be_written_is_named_with_the_remedy() {
    let folder = Folder::new("cache-place");
    let blocker = folder.0.join("blocker");
    std::fs::write(&blocker, "a file, not a folder").unwrap();
    let cache = Cache::load(Some(blocker.join("splits.json")));
    let said = cache.save().unwrap_err().to_string();
    assert!(
        said.contains("blocker") && said.contains("XDG_CACHE_HOME"),
        "{said}"
    );
}
