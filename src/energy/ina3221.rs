//! INA3221 three-channel monitors of Jetson boards: P = U I per channel.

use super::files::{FileMeter, Reading, is_board_input};
use super::{Context, Found, Rail, RailKind, Scope, Tree};

/// NVIDIA's boards bind the chip to one of these; others are found by the chip's name.
const DRIVERS: &str = "sys/bus/i2c/drivers";
const CLASS: &str = "sys/class/hwmon";

/// Channels of a chip. hwmon shows more files than these: `in4` to `in7` are shunt voltages
/// and `curr4` is a sum, which must not be taken for rails.
const CHANNELS: std::ops::RangeInclusive<u32> = 1..=3;

const REMEDY: &str = "give the user read permission to the sensor's in*_input and curr*_input \
     below /sys/class/hwmon, or run as root";

/// All connected channels of all chips; the board's input contains the others.
pub fn discover(context: &Context) -> Found {
    let tree = &context.tree;
    let mut meter = FileMeter::new("INA3221", REMEDY, tree);
    let mut folders = driver_folders(tree, "ina3221", "hwmon");
    if folders.is_empty() {
        let entries = tree.list(CLASS).into_iter();
        folders = entries.map(|e| format!("{CLASS}/{e}")).collect();
        folders.retain(|f| {
            tree.text(&format!("{f}/name"))
                .is_ok_and(|n| n == "ina3221")
        });
    }
    for folder in folders {
        CHANNELS.for_each(|channel| add_hwmon(&mut meter, &folder, channel));
    }
    // The Jetson's older kernel.
    for folder in driver_folders(tree, "ina3221x", "iio:device") {
        (0..3).for_each(|channel| add_iio(&mut meter, &folder, channel));
    }
    let board = meter.rails.iter().position(|r| r.scope == Scope::Board);
    for (index, rail) in meter.rails.iter_mut().enumerate() {
        rail.contained_in = board.filter(|&b| b != index);
    }
    let mut found = Found::default();
    if !meter.rails.is_empty() {
        found.meters.push(Box::new(meter));
    }
    found
}

/// `DRIVERS/driver/DEVICE/[hwmon/]hwmonN` or `.../iio:deviceN`: bus, address and N vary.
fn driver_folders(tree: &Tree, driver: &str, stem: &str) -> Vec<String> {
    let mut folders = Vec::new();
    for device in tree.list(&format!("{DRIVERS}/{driver}")) {
        let device = format!("{DRIVERS}/{driver}/{device}");
        for place in [format!("{device}/{stem}"), device] {
            let entries = tree.list(&place).into_iter();
            let numbered = entries.filter(|e| e.starts_with(stem) && e != stem);
            folders.extend(numbered.map(|e| format!("{place}/{e}")));
        }
    }
    folders
}

fn add_hwmon(meter: &mut FileMeter, folder: &str, channel: u32) {
    let tree = meter.tree().clone();
    let files = tree.list(folder);
    let file = |name: String| (files.contains(&name)).then(|| format!("{folder}/{name}"));
    let pair = file(format!("in{channel}_input")).zip(file(format!("curr{channel}_input")));
    let Some((volts, amps)) = pair else {
        return;
    };
    let enabled = file(format!("in{channel}_enable")).map(|f| tree.integer(&f));
    if matches!(enabled, Some(Ok(0))) {
        return;
    }
    let label = |stem: &str| tree.text(&format!("{folder}/{stem}{channel}_label")).ok();
    let name = label("in").or_else(|| label("curr"));
    let update = tree.integer(&format!("{folder}/update_interval")).ok();
    let update_interval_s = update.filter(|&ms| ms > 0).map(|ms| 1e-3 * ms as f64);
    add(
        meter,
        name.unwrap_or_else(|| format!("channel {channel}")),
        update_interval_s,
        Reading::Product { volts, amps },
    );
}

fn add_iio(meter: &mut FileMeter, folder: &str, channel: u32) {
    let tree = meter.tree().clone();
    let power = format!("in_power{channel}_input");
    if !tree.list(folder).contains(&power) {
        return;
    }
    let name = tree.text(&format!("{folder}/rail_name_{channel}"));
    let name = name.unwrap_or_else(|_| format!("channel {channel}"));
    add(
        meter,
        name,
        None,
        Reading::Milli(format!("{folder}/{power}")),
    );
}

fn add(meter: &mut FileMeter, name: String, update_interval_s: Option<f64>, reading: Reading) {
    // What NVIDIA calls a channel that is not connected.
    if name == "NC" {
        return;
    }
    let rail = Rail {
        contained_in: None,
        kind: RailKind::Power,
        scope: match is_board_input(&name) {
            true => Scope::Board,
            false => Scope::Part,
        },
        // The shunt voltage comes in steps of 40 uV, 8 mA over 5 mOhm: 40 mW at 5 V.
        resolution_micro: 40_000,
        update_interval_s,
        name,
    };
    meter.push(rail, reading);
}
