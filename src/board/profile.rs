//! The schema of a board file.

use std::path::Path;

use serde::Deserialize;

use crate::Result;
use crate::input::{Decoded, decode, shown};

/// `board/NAME.toml`. What is not known is left out, never made up.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// `name`: for logs and reports.
    pub name: String,
    /// `target`: Rust's target triple, for cross-building.
    pub target: String,
    /// `peak_gb_s`: theoretical peak of the memory bandwidth, GB/s.
    pub peak_gb_s: Option<f64>,
    /// `[match]`: how the board is recognised.
    #[serde(rename = "match")]
    pub matches: Match,
    /// `[[cluster]]`: cores of one kind, the fastest first.
    #[serde(default, rename = "cluster")]
    pub clusters: Vec<Cluster>,
    /// `[gpu]`: the device that shares the memory; none if OpenCL does not reach it.
    pub gpu: Option<Gpu>,
    /// `[tuned]`: where searches begin; what is left out is measured.
    #[serde(default)]
    pub tuned: Tuned,
    /// `[power]`.
    #[serde(default)]
    pub power: Power,
    /// `[energy]`: what measures.
    #[serde(default)]
    pub energy: Energy,
}

/// `[match]`: any of these.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Match {
    /// `compatible`: entries of /proc/device-tree/compatible.
    pub compatible: Vec<String>,
    /// `dmi`: parts of the DMI names of the product or the mainboard.
    pub dmi: Vec<String>,
    /// `cpu`: parts of the CPU's model name. The number of cores has to fit, too, since a CPU is
    /// in many machines.
    pub cpu: Vec<String>,
    /// `arch`: Rust's name of the architecture; the board for machines that no other fits.
    pub arch: Option<String>,
}

/// `[[cluster]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// `core`: name of the core, such as `Cortex-A76`.
    pub core: String,
    /// `isa`: instruction set, such as `armv8.2-a`.
    pub isa: String,
    /// `part`: the part number in the core's MIDR register.
    pub part: Option<u32>,
    /// `cores`: how many.
    pub cores: Option<usize>,
    /// `clock_mhz`: highest frequency, MHz.
    pub clock_mhz: Option<f64>,
}

/// `[gpu]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// `name`.
    pub name: String,
    /// `device`: part of the name of its OpenCL device.
    pub device: String,
    /// `devices`: as how many OpenCL devices it shows.
    #[serde(default = "one")]
    pub devices: usize,
    /// `opencl`: version that its driver offers.
    pub opencl: String,
    /// `fp64`: whether it has double precision.
    pub fp64: bool,
}

fn one() -> usize {
    1
}

/// `[tuned]`: what was found on such boards. What a run finds itself goes first in the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tuned {
    /// `split`: the device's share of a kernel's rows with which the search begins, 0 to 1.
    pub split: Option<f64>,
}

/// `[power]`, watts of the whole board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Power {
    /// `idle_w`: when nothing runs.
    pub idle_w: Option<f64>,
    /// `load_w`: while a simulation runs.
    pub load_w: Option<f64>,
    /// `nameplate_w`: what the maker or the supply states.
    pub nameplate_w: Option<f64>,
}

/// `[energy]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Energy {
    /// `source`: what measures energy, in words.
    pub source: Option<String>,
    /// `command`: the program that reads the sensor, where no file does.
    pub command: Option<String>,
    /// `[[energy.rail]]`: sensors that should be there.
    #[serde(rename = "rail")]
    pub rails: Vec<Rail>,
}

/// `[[energy.rail]]`: there if one of the files or the chip is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rail {
    /// `name`.
    pub name: String,
    /// `files`: patterns from the root, `*` for any part of a name.
    #[serde(default)]
    pub files: Vec<String>,
    /// `chip`: start of the chip's name in /sys/class/hwmon.
    pub chip: Option<String>,
}

impl Profile {
    /// Reads and checks a board file; `path` serves messages.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) with file, line and key.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let decoded: Decoded<Self> = decode(text, path)?;
        check(&decoded)?;
        Ok(decoded.value)
    }

    /// Number of cores, if it is known of each cluster.
    pub fn cores(&self) -> Option<usize> {
        let counts: Option<Vec<usize>> = self.clusters.iter().map(|c| c.cores).collect();
        counts.map(|c| c.iter().sum()).filter(|&n| n > 0)
    }

    /// Name of the core with this part number.
    pub fn core(&self, part: u32) -> Option<&str> {
        let cluster = self.clusters.iter().find(|c| c.part == Some(part))?;
        Some(&cluster.core)
    }
}

fn check(d: &Decoded<Profile>) -> Result<()> {
    let p = &d.value;
    let word = |key: &str, text: &str| match text.trim() {
        "" => Err(d.wrong(key, "the text is empty", "give a name")),
        _ => Ok(()),
    };
    let positive = |key: &str, x: Option<f64>| match x {
        Some(x) if !(x.is_finite() && x > 0.0) => Err(d.wrong(
            key,
            format!("{} is out of range", shown(x)),
            "give more than 0, or leave the key out",
        )),
        _ => Ok(()),
    };
    word("name", &p.name)?;
    if p.target.split('-').count() < 3 {
        let what = format!("\"{}\" is no target triple", p.target);
        let remedy = "give one of `rustc --print target-list`, such as aarch64-unknown-linux-gnu";
        return Err(d.wrong("target", what, remedy));
    }
    positive("peak_gb_s", p.peak_gb_s)?;
    for (key, words) in [
        ("match.compatible", &p.matches.compatible),
        ("match.dmi", &p.matches.dmi),
        ("match.cpu", &p.matches.cpu),
    ] {
        words.iter().try_for_each(|w| word(key, w))?;
    }
    for (i, c) in p.clusters.iter().enumerate() {
        let key = |name: &str| format!("cluster[{i}].{name}");
        word(&key("core"), &c.core)?;
        word(&key("isa"), &c.isa)?;
        positive(&key("clock_mhz"), c.clock_mhz)?;
        if c.cores == Some(0) {
            let remedy = "give 1 or more, or leave the key out";
            return Err(d.wrong(&key("cores"), "a cluster without cores", remedy));
        }
        // A part number has 12 bits.
        if c.part.is_some_and(|part| part > 0xfff) {
            let remedy = "give the CPU part of /proc/cpuinfo, such as 0xd0b";
            return Err(d.wrong(&key("part"), "a part number has three hex digits", remedy));
        }
    }
    if !p.matches.cpu.is_empty() && p.cores().is_none() {
        let remedy = "give [[cluster]] sections with cores";
        let what = "a board recognised by its CPU needs the number of cores";
        return Err(d.wrong("match.cpu", what, remedy));
    }
    if let Some(gpu) = &p.gpu {
        word("gpu.name", &gpu.name)?;
        word("gpu.device", &gpu.device)?;
        word("gpu.opencl", &gpu.opencl)?;
        if gpu.devices == 0 {
            let remedy = "give 1 or more, or leave [gpu] out";
            return Err(d.wrong("gpu.devices", "0 devices are no GPU", remedy));
        }
    }
    if let Some(split) = p.tuned.split.filter(|s| !(0.0..=1.0).contains(s)) {
        let remedy = "give 0 (all on the CPU) to 1, or leave the key out";
        return Err(d.wrong(
            "tuned.split",
            format!("{} is out of range", shown(split)),
            remedy,
        ));
    }
    let w = p.power;
    positive("power.idle_w", w.idle_w)?;
    positive("power.load_w", w.load_w)?;
    positive("power.nameplate_w", w.nameplate_w)?;
    if let (Some(idle), Some(load)) = (w.idle_w, w.load_w)
        && idle > load
    {
        let what = format!("{idle} W idle are more than {load} W under load");
        return Err(d.wrong("power.idle_w", what, "correct one of the two"));
    }
    for (i, rail) in p.energy.rails.iter().enumerate() {
        let key = |name: &str| format!("energy.rail[{i}].{name}");
        word(&key("name"), &rail.name)?;
        if rail.files.is_empty() && rail.chip.is_none() {
            let what = "nothing says where the sensor is";
            return Err(d.wrong(&key("files"), what, "give files or chip"));
        }
        if let Some(file) = rail.files.iter().find(|f| f.starts_with('/')) {
            let what = format!("\"{file}\" begins with /");
            return Err(d.wrong(&key("files"), what, "give it from the root: sys/.."));
        }
    }
    Ok(())
}
