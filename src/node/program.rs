//! Device programs: compiled at start-up from embedded source, cached as binaries.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::fcntl::{Flock, FlockArg};
use opencl3::kernel::Kernel;
use opencl3::program::Program as Cl;
use opencl3::types::cl_device_id;

use super::device::Device;
use crate::{Error, Result};

/// A compiled program.
pub struct Program {
    program: Cl,
    device: String,
}

impl Program {
    /// Compiles `source` with `options`, or takes the binary that an earlier run left in `cache`
    /// for the same source, options, device and driver. PoCL has a cache of its own.
    ///
    /// # Errors
    /// [`Error::Device`] with the build log.
    pub fn build(
        device: &Device,
        source: &str,
        options: &str,
        cache: Option<&Path>,
    ) -> Result<Self> {
        // It compiles a kernel when it is launched, for that size of group, and all of them once more, for
        // any size, when their binaries are asked for.
        let cache = cache.filter(|_| !device.info.is_pocl());
        Self::build_in(device, source, options, cache)
    }

    /// As [`Program::build`], on any device.
    fn build_in(
        device: &Device,
        source: &str,
        options: &str,
        cache: Option<&Path>,
    ) -> Result<Self> {
        let info = &device.info;
        let key = format!(
            "{}|{}|{}|{}|{options}|{source}",
            info.platform, info.name, info.version, info.driver
        );
        let file = cache.map(|dir| dir.join(format!("{:016x}.clbin", hash(key.as_bytes()))));
        let _turn = file.as_deref().and_then(turn);
        let ids = [info.id as cl_device_id];
        if let Some(binary) = file.as_deref().and_then(load) {
            match Cl::create_and_build_from_binary(&device.link.context, &[&binary], options) {
                Ok(program) => {
                    return Ok(Self {
                        program,
                        device: info.name.clone(),
                    });
                }
                Err(e) => log::info!(
                    "cached kernels of {} do not load ({e}); compiling",
                    info.name
                ),
            }
        }
        let fail = |what: String| Error::Device {
            device: info.name.clone(),
            what,
            remedy: "run with --device none, or update the driver".into(),
        };
        let mut program = Cl::create_from_source(&device.link.context, source)
            .map_err(|e| fail(format!("clCreateProgramWithSource failed: {e}")))?;
        if let Err(e) = program.build(&ids, options) {
            let log = program.get_build_log(ids[0]).unwrap_or_default();
            return Err(fail(format!(
                "the kernels do not compile ({e}) with {options}\n{}\n",
                log.trim()
            )));
        }
        if let Some(file) = file {
            let binary = program.get_binaries().ok().and_then(|mut b| b.pop());
            if let Err(e) = store(&file, &binary.unwrap_or_default()) {
                log::info!("compiled kernels are not cached in {}: {e}", file.display());
            }
        }
        Ok(Self {
            program,
            device: info.name.clone(),
        })
    }

    /// The function `name`; each call gives an object with arguments of its own.
    ///
    /// # Errors
    /// [`Error::Device`] when there is no such function.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        Kernel::create(&self.program, name).map_err(|e| Error::Device {
            device: self.device.clone(),
            what: format!("no kernel {name}: {e}"),
            remedy: "report this as a defect".into(),
        })
    }
}

/// `$XDG_CACHE_HOME/couloir` or `~/.cache/couloir`, where there is either.
pub fn cache_dir() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty());
    let folder = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))?;
    Some(folder.join("couloir"))
}

fn hash(bytes: &[u8]) -> u64 {
    let mut h = DefaultHasher::new();
    bytes.hash(&mut h);
    h.finish()
}

/// The binary in `file`, if it is as it was stored: there are drivers that end the process at
/// anything else.
fn load(file: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(file).ok()?;
    let (sum, binary) = bytes.split_first_chunk()?;
    (u64::from_le_bytes(*sum) == hash(binary)).then(|| binary.to_vec())
}

/// The right to compile what belongs in `file`; none if it is there already, or cannot be had.
/// Several processes of one node start at once: the first compiles, the others wait for it.
fn turn(file: &Path) -> Option<Turn> {
    if file.exists() {
        return None;
    }
    std::fs::create_dir_all(file.parent()?).ok()?;
    let lock = file.with_extension("lock");
    let open = File::options().append(true).create(true).open(&lock).ok()?;
    let held = Flock::lock(open, FlockArg::LockExclusive).ok()?;
    Some(Turn { held, lock })
}

/// Given back when it goes; the file goes with it, since who waits for it holds it open.
struct Turn {
    #[allow(dead_code)]
    held: Flock<File>,
    lock: PathBuf,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.lock);
    }
}

fn store(file: &Path, binary: &[u8]) -> std::io::Result<()> {
    if binary.is_empty() {
        return Ok(());
    }
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir)?;
    }
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let part = file.with_extension(format!("{}-{number}.part", std::process::id()));
    let bytes = [&hash(binary).to_le_bytes(), binary].concat();
    let stored = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, file));
    if stored.is_err() {
        let _ = std::fs::remove_file(part);
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::opencl;

    const A: &str = "__kernel void a(__global int *x) { x[0] = 1; }";
    const B: &str = "__kernel void b(__global int *x) { x[0] = NUMBER; }";
    const OPTIONS: &str = "-D NUMBER=2";

    /// A folder that goes away with its owner.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("couloir-program-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        fn files(&self) -> Vec<PathBuf> {
            let entries = std::fs::read_dir(&self.0).into_iter().flatten();
            let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
            files.sort_unstable();
            files
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn on_each_device(test: impl Fn(&Device)) {
        match opencl::devices() {
            Err(why) => eprintln!("SKIPPED: {why}"),
            Ok(all) => all
                .into_iter()
                .for_each(|info| test(&Device::open(info, None, &[]).unwrap())),
        }
    }

    #[test]
    fn what_does_not_compile_is_an_error_with_the_build_log() {
        on_each_device(|device| {
            let wrong = "__kernel void k(__global int *x) { x[0] = no_such_name; }";
            let Err(error) = Program::build(device, wrong, "-D X=1", None) else {
                panic!("compiled");
            };
            assert_eq!(error.exit_code(), 1);
            let Error::Device { what, remedy, .. } = &error else {
                panic!("{error}");
            };
            assert!(what.contains("do not compile"), "{what}");
            assert!(what.contains("no_such_name"), "{what}");
            assert!(what.contains("-D X=1"), "{what}");
            assert!(remedy.contains("--device none"), "{remedy}");
        });
    }

    #[test]
    fn the_second_waits_for_the_binary_of_the_first() {
        let folder = Folder::new("turn");
        let file = folder.0.join("a.clbin");
        let first = turn(&file).expect("nobody else wants it");
        let second = std::thread::spawn({
            let file = file.clone();
            move || {
                let _turn = turn(&file);
                load(&file)
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!second.is_finished());
        store(&file, b"binary").unwrap();
        drop(first);
        assert_eq!(second.join().unwrap().as_deref(), Some(&b"binary"[..]));
        assert!(turn(&file).is_none());
        assert_eq!(folder.files(), [file]);
        // Where nothing can be kept nobody waits.
        assert!(turn(Path::new("/proc/none/a.clbin")).is_none());
    }

    #[test]
    fn an_unknown_function_is_an_error() {
        on_each_device(|device| {
            let program = Program::build(device, A, "", None).unwrap();
            assert!(program.kernel("a").is_ok());
            let error = program.kernel("b").map(|_| ()).unwrap_err();
            assert!(error.to_string().contains("no kernel b"), "{error}");
        });
    }

    #[test]
    fn binaries_are_kept_and_used_again() {
        on_each_device(|device| {
            let folder = Folder::new("kept");
            let build = |source, options| {
                Program::build_in(device, source, options, Some(&folder.0)).unwrap()
            };
            build(A, OPTIONS);
            let [a] = &folder.files()[..] else {
                panic!("{:?}", folder.files());
            };
            build(A, OPTIONS);
            assert_eq!(folder.files().len(), 1, "the same program has one binary");
            build(B, OPTIONS);
            assert_eq!(folder.files().len(), 2, "another source, another binary");
            build(A, "-D NUMBER=3");
            assert_eq!(folder.files().len(), 3, "other options, another binary");
            // Under the name of A the binary of B: what is found there was not compiled.
            std::fs::remove_dir_all(&folder.0).unwrap();
            build(B, OPTIONS);
            std::fs::rename(&folder.files()[0], a).unwrap();
            let program = build(A, OPTIONS);
            assert!(program.kernel("b").is_ok() && program.kernel("a").is_err());
        });
    }

    #[test]
    fn a_driver_with_a_cache_of_its_own_is_not_asked_for_binaries() {
        on_each_device(|device| {
            let folder = Folder::new("own");
            let program = Program::build(device, A, OPTIONS, Some(&folder.0)).unwrap();
            assert!(program.kernel("a").is_ok());
            assert_eq!(folder.0.exists(), !device.info.is_pocl());
        });
    }

    #[test]
    fn binaries_that_are_broken_are_compiled_anew() {
        on_each_device(|device| {
            let folder = Folder::new("broken");
            let build = || Program::build_in(device, A, OPTIONS, Some(&folder.0)).unwrap();
            build();
            let file = &folder.files()[0];
            let whole = std::fs::read(file).unwrap();
            let mut flipped = whole.clone();
            flipped[whole.len() / 2] ^= 1;
            for bytes in [&b""[..], b"garbage", &whole[..whole.len() / 2], &flipped] {
                std::fs::write(file, bytes).unwrap();
                assert!(build().kernel("a").is_ok());
                assert!(load(file).is_some(), "the file is mended");
            }
            // The driver, not the sum, has to find this one out; rusticl ends the process at it.
            if device.info.is_pocl() {
                store(file, b"no binary of this driver").unwrap();
                assert!(build().kernel("a").is_ok());
            }
            assert_eq!(folder.files().len(), 1, "{:?}", folder.files());
        });
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_no_error() {
        on_each_device(|device| {
            let file = Folder::new("file");
            std::fs::write(&file.0, "in the way").unwrap();
            for cache in [file.0.join("kernels"), PathBuf::from("/proc/couloir")] {
                let program = Program::build_in(device, A, OPTIONS, Some(&cache)).unwrap();
                assert!(program.kernel("a").is_ok());
            }
            std::fs::remove_file(&file.0).unwrap();
        });
    }
}
