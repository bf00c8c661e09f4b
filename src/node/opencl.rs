//! Which OpenCL devices there are. The loader is opened at run time; its absence is a fact to
//! report, not an error.

use std::sync::Mutex;

use opencl3::device::{
    CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_LOCAL, Device as Cl,
};
use opencl3::platform::{Platform, get_platforms};
use opencl3::types::{cl_device_id, cl_device_svm_capabilities};

use super::{BLOCK, MemoryKind, Turn};
use crate::{Error, Result};

/// Facts about one device, as the driver states them.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Number in the list.
    pub index: usize,
    /// OpenCL's handle.
    pub id: usize,
    /// Name of the platform.
    pub platform: String,
    /// Name of the device.
    pub name: String,
    /// "OpenCL x.y ...".
    pub version: String,
    /// Version of the driver.
    pub driver: String,
    /// "gpu", "cpu" or "accelerator".
    pub kind: &'static str,
    /// Runs on the host's own cores.
    pub software: bool,
    /// Has double precision.
    pub fp64: bool,
    /// Divides single precision with correct rounding, if asked to.
    pub exact_division: bool,
    /// Shares its memory with the host.
    pub unified: bool,
    /// Has fine-grain buffer SVM.
    pub svm: bool,
    /// Compute units.
    pub units: u32,
    /// Largest work-group.
    pub max_group: usize,
    /// Has local memory of its own, not a part of ordinary memory.
    pub local_memory: bool,
    /// Its second cache can be told what to keep: see `cl/loads.cl`.
    pub keeps: bool,
    /// Global memory in bytes.
    pub memory_bytes: u64,
    /// Required alignment of a sub-buffer, in bytes.
    pub align_bytes: usize,
}

impl DeviceInfo {
    /// Whether it is PoCL, by what that calls itself.
    pub fn is_pocl(&self) -> bool {
        self.platform == "Portable Computing Language"
    }

    /// Host cores that the device occupies, of `cores`: half of them for a software device.
    pub fn host_cores(&self, cores: usize) -> usize {
        if self.software { cores / 2 } else { 0 }
    }

    /// Whether buffers can be held this way: nothing is called zero-copy that copies.
    pub fn offers(&self, memory: MemoryKind) -> bool {
        match memory {
            MemoryKind::Svm => self.svm,
            // Cuts are whole blocks of at least 4 bytes a row, and sub-buffers start at them.
            MemoryKind::ZeroCopy => {
                self.unified && (4 * BLOCK).is_multiple_of(self.align_bytes.max(1))
            }
            MemoryKind::Discrete => true,
            MemoryKind::Host => false,
        }
    }

    /// The kind of memory to hold buffers in when the user asks for none.
    pub fn best_memory(&self) -> MemoryKind {
        let shared = [MemoryKind::Svm, MemoryKind::ZeroCopy];
        let offered = shared.into_iter().find(|&m| self.unified && self.offers(m));
        offered.unwrap_or(MemoryKind::Discrete)
    }
}

/// Sets PoCL up to occupy half of the cores, unless the user has done so. PoCL reads these
/// variables once, when it is first loaded.
pub fn reserve_software_cores(cores: usize) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // One core: the basic driver works inside the thread that waits for it, so that thread
        // can be pinned and its hand-over can spin. More cores need the threaded driver.
        let (driver, threads) = if cores <= 3 {
            ("basic", 1)
        } else {
            ("pthread", cores / 2)
        };
        for (key, value) in [
            ("POCL_DEVICES", driver.to_string()),
            ("POCL_MAX_PTHREAD_COUNT", threads.to_string()),
        ] {
            if std::env::var_os(key).is_none() {
                // SAFETY: glibc's and Rust's own readers of the environment are locked against
                // each other by std; no C library that reads it has been loaded yet.
                unsafe { std::env::set_var(key, value) };
            }
        }
    });
}

/// Names of the platforms, in the loader's order, or a sentence that says why there is none.
///
/// # Errors
/// The sentence.
pub fn platforms() -> std::result::Result<Vec<String>, String> {
    let all = opened()?;
    Ok(all.iter().map(|p| p.name().unwrap_or_default()).collect())
}

fn opened() -> std::result::Result<Vec<Platform>, String> {
    reserve_software_cores(super::topology::allowed_cores().len());
    get_platforms().map_err(|e| match e.0 {
        -2000 => "no OpenCL loader: install libOpenCL.so.1 (Debian: ocl-icd-libopencl1)".to_string(),
        -1001 => "an OpenCL loader but no driver: install one (Debian: pocl-opencl-icd) and look into /etc/OpenCL/vendors".to_string(),
        code => format!("OpenCL lists no platforms: {e} ({code}); look into /etc/OpenCL/vendors"),
    })
}

/// Every device of every platform, or a sentence that says why there is none.
///
/// # Errors
/// The sentence.
pub fn devices() -> std::result::Result<Vec<DeviceInfo>, String> {
    // PoCL 5 prepares its devices when they are first listed, and a second thread that lists them
    // meanwhile is a fault in libpocl: of 12 processes of tests on Ubuntu 24.04, 6 ended so.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock();
    let platforms = opened()?;
    let mut found = Vec::new();
    for p in &platforms {
        let platform = p.name().unwrap_or_default();
        // A platform without devices answers with an error: rusticl and Clover often do.
        for id in p.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            found.push(describe(found.len(), id, &platform));
        }
    }
    if found.is_empty() {
        return Err(format!(
            "{} OpenCL platform(s) but no device; check the driver's own requirements",
            platforms.len()
        ));
    }
    Ok(found)
}

fn describe(index: usize, id: cl_device_id, platform: &str) -> DeviceInfo {
    const FINE_GRAIN_BUFFER: cl_device_svm_capabilities = 1 << 1;
    const EXACT_DIVISION: u64 = 1 << 7;
    let d = Cl::new(id);
    let kind = d.dev_type().unwrap_or(0);
    let unified = {
        #[allow(deprecated)]
        d.host_unified_memory().unwrap_or(false)
    };
    let is_cpu = kind & CL_DEVICE_TYPE_CPU != 0;
    let name = d.name().unwrap_or_default().trim().to_string();
    let driver = d.driver_version().unwrap_or_default().trim().to_string();
    DeviceInfo {
        index,
        id: id as usize,
        platform: platform.to_string(),
        version: d.version().unwrap_or_default().trim().to_string(),
        keeps: keeps(d.compute_capability_major_nv().unwrap_or(0), &driver),
        driver,
        kind: match kind {
            k if k & CL_DEVICE_TYPE_GPU != 0 => "gpu",
            _ if is_cpu => "cpu",
            _ => "accelerator",
        },
        // Mesa's software rasteriser calls itself a CPU or a GPU, by version.
        software: is_cpu || name.contains("llvmpipe"),
        name,
        fp64: d.double_fp_config().unwrap_or(0) != 0,
        exact_division: d.single_fp_config().unwrap_or(0) & EXACT_DIVISION != 0,
        unified: unified || is_cpu,
        svm: d.svm_mem_capability() & FINE_GRAIN_BUFFER != 0,
        units: d.max_compute_units().unwrap_or(0),
        max_group: d.max_work_group_size().unwrap_or(1),
        local_memory: d.local_mem_type().unwrap_or(0) == CL_LOCAL,
        memory_bytes: d.global_mem_size().unwrap_or(0),
        align_bytes: d.mem_base_addr_align().unwrap_or(1024) as usize / 8,
    }
}

/// Whether an NVIDIA device of that compute capability, by that driver, has cache hints for its second
/// cache: from 8.0 on, and drivers that know PTX 7.4.
fn keeps(capability: u32, driver: &str) -> bool {
    const FIRST_DRIVER: u32 = 470;
    let major = driver.split('.').next().unwrap_or_default();
    capability >= 8 && major.parse().is_ok_and(|v: u32| v >= FIRST_DRIVER)
}

/// The device to take when none is named: real ones before software ones, then those with double
/// precision; more compute units break a tie. Where `double`, only those with it. Processes that
/// share a machine take devices of the best kind in turn; one whose only core a software device
/// would occupy takes none, and neither do more processes than there are cards. What keeps a device
/// from being used goes to `notes`.
pub fn best(double: bool, notes: &mut Vec<String>, turn: Turn, cores: usize) -> Option<DeviceInfo> {
    let all = match devices() {
        Ok(all) => all,
        Err(why) => {
            notes.push(format!("{why}; running on the CPU alone"));
            return None;
        }
    };
    let (usable, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|d| d.fp64 || !double);
    for d in &others {
        notes.push(format!(
            "device {} ({}) has no double precision and is left out; precision mixed uses it",
            d.index, d.name
        ));
    }
    deal(&usable, notes, turn, cores)
}

/// The best of the `usable` devices, where there is one for this process. Processes wait for each
/// other at a card: a call of 17 us took 260 us on each of two that shared an H200 and 539 on each of
/// four; a step on 512K cells 7 ms on one, 72 on two and 127 on four, against 38 and 42 without it.
fn deal(
    usable: &[DeviceInfo],
    notes: &mut Vec<String>,
    turn: Turn,
    cores: usize,
) -> Option<DeviceInfo> {
    let best = usable
        .iter()
        .max_by_key(|d| (!d.software, d.fp64, d.units, std::cmp::Reverse(d.index)));
    let Some(best) = best else {
        notes.push("no OpenCL device with double precision; running on the CPU alone".into());
        return None;
    };
    if turn.of > 1 && best.software && cores < 2 {
        notes.push(format!(
            "{} would take this process's only core; running on the CPU alone",
            best.name
        ));
        return None;
    }
    let like: Vec<_> = usable.iter().filter(|d| d.name == best.name).collect();
    if turn.of > like.len() && !best.software && !best.unified {
        notes.push(format!(
            "{} processes would share {} x {}, and wait for each other there; running on the CPU \
             alone: start one process per card, or name one with --device",
            turn.of,
            like.len(),
            best.name
        ));
        return None;
    }
    like.get(turn.index % like.len()).map(|d| (*d).clone())
}

/// Device number `index`.
///
/// # Errors
/// [`Error::Input`] when there is no such device.
pub fn by_index(index: usize) -> Result<DeviceInfo> {
    let all = devices().map_err(|why| {
        Error::input(
            format!("--device {index}"),
            why,
            "or run with --device none",
        )
    })?;
    let n = all.len();
    all.into_iter().nth(index).ok_or_else(|| {
        Error::input(
            format!("--device {index}"),
            format!("there are {n} device(s), numbered from 0"),
            "see `couloir devices`",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: usize, software: bool, unified: bool) -> DeviceInfo {
        DeviceInfo {
            index,
            id: 0,
            platform: "P".into(),
            name: "D".into(),
            version: String::new(),
            driver: String::new(),
            kind: "gpu",
            software,
            fp64: true,
            exact_division: false,
            unified,
            svm: false,
            units: 4,
            max_group: 256,
            local_memory: true,
            keeps: false,
            memory_bytes: 1 << 30,
            align_bytes: 128,
        }
    }

    #[test]
    fn cache_hints_are_for_cards_and_drivers_that_know_them() {
        assert!(keeps(9, "580.95.05") && keeps(8, "470.57.02"));
        assert!(!keeps(7, "580.95.05"), "Turing");
        assert!(!keeps(8, "460.32.03"), "PTX 7.2");
        assert!(!keeps(0, "3.1"), "PoCL");
        assert!(!keeps(9, ""));
    }

    #[test]
    fn cards_are_not_shared_unless_asked_for() {
        let dealt = |devices: &[DeviceInfo], index, of| {
            let mut notes = Vec::new();
            let found = deal(devices, &mut notes, Turn { index, of }, 4);
            (found.map(|d| d.index), notes.concat())
        };
        let card = |i| device(i, false, false);
        assert_eq!(dealt(&[card(0)], 0, 1).0, Some(0));
        let two = [card(0), card(1)];
        assert_eq!(dealt(&two, 1, 2).0, Some(1));
        let (none, note) = dealt(&two, 2, 3);
        assert!(
            none.is_none() && note.contains("one process per card"),
            "{note}"
        );
        // What shares the host's memory, or its cores.
        assert_eq!(dealt(&[device(0, false, true)], 1, 2).0, Some(0));
        assert_eq!(dealt(&[device(0, true, true)], 1, 2).0, Some(0));
    }
}
