//! Power sensors of Apple's system management controller, as Asahi Linux shows them.

use super::files::{FileMeter, Reading};
use super::{Context, Found, Rail, RailKind, Scope};

const FOLDER: &str = "sys/class/hwmon";

const REMEDY: &str =
    "give the user read permission to /sys/class/hwmon/hwmon*/power*_input, or run as root";

/// What a power sensor is, by its label.
fn scope(label: &str) -> Option<Scope> {
    let label = label.to_ascii_lowercase();
    match label.as_str() {
        l if l.starts_with("total") => Some(Scope::Board),
        // These feed the total from outside; charging is not the node's work.
        l if l.starts_with("ac input") || l.contains("battery") => None,
        _ => Some(Scope::Part),
    }
}

/// `powerN_input` in micro-watts; the total of the system contains the other rails.
pub fn discover(context: &Context) -> Found {
    let tree = &context.tree;
    let mut meter = FileMeter::new("macsmc", REMEDY, tree);
    for entry in tree.list(FOLDER) {
        let folder = format!("{FOLDER}/{entry}");
        let chip = tree.text(&format!("{folder}/name")).unwrap_or_default();
        if !chip.starts_with("macsmc") {
            continue;
        }
        for file in tree.list(&folder) {
            let Some(stem) = file.strip_suffix("_input") else {
                continue;
            };
            let label = tree.text(&format!("{folder}/{stem}_label"));
            let name = label.unwrap_or_else(|_| stem.to_string());
            let scope = stem.starts_with("power").then(|| scope(&name)).flatten();
            let Some(scope) = scope else {
                continue;
            };
            let rail = Rail {
                name,
                contained_in: None,
                kind: RailKind::Power,
                scope,
                resolution_micro: 1,
                update_interval_s: None,
            };
            meter.push(rail, Reading::Micro(format!("{folder}/{file}")));
        }
    }
    let total = meter.rails.iter().position(|r| r.scope == Scope::Board);
    for (index, rail) in meter.rails.iter_mut().enumerate() {
        rail.contained_in = total.filter(|&t| t != index);
    }
    let mut found = Found::default();
    if !meter.rails.is_empty() {
        found.meters.push(Box::new(meter));
    }
    found
}
