//! Power and energy sensors of boards, through the kernel's hwmon class.

use super::files::{FileMeter, Reading, is_board_input};
use super::{Context, Found, Rail, RailKind, Scope};

const FOLDER: &str = "sys/class/hwmon";

const REMEDY: &str = "give the user read permission to \
     /sys/class/hwmon/hwmon*/{energy,power,in,curr}*_input, or run as root";

/// What the rails of a known chip are.
#[derive(Clone, Copy, PartialEq)]
enum Chip {
    /// Supply rails; one whose label says so is the board's input.
    Rails,
    /// Each sensor is the whole board's input.
    Input,
    /// One energy counter per CPU socket (and per core, inside it).
    Sockets,
    /// Read by a meter of its own.
    Elsewhere,
}

/// Chips whose sensors belong to the board or its CPU, by the start of their name. A chip
/// that is not here (battery, disk, fan, graphics card, ...) may be inside another rail or
/// outside the node, and is not counted.
const CHIPS: &[(&str, Chip)] = &[
    ("ina2", Chip::Rails),
    ("macsmc", Chip::Elsewhere),
    ("smpro", Chip::Rails),
    ("scmi", Chip::Rails),
    ("power_meter", Chip::Input),
    ("ibmpowernv", Chip::Rails),
    ("amd_energy", Chip::Sockets),
];

/// All rails of known chips. A board's input contains every other rail of this meter.
pub fn discover(context: &Context) -> Found {
    let tree = &context.tree;
    let mut hwmon = FileMeter::new("hwmon", REMEDY, tree);
    let mut found = Found::default();
    for entry in tree.list(FOLDER) {
        let folder = format!("{FOLDER}/{entry}");
        let Ok(chip_name) = tree.text(&format!("{folder}/name")) else {
            continue;
        };
        let files = tree.list(&folder);
        let chip = CHIPS.iter().find(|(start, _)| chip_name.starts_with(start));
        match chip {
            Some((_, Chip::Elsewhere)) => {}
            Some(&(_, chip)) => add_chip(&mut hwmon, &folder, &chip_name, chip, &files),
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

/// Adds one rail per channel: its energy counter if it has one, else its power, else
/// voltage times current.
fn add_chip(meter: &mut FileMeter, folder: &str, chip_name: &str, chip: Chip, files: &[String]) {
    let tree = meter.tree().clone();
    let has = |file: &str| files.iter().any(|f| f == file);
    let label = |channel: &str| tree.text(&format!("{folder}/{channel}_label")).ok();
    let interval_ms = tree.integer(&format!("{folder}/update_interval"));
    let update_interval_s = interval_ms.ok().filter(|&ms| ms > 0);
    let update_interval_s = update_interval_s.map(|ms| 1e-3 * ms as f64);

    let mut rails: Vec<(String, RailKind, Reading)> = Vec::new();
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
            rails.push((name, kind, Reading::Micro(format!("{folder}/{file}"))));
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
        let pair = Reading::Product {
            volts: format!("{folder}/in{volts}_input"),
            amps: format!("{folder}/curr{channel}_input"),
        };
        rails.push((name, RailKind::Power, pair));
    }

    for (name, kind, reading) in rails {
        let scope = match chip {
            Chip::Input => Scope::Board,
            Chip::Sockets => Scope::Package,
            Chip::Rails if is_board_input(&name) => Scope::Board,
            Chip::Rails | Chip::Elsewhere => Scope::Part,
        };
        let rail = Rail {
            name: format!("{chip_name} {name}"),
            contained_in: None,
            kind,
            scope,
            // Channels are multiples of 1 mV and 1 mA at best, about 10 mW.
            resolution_micro: match reading {
                Reading::Product { .. } => 10_000,
                _ => 1,
            },
            update_interval_s,
        };
        meter.push(rail, reading);
    }
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
