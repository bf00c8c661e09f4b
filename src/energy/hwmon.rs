//! Power and energy sensors of boards, through the kernel's hwmon class.

use std::io;

use super::{Context, Found, Meter, Rail, RailKind, Scope, Tree};

const FOLDER: &str = "sys/class/hwmon";

/// A current sensor has an offset, so that a rail without load may read slightly below
/// zero; this much is kept, with its sign, so that noise cancels.
const OFFSET_UW: i64 = 1_000_000;

/// What the rails of a known chip are.
#[derive(Clone, Copy, PartialEq)]
enum Chip {
    /// Supply rails; one whose label says so is the board's input.
    Rails,
    /// Each sensor is the whole board's input.
    Input,
    /// One energy counter per CPU socket (and per core, inside it).
    Sockets,
}

/// Chips whose sensors belong to the board or its CPU, by the start of their name. A chip
/// that is not here (battery, disk, fan, graphics card, ...) may be inside another rail or
/// outside the node, and is not counted.
const CHIPS: &[(&str, Chip)] = &[
    ("ina2", Chip::Rails),
    ("ina3221", Chip::Rails),
    ("macsmc", Chip::Rails),
    ("smpro", Chip::Rails),
    ("scmi", Chip::Rails),
    ("power_meter", Chip::Input),
    ("ibmpowernv", Chip::Rails),
    ("amd_energy", Chip::Sockets),
];

/// The files of one rail.
enum Files {
    /// `energyN_input`, micro-joules, or `powerN_input`, micro-watts.
    One(String),
    /// `inN_input` in milli-volts and `currN_input` in milli-amperes: P = U I.
    Pair { volts: String, amps: String },
}

struct Hwmon {
    tree: Tree,
    rails: Vec<Rail>,
    files: Vec<Files>,
}

impl Meter for Hwmon {
    fn name(&self) -> &str {
        "hwmon"
    }

    fn rails(&self) -> &[Rail] {
        &self.rails
    }

    fn read(&mut self, rail: usize) -> io::Result<i64> {
        let (Some(rail), Some(files)) = (self.rails.get(rail), self.files.get(rail)) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let bad = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let value = match files {
            Files::One(file) => self.tree.integer(file)?,
            Files::Pair { volts, amps } => {
                let (mv, ma) = (self.tree.integer(volts)?, self.tree.integer(amps)?);
                mv.checked_mul(ma)
                    .ok_or_else(|| bad(format!("{mv} mV times {ma} mA is no power")))?
            }
        };
        match rail.kind {
            RailKind::Energy { .. } if value < 0 => {
                Err(bad(format!("a negative energy: {value} uJ")))
            }
            RailKind::Power if value < -OFFSET_UW => {
                Err(bad(format!("a negative power: {value} uW")))
            }
            _ => Ok(value),
        }
    }

    fn remedy(&self) -> &str {
        "give the user read permission to /sys/class/hwmon/hwmon*/{energy,power,in,curr}*_input, \
         or run as root"
    }
}

/// All rails of known chips. A board's input contains every other rail of this meter.
pub fn discover(context: &Context) -> Found {
    let tree = &context.tree;
    let mut hwmon = Hwmon {
        tree: tree.clone(),
        rails: Vec::new(),
        files: Vec::new(),
    };
    let mut found = Found::default();
    for entry in tree.list(FOLDER) {
        let folder = format!("{FOLDER}/{entry}");
        let Ok(chip_name) = tree.text(&format!("{folder}/name")) else {
            continue;
        };
        let files = tree.list(&folder);
        let chip = CHIPS.iter().find(|(start, _)| chip_name.starts_with(start));
        match chip {
            Some(&(_, chip)) => hwmon.add_chip(&folder, &chip_name, chip, &files),
            None if files.iter().any(|f| power_file(f).is_some()) => found.notes.push(format!(
                "energy: hwmon chip {chip_name} has power sensors, but what they feed is not \
                 known; they are not counted"
            )),
            None => {}
        }
    }
    let board = hwmon.rails.iter().position(|r| r.scope == Scope::Board);
    for (index, rail) in hwmon.rails.iter_mut().enumerate() {
        rail.contained_in = board.filter(|&b| b != index);
    }
    if !hwmon.rails.is_empty() {
        found.meters.push(Box::new(hwmon));
    }
    found
}

impl Hwmon {
    /// Adds one rail per channel: its energy counter if it has one, else its power, else
    /// voltage times current.
    fn add_chip(&mut self, folder: &str, chip_name: &str, chip: Chip, files: &[String]) {
        let has = |file: &str| files.iter().any(|f| f == file);
        let label = |channel: &str| self.tree.text(&format!("{folder}/{channel}_label")).ok();
        let interval_ms = self.tree.integer(&format!("{folder}/update_interval"));
        let update_interval_s = interval_ms.ok().filter(|&ms| ms > 0);
        let update_interval_s = update_interval_s.map(|ms| 1e-3 * ms as f64);

        let mut rails: Vec<(String, RailKind, Files)> = Vec::new();
        // Channel numbers that an earlier, better quantity of the chip already covers.
        let mut covered: Vec<u32> = Vec::new();
        let counter = RailKind::Energy { wraps_at_uj: None };
        for (stem, kind) in [("energy", counter), ("power", RailKind::Power)] {
            for channel in channels(files, stem) {
                let name = label(&format!("{stem}{channel}"));
                let core =
                    chip == Chip::Sockets && !name.as_deref().unwrap_or("").starts_with("Esocket");
                if covered.contains(&channel) || core {
                    continue;
                }
                let input = format!("{stem}{channel}_input");
                let average = format!("{stem}{channel}_average");
                let file = if has(&input) { input } else { average };
                let name = name.unwrap_or_else(|| format!("{stem}{channel}"));
                rails.push((name, kind, Files::One(format!("{folder}/{file}"))));
                covered.push(channel);
            }
        }
        // Chips with a power register have U and I of that same rail besides.
        let pairs = if rails.is_empty() {
            channels(files, "curr")
        } else {
            Vec::new()
        };
        let volt_channels = channels(files, "in");
        for channel in pairs {
            let name = label(&format!("curr{channel}"));
            let same_label = |v: &&u32| name.is_some() && label(&format!("in{v}")) == name;
            let Some(volts) = volt_channels
                .iter()
                .find(same_label)
                .or_else(|| volt_channels.iter().find(|&&v| v == channel))
            else {
                continue;
            };
            let name = name
                .or_else(|| label(&format!("in{volts}")))
                .unwrap_or_else(|| format!("in{volts} x curr{channel}"));
            let pair = Files::Pair {
                volts: format!("{folder}/in{volts}_input"),
                amps: format!("{folder}/curr{channel}_input"),
            };
            rails.push((name, RailKind::Power, pair));
        }

        for (name, kind, files) in rails {
            let scope = match chip {
                Chip::Input => Scope::Board,
                Chip::Sockets => Scope::Package,
                Chip::Rails if is_board_input(&name) => Scope::Board,
                Chip::Rails => Scope::Part,
            };
            self.rails.push(Rail {
                name: format!("{chip_name} {name}"),
                contained_in: None,
                kind,
                scope,
                // Channels are multiples of 1 mV and 1 mA at best, about 10 mW.
                resolution_micro: match files {
                    Files::One(_) => 1,
                    Files::Pair { .. } => 10_000,
                },
                update_interval_s,
            });
            self.files.push(files);
        }
    }
}

/// Whether a rail's label names the supply of the whole board: `VDD_IN`, `POM_5V_IN`,
/// `Total System Power`, `System`, ...
fn is_board_input(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    label.ends_with("_in")
        || label.starts_with("total")
        || matches!(label.as_str(), "vin" | "input" | "board" | "system")
}

/// Number of a power or energy channel, from the name of its file.
fn power_file(file: &str) -> Option<u32> {
    channel_of(file, "power").or_else(|| channel_of(file, "energy"))
}

/// N of `<stem>N_input` or `<stem>N_average`.
fn channel_of(file: &str, stem: &str) -> Option<u32> {
    let rest = file.strip_prefix(stem)?;
    let number = rest
        .strip_suffix("_input")
        .or_else(|| rest.strip_suffix("_average"))?;
    number.parse().ok()
}

/// The channel numbers of a stem, rising, each once.
fn channels(files: &[String], stem: &str) -> Vec<u32> {
    let mut channels: Vec<u32> = files.iter().filter_map(|f| channel_of(f, stem)).collect();
    channels.sort_unstable();
    channels.dedup();
    channels
}
