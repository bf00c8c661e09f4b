//! Device programs: compiled at start-up from embedded source, cached as binaries.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

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
    /// for the same source, options, device and driver.
    ///
    /// # Errors
    /// [`Error::Device`] with the build log.
    pub fn build(
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
        let file = cache.map(|dir| dir.join(format!("{:016x}.clbin", hash(&key))));
        let ids = [info.id as cl_device_id];
        if let Some(binary) = file.as_deref().and_then(|f| std::fs::read(f).ok()) {
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

fn hash(text: &str) -> u64 {
    let mut h = DefaultHasher::new();
    text.hash(&mut h);
    h.finish()
}

fn store(file: &Path, binary: &[u8]) -> std::io::Result<()> {
    if binary.is_empty() {
        return Ok(());
    }
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let part = file.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&part, binary)?;
    std::fs::rename(part, file)
}
