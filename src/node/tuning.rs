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
    /// Work-items of the group that adds partial results up, where the compiler has to know.
    pub adding: Option<usize>,
    /// Groups may wait for those that were started before them.
    pub waits: bool,
    /// Groups of each of the device's units, at most, that run at once and may wait for each other.
    pub together: Option<usize>,
    /// Most registers of a work-item there.
    pub together_registers: Option<u32>,
    /// Most megabytes that an iteration moves there.
    pub together_mb: Option<u32>,
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
    adding: Option<usize>,
    #[serde(default)]
    waits: bool,
    together: Option<usize>,
    together_registers: Option<u32>,
    together_mb: Option<u32>,
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
                adding,
                waits: self.waits,
                together: None,
                together_registers: None,
                together_mb: None,
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
                    adding,
                    waits: self.waits,
                    together: self.together.filter(|&n| n > 0 && vector == 1),
                    together_registers: self.together_registers,
                    together_mb: self.together_mb,
                    beside: self.beside,
                    flush,
                }
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Runs `test` of this program in another process, whose devices have these launch parameters:
    /// they are fixed for a process. `mark` is set there.
    pub(crate) fn launched(launch: &str, test: &str, mark: &str) {
        static FILES: AtomicUsize = AtomicUsize::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let name = format!("couloir-launch-{}-{number}.toml", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, format!("[[device]]\nmatch = \"\"\n{launch}\n")).unwrap();
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact"])
            .env(VARIABLE, &file)
            .env(mark, "1")
            .output()
            .unwrap();
        std::fs::remove_file(&file).unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let passed = output.status.success() && text.contains("1 passed");
        assert!(passed, "{launch}: {text}");
    }

    pub(crate) fn device(kind: &'static str, name: &str) -> DeviceInfo {
        DeviceInfo {
            index: 0,
            id: 0,
            platform: "Platform".into(),
            name: name.into(),
            version: String::new(),
            driver: String::new(),
            kind,
            software: kind == "cpu",
            fp64: true,
            exact_division: true,
            unified: false,
            svm: false,
            units: 1,
            max_group: 256,
            local_memory: true,
            keeps: false,
            memory_bytes: 0,
            align_bytes: 128,
        }
    }

    fn of(text: &str, info: &DeviceInfo) -> Tuning {
        best(entries(text, "t").unwrap(), info)
            .unwrap()
            .launch(info)
    }

    #[test]
    fn the_longest_text_that_fits_wins() {
        let text = "[[device]]\nmatch = \"\"\nvector = 1\n[[device]]\nmatch = \"gpu platform\"\nvector = 4\n\
                    group = 32\n[[device]]\nmatch = \"SOFTWARE\"\nvector = 8\nrows = \"block\"\n";
        let launch = |vector, item, group| Tuning {
            vector,
            item,
            group,
            matrix_group: group,
            registers: None,
            long_registers: None,
            adding: None,
            waits: false,
            together: None,
            together_registers: None,
            together_mb: None,
            beside: false,
            flush: true,
        };
        assert_eq!(of(text, &device("gpu", "X")), launch(4, 4, 32));
        assert_eq!(of(text, &device("accelerator", "X")), launch(1, 1, 256));
        assert_eq!(of(text, &device("cpu", "X")), launch(8, BLOCK, 1));
        assert_eq!(launch(4, 4, 32).group_of(true, true), 64);
        let text = "[[device]]\nmatch = \"\"\nvector = 1\nmatrix_group = 64\nregisters = 32\n\
                    long_registers = 48\nadding = 256\nbeside = true\nflush = false\ntogether = 4\n\
                    together_registers = 40\ntogether_mb = 99\n";
        let t = of(text, &device("gpu", "X"));
        assert_eq!(
            (t.group_of(false, false), t.group_of(false, true)),
            (256, 64)
        );
        assert_eq!((t.registers, t.adding), (Some(32), Some(256)));
        assert_eq!(t.long_registers, Some(48));
        assert!(t.beside && !t.flush);
        let of_legs = [Some(40), Some(99)];
        assert_eq!(t.together, Some(4));
        assert_eq!([t.together_registers, t.together_mb], of_legs);
        let none = of(
            &text.replace("together = 4", "together = 0"),
            &device("gpu", "X"),
        );
        assert_eq!(none.together, None);
        // More than the device has.
        let t = of(&text.replace("256", "512"), &device("gpu", "X"));
        assert_eq!(t.adding, None);
    }

    #[test]
    fn small_groups_and_missing_local_memory_are_heeded() {
        let small = DeviceInfo {
            max_group: 100,
            ..device("gpu", "X")
        };
        assert_eq!(of(BUILT_IN, &small).vector, 4);
        let none = DeviceInfo {
            local_memory: false,
            ..device("gpu", "X")
        };
        assert_eq!(of(BUILT_IN, &none).item, BLOCK);
        let pocl = Tuning::of(&device("cpu", "basic-x86")).unwrap();
        assert_eq!((pocl.vector, pocl.item, pocl.group), (8, BLOCK, 1));
        let masks = Tuning::of(&device("cpu", "basic-skylake-avx512-Intel")).unwrap();
        assert_eq!((masks.vector, masks.item, masks.group), (16, BLOCK, 1));
        let mesa = DeviceInfo {
            platform: "rusticl".into(),
            ..device("cpu", "llvmpipe (LLVM 15.0.6, 512 bits)")
        };
        let mesa = Tuning::of(&mesa).unwrap();
        assert_eq!((mesa.vector, mesa.item, mesa.group), (1, 1, 256));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_name() {
        for (text, what) in [
            ("[[device]]\nmatch = \"a\"\nvector = 3", "vector = 3"),
            ("[[device]]\nmatch = \"a\"\nvector = 1\ngroup = 48", "group"),
            (
                "[[device]]\nmatch = \"a\"\nvector = 1\nadding = 12",
                "adding",
            ),
            ("[[device]]\nmatch = \"a\"\nvector = 1\nrows = 2", "rows"),
            ("[[device]]\nmatch = \"a\"\nwidth = 1", "width"),
            ("device = 1", "device"),
        ] {
            let e = entries(text, "mine.toml").map(|_| ()).unwrap_err();
            assert_eq!(e.exit_code(), 2);
            let text = e.to_string();
            assert!(text.contains(what) && text.contains("mine.toml"), "{text}");
        }
    }
}
