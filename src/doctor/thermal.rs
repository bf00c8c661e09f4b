//! Throttling: temperatures near a trip point, cooling at work, the Raspberry Pi's flags.

use super::files::glob;
use super::{Finding, Scene, ok, problem, warning};

/// This close to a trip point, a run will reach it, in milli-degrees.
const NEAR_MC: i64 = 10_000;

/// Bits of the Raspberry Pi's `get_throttled`: now, and since the start.
const PI_NOW: [(u32, &str); 4] = [
    (0, "the supply's voltage is too low"),
    (1, "the frequency is capped"),
    (2, "it throttles"),
    (3, "the soft temperature limit is reached"),
];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let mut found = Vec::new();
    let zones = glob(&scene.tree, "sys/class/thermal/thermal_zone*");
    let mut hottest: Option<(i64, String)> = None;
    for zone in &zones {
        let Ok(temp) = scene.tree.integer(&format!("{zone}/temp")) else {
            continue;
        };
        let name = scene.tree.text(&format!("{zone}/type"));
        let name = name.unwrap_or_else(|_| zone.clone());
        if let Some((trip, kind)) = nearest_trip(scene, zone)
            && temp + NEAR_MC >= trip
        {
            let state = if temp >= trip { "above" } else { "near" };
            let what = format!(
                "{name}: {:.1} degrees, {state} its {kind} trip point of {:.1}",
                temp as f64 * 1e-3,
                trip as f64 * 1e-3
            );
            found.push(warning(what, "cool it: heat sink, fan, cooler room"));
        }
        if hottest.as_ref().is_none_or(|(t, _)| temp > *t) {
            hottest = Some((temp, name));
        }
    }
    for device in glob(&scene.tree, "sys/class/thermal/cooling_device*") {
        let kind = scene.tree.text(&format!("{device}/type")).unwrap_or_default();
        let state = scene.tree.integer(&format!("{device}/cur_state")).unwrap_or(0);
        let slows = kind.contains("cpufreq") || kind.contains("devfreq") || kind == "Processor";
        if slows && state > 0 {
            let what = format!("{kind} is slowed down against heat at this moment");
            found.push(warning(what, "cool it: heat sink, fan, cooler room"));
        }
    }
    found.extend(raspberry_pi(scene));
    if found.is_empty() {
        found.push(ok(match hottest {
            Some((temp, name)) => {
                format!("hottest: {name}, {:.1} degrees; no throttling", temp as f64 * 1e-3)
            }
            None => "no temperature sensor to be seen".to_owned(),
        }));
    }
    found
}

/// The lowest trip point at which the kernel slows down or switches off.
fn nearest_trip(scene: &Scene, zone: &str) -> Option<(i64, String)> {
    let trips = glob(&scene.tree, &format!("{zone}/trip_point_*_type"));
    let trip = |file: &String| {
        let kind = scene.tree.text(file).ok()?;
        let at = file.strip_suffix("_type")?;
        let temp = scene.tree.integer(&format!("{at}_temp")).ok()?;
        let matters = ["passive", "hot", "critical"].contains(&kind.as_str()) && temp > 0;
        matters.then_some((temp, kind))
    };
    trips.iter().filter_map(trip).min()
}

fn raspberry_pi(scene: &Scene) -> Option<Finding> {
    let text = (scene.program)("vcgencmd", &["get_throttled"])?;
    let hex = text.trim().strip_prefix("throttled=0x")?;
    let bits = u32::from_str_radix(hex, 16).ok()?;
    let set = |shift: u32| {
        let named = PI_NOW.iter().filter(|(bit, _)| bits >> (bit + shift) & 1 == 1);
        named.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
    };
    let (now, before) = (set(0), set(16));
    let remedy = "take the maker's supply and a fan; see vcgencmd get_throttled";
    if !now.is_empty() {
        return Some(problem(format!("Raspberry Pi: {now}"), remedy));
    }
    let what = format!("Raspberry Pi, since it was switched on: {before}");
    (!before.is_empty()).then(|| warning(what, remedy))
}
