//! Launch parameters of OpenCL devices, from `cl/tuning.toml`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::BLOCK;
use super::opencl::DeviceInfo;
use crate::{Error, Result, input};

const BUILT_IN: &str = include_str!("../../cl/tuning.toml");
/// Names a file whose entries go before the built-in ones.
const VARIABLE: &str = "COULOIR_TUNING";

/// Launch parameters of a device, all passed to kernels as `-D` constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Rows of one vector instruction, or of two (1, 2, 4, 8, 16).
    pub vector: usize,
    /// Rows per work-item: `vector`, or a whole block.
    pub item: usize,
    /// Work-items per group of a kernel without reductions.
    pub group: usize,
    /// The same of a kernel that reads a matrix.
    pub matrix_group: usize,
    /// Most registers of a work-item in kernels of one matrix and one vector.
    pub registers: Option<u32>,
    /// The same where that matrix has long rows: see `cl/tuning.toml`.
    pub long_registers: Option<u32>,
    /// Kernels that have a form that loads ahead, and legs of iterations, are compiled in that, too: see
    /// `cl/ahead.cl`.
    pub ahead: bool,
    /// Work-items of the group that adds partial results up, where the compiler has to know.
    pub adding: Option<usize>,
    /// Groups may wait for those that were started before them.
    pub waits: bool,
    /// Groups of each of the device's units, at most, that run at once and may wait for each other.
    pub together: Option<usize>,
    /// Most registers of a work-item there.
    pub together_registers: Option<u32>,
    /// The same where products load ahead.
    pub together_ahead_registers: Option<u32>,
    /// Most megabytes that an iteration moves there.
    pub together_mb: Option<u32>,
    /// Iterations of products that load ahead which move more megabytes are done there, too, in a form of
    /// their own.
    pub together_large_mb: Option<u32>,
    /// Most registers of a work-item in that.
    pub together_large_registers: Option<u32>,
    /// A copy of another queue runs beside the kernels of the first.
    pub beside: bool,
    /// The driver has to be told to start what is in the queue.
    pub flush: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    device: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "match")]
    part: String,
    vector: usize,
    rows: Option<PerItem>,
    group: Option<usize>,
    matrix_group: Option<usize>,
    registers: Option<u32>,
    long_registers: Option<u32>,
    #[serde(default)]
    ahead: bool,
    adding: Option<usize>,
    #[serde(default)]
    waits: bool,
    together: Option<usize>,
    together_registers: Option<u32>,
    together_ahead_registers: Option<u32>,
    together_mb: Option<u32>,
    together_large_mb: Option<u32>,
    together_large_registers: Option<u32>,
    #[serde(default)]
    beside: bool,
    flush: Option<bool>,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum PerItem {
    Vector,
    Block,
}

impl Tuning {
    /// Work-items per group: a reduction's group is a block.
    pub fn group_of(&self, reduces: bool, has_matrix: bool) -> usize {
        match (reduces, has_matrix) {
            (true, _) => BLOCK / self.item,
            (false, true) => self.matrix_group,
            (false, false) => self.group,
        }
    }

    /// The parameters of a device: of the file that `COULOIR_TUNING` names, else built in.
    ///
    /// # Errors
    /// [`Error::Input`] if that file is not as it should be.
    pub fn of(info: &DeviceInfo) -> Result<Self> {
        let file = std::env::var_os(VARIABLE).filter(|v| !v.is_empty());
        let own = match file.map(PathBuf::from) {
            None => None,
            Some(path) => {
                let name = path.display().to_string();
                let text = std::fs::read_to_string(&path).map_err(|e| {
                    let remedy = format!("name a file like cl/tuning.toml in {VARIABLE}");
                    Error::input(&name, format!("cannot be read ({e})"), remedy)
                })?;
                Some(entries(&text, &name)?)
            }
        };
        let built_in = entries(BUILT_IN, "cl/tuning.toml")?;
        let found = own.and_then(|own| best(own, info));
        let entry = found.or_else(|| best(built_in, info)).ok_or_else(|| {
            let what = format!("no tuning of {} in cl/tuning.toml", info.name);
            Error::failure(what, "report this as a defect")
        })?;
        Ok(entry.launch(info))
    }
}

/// The entry with the longest text that is part of the device's description.
fn best(entries: Vec<Entry>, info: &DeviceInfo) -> Option<Entry> {
    let kind = if info.software { "software" } else { info.kind };
    let device = format!("{kind} {} {}", info.platform, info.name).to_lowercase();
    entries
        .into_iter()
        .filter(|e| device.contains(&e.part.to_lowercase()))
        .max_by_key(|e| e.part.len())
}

fn entries(text: &str, name: &str) -> Result<Vec<Entry>> {
    let wrong = |what: String| Error::input(name, what, "see the comments of cl/tuning.toml");
    let file: File = input::decode(text, Path::new(name))?.value;
    for e in &file.device {
        if ![1, 2, 4, 8, 16].contains(&e.vector) {
            let what = format!(
                "device \"{}\": vector = {} is not 1, 2, 4, 8 or 16",
                e.part, e.vector
            );
            return Err(wrong(what));
        }
        let mut groups = [e.group, e.matrix_group].into_iter().flatten();
        if groups.any(|g| !g.is_power_of_two() || g > BLOCK) {
            let what = format!(
                "device \"{}\": group is no power of two up to {BLOCK}",
                e.part
            );
            return Err(wrong(what));
        }
        if e.adding.is_some_and(|n| !n.is_power_of_two()) {
            let what = format!("device \"{}\": adding is no power of two", e.part);
            return Err(wrong(what));
        }
    }
    Ok(file.device)
}

impl Entry {
    fn launch(&self, info: &DeviceInfo) -> Tuning {
        let without_local = if info.local_memory {
            PerItem::Vector
        } else {
            PerItem::Block
        };
        let adding = self.adding.filter(|&n| n <= info.max_group);
        let flush = self.flush.unwrap_or(true);
        match self.rows.unwrap_or(without_local) {
            PerItem::Block => Tuning {
                vector: self.vector,
                item: BLOCK,
                group: 1,
                matrix_group: 1,
                registers: self.registers,
                long_registers: self.long_registers,
                ahead: false,
                adding,
                waits: self.waits,
                together: None,
                together_registers: None,
                together_ahead_registers: None,
                together_mb: None,
                together_large_mb: None,
                together_large_registers: None,
                beside: self.beside,
                flush,
            },
            PerItem::Vector => {
                // A group is a block, for the sake of reductions.
                let least = BLOCK.div_ceil(info.max_group.max(1)).next_power_of_two();
                let vector = self.vector.max(least.min(8));
                // Launches are whole blocks, so a group divides one.
                let most = BLOCK / vector;
                let group = self.group.unwrap_or(most).min(most);
                Tuning {
                    vector,
                    item: vector,
                    group,
                    matrix_group: self.matrix_group.unwrap_or(group).min(most),
                    registers: self.registers,
                    long_registers: self.long_registers,
                    ahead: self.ahead && vector == 1,
                    adding,
                    waits: self.waits,
                    together: self.together.filter(|&n| n > 0 && vector == 1),
                    together_registers: self.together_registers,
                    together_ahead_registers: self
                        .together_ahead_registers
                        .or(self.together_registers),
                    together_mb: self.together_mb,
                    together_large_mb: self.together_large_mb,
                    together_large_registers: self
                        .together_large_registers
                        .or(self.together_ahead_registers)
                        .or(self.together_registers),
                    beside: self.beside,
                    flush,
                }
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
