//! The four INA231 sensors of the Odroid-XU3, as its vendor's kernel shows them.

use super::files::{FileMeter, Reading};
use super::{Context, Found, Rail, RailKind, Scope};

const FOLDER: &str = "sys/bus/i2c/drivers/INA231";

/// What feeds what, by the chip's address on the bus; the bus number varies.
const RAILS: [(&str, &str); 4] = [
    ("0040", "A15"),
    ("0041", "memory"),
    ("0044", "GPU"),
    ("0045", "A7"),
];

/// The sensors' interval unless set otherwise.
const UPDATE_S: f64 = 0.263_808;

const REMEDY: &str = "enable the sensors as root: \
     `echo 1 > /sys/bus/i2c/drivers/INA231/*/enable`, and give read permission to sensor_W";

/// One rail per sensor. They are disjoint, and together the chip and its memory, not the board:
/// storage, network and fan have no sensor. A sensor that is off is switched on.
pub fn discover(context: &Context) -> Found {
    let tree = &context.tree;
    let mut meter = FileMeter::new("INA231", REMEDY, tree);
    let mut found = Found::default();
    for entry in tree.list(FOLDER) {
        let address = entry.split_once('-').map(|(_, address)| address);
        let Some((_, name)) = RAILS.iter().find(|(a, _)| Some(*a) == address) else {
            continue;
        };
        let at = |file: &str| format!("{FOLDER}/{entry}/{file}");
        if matches!(tree.integer(&at("enable")), Ok(0))
            && let Err(why) = tree.set(&at("enable"), "1\n")
        {
            found.notes.push(format!(
                "energy: the sensor {name} is off and cannot be switched on ({why}); {REMEDY}"
            ));
            continue;
        }
        let period_us = tree.integer(&at("update_period")).ok();
        let update_s = period_us.filter(|&us| us > 0).map(|us| 1e-6 * us as f64);
        let rail = Rail {
            name: (*name).to_string(),
            contained_in: None,
            kind: RailKind::Power,
            scope: Scope::Part,
            // As many digits as the driver prints of a power register of 25 current steps.
            resolution_micro: 10_000,
            update_interval_s: Some(update_s.unwrap_or(UPDATE_S)),
        };
        meter.push(rail, Reading::Watts(at("sensor_W")));
    }
    if !meter.rails.is_empty() {
        found.meters.push(Box::new(meter));
    }
    found
}
