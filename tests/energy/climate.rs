//! Clocks and temperatures of a made tree.

use std::time::{Duration, Instant};

use crate::made::{Made, has};
use couloir::node::Tree;
use couloir::node::climate::Climate;

const POLICY: &str = "sys/devices/system/cpu/cpufreq/policy4";
const GPU: &str = "sys/class/devfreq/fb000000.gpu";
const ZONE: &str = "sys/class/thermal/thermal_zone0";

fn board() -> Made {
    let made = Made::new();
    made.write(&format!("{POLICY}/scaling_cur_freq"), "2400000\n")
        .write(&format!("{POLICY}/cpuinfo_max_freq"), "2400000\n")
        .write(&format!("{POLICY}/related_cpus"), "4 5 6 7\n")
        .write(&format!("{GPU}/cur_freq"), "1000000000\n")
        .write(&format!("{GPU}/max_freq"), "1000000000\n")
        .write(&format!("{ZONE}/temp"), "60000\n")
        .write(&format!("{ZONE}/type"), "soc-thermal\n")
        .write(&format!("{ZONE}/trip_point_0_type"), "active\n")
        .write(&format!("{ZONE}/trip_point_0_temp"), "50000\n")
        .write(&format!("{ZONE}/trip_point_1_type"), "passive\n")
        .write(&format!("{ZONE}/trip_point_1_temp"), "75000\n")
        .write(&format!("{ZONE}/trip_point_2_type"), "critical\n")
        .write(&format!("{ZONE}/trip_point_2_temp"), "115000\n");
    made
}

/// Looks half a second apart.
struct Looks(Climate, Instant);

impl Looks {
    fn at(made: &Made) -> Self {
        Self(Climate::new(&Tree::at(&made.0)), Instant::now())
    }

    fn next(&mut self) -> Vec<String> {
        self.1 += Duration::from_millis(500);
        self.0.look(self.1)
    }
}

#[test]
fn a_lasting_change_of_clock_is_told_once_and_a_dip_is_not() {
    let made = board();
    let mut looks = Looks::at(&made);
    assert!(looks.next().is_empty());
    made.write(&format!("{POLICY}/scaling_cur_freq"), "1200000\n");
    assert!(looks.next().is_empty(), "not sure yet");
    made.write(&format!("{POLICY}/scaling_cur_freq"), "2300000\n");
    assert!(looks.next().is_empty(), "a dip");
    made.write(&format!("{POLICY}/scaling_cur_freq"), "1800000\n");
    looks.next();
    let events = looks.next();
    assert_eq!(
        events,
        ["CPU 4 5 6 7 now runs at 1.80 GHz instead of 2.40, 75 % of its greatest"]
    );
    assert!(looks.next().is_empty());
    made.write(&format!("{GPU}/cur_freq"), "400000000\n");
    looks.next();
    has(
        &looks.next().join("\n"),
        &["fb000000.gpu now runs at 0.40 GHz"],
    );
}

#[test]
fn trip_points_and_jumps_are_told() {
    let made = board();
    let mut looks = Looks::at(&made);
    let mut at = |mc: &str| {
        made.write(&format!("{ZONE}/temp"), mc);
        looks.next()
    };
    assert!(at("60000").is_empty());
    assert!(at("74000").is_empty());
    let reached = "soc-thermal has reached its passive trip point of 75 °C: now 76 °C";
    assert_eq!(at("76000"), [reached]);
    assert!(at("74000").is_empty(), "just below it");
    let left = "soc-thermal has left its passive trip point of 75 °C: now 71 °C";
    assert_eq!(at("71000"), [left]);
    assert_eq!(at("56000"), ["soc-thermal has gone from 71 °C: now 56 °C"]);
}

#[test]
fn looks_are_rare_cheap_and_never_fail() {
    let made = board();
    let mut climate = Climate::new(&Tree::at(&made.0));
    let start = Instant::now();
    climate.look(start);
    made.write(&format!("{ZONE}/temp"), "90000\n");
    assert!(climate.look(start + Duration::from_millis(499)).is_empty());
    let cheap = (1..6).any(|n| {
        let begin = Instant::now();
        climate.look(start + n * Duration::from_millis(500));
        // A look every half second: below 0.1 % of one core.
        begin.elapsed() < Duration::from_micros(500)
    });
    assert!(cheap);
    for file in ["temp", "type"] {
        made.write(&format!("{ZONE}/{file}"), "");
    }
    std::fs::remove_dir_all(made.path("sys/devices")).unwrap();
    assert!(climate.look(start + Duration::from_secs(9)).is_empty());
    let none = Made::new();
    assert!(Climate::new(&Tree::at(&none.0)).look(start).is_empty());
}

#[test]
fn a_clock_that_never_rests_does_not_fill_the_log() {
    let made = board();
    let mut looks = Looks::at(&made);
    let mut told = Vec::new();
    for n in 0..400 {
        let khz = if n / 2 % 2 == 0 { "2400000" } else { "1000000" };
        made.write(&format!("{POLICY}/scaling_cur_freq"), khz);
        told.extend(looks.next());
    }
    assert!((50..55).contains(&told.len()), "{}", told.len());
    assert!(told.last().unwrap().contains("not told"));
}
