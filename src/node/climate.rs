//! Changes of clock and temperature that slow a node down.

use std::time::{Duration, Instant};

use super::Tree;

/// Between two looks at the files.
const EVERY: Duration = Duration::from_millis(500);

/// A clock that differs by this share from the one last told is told.
const CLOCK_CHANGE: f64 = 0.1;

/// So is a temperature that differs by this much, in milli-degrees.
const JUMP_MC: i64 = 15_000;

/// A trip point counts as left this far below it.
const HYSTERESIS_MC: i64 = 3_000;

/// Events told; a clock that never rests would fill the log.
const EVENTS_MAX: usize = 50;

/// A file that tells a clock, in units of `unit_hz`.
struct Clock {
    name: String,
    file: String,
    unit_hz: f64,
    max_hz: Option<f64>,
    told_hz: Option<f64>,
    /// What the look before saw, if it was a change.
    doubtful_hz: Option<f64>,
}

struct Zone {
    name: String,
    file: String,
    /// Kind and temperature, rising.
    trips: Vec<(String, i64)>,
    told_mc: Option<i64>,
    /// Trip points reached.
    reached: usize,
}

/// The clocks and thermal zones of a node.
pub struct Climate {
    tree: Tree,
    clocks: Vec<Clock>,
    zones: Vec<Zone>,
    looked: Option<Instant>,
    told: usize,
}

impl Climate {
    /// What there is below `tree`: cpufreq's policies, devfreq's devices, thermal zones.
    pub fn new(tree: &Tree) -> Self {
        let mut clocks = Vec::new();
        let policies = "sys/devices/system/cpu/cpufreq";
        for entry in tree.list(policies) {
            let cores = tree.text(&format!("{policies}/{entry}/related_cpus"));
            let name = cores.map_or(entry.clone(), |cores| format!("CPU {cores}"));
            let files = ("scaling_cur_freq", "cpuinfo_max_freq", 1e3);
            clocks.extend(clock(tree, &format!("{policies}/{entry}"), name, files));
        }
        let devices = "sys/class/devfreq";
        for entry in tree.list(devices) {
            let files = ("cur_freq", "max_freq", 1.0);
            clocks.extend(clock(
                tree,
                &format!("{devices}/{entry}"),
                entry.clone(),
                files,
            ));
        }
        let class = "sys/class/thermal";
        let entries = tree.list(class).into_iter();
        let zones = entries.filter(|e| e.starts_with("thermal_zone"));
        Self {
            zones: zones
                .filter_map(|e| zone(tree, &format!("{class}/{e}")))
                .collect(),
            clocks,
            tree: tree.clone(),
            looked: None,
            told: 0,
        }
    }

    /// What has changed, one sentence each. Reads the files if the last look is half a second
    /// ago; a changed clock must show in two looks, so that a short dip is none.
    pub fn look(&mut self, now: Instant) -> Vec<String> {
        let due = self
            .looked
            .is_none_or(|last| now.saturating_duration_since(last) >= EVERY);
        if !due || self.told > EVENTS_MAX {
            return Vec::new();
        }
        self.looked = Some(now);
        let tree = &self.tree;
        let clocks = self.clocks.iter_mut().filter_map(|c| c.look(tree));
        let mut events: Vec<String> = clocks.collect();
        events.extend(self.zones.iter_mut().filter_map(|z| z.look(tree)));
        self.told += events.len();
        if self.told > EVENTS_MAX {
            events.push("further changes of clock and temperature are not told".into());
        }
        events
    }
}

fn clock(tree: &Tree, folder: &str, name: String, files: (&str, &str, f64)) -> Option<Clock> {
    let (now, max, unit_hz) = files;
    let file = format!("{folder}/{now}");
    tree.integer(&file).ok()?;
    let max = tree.integer(&format!("{folder}/{max}")).ok();
    Some(Clock {
        name,
        file,
        unit_hz,
        max_hz: max.map(|max| max as f64 * unit_hz),
        told_hz: None,
        doubtful_hz: None,
    })
}

fn zone(tree: &Tree, folder: &str) -> Option<Zone> {
    let file = format!("{folder}/temp");
    tree.integer(&file).ok()?;
    let trip = |n: usize| {
        let at = |what: &str| format!("{folder}/trip_point_{n}_{what}");
        let kind = tree.text(&at("type")).ok()?;
        Some((kind, tree.integer(&at("temp")).ok()?))
    };
    let mut trips: Vec<(String, i64)> = (0..12).filter_map(trip).collect();
    // Fans are no throttling, and an unused point is zero or below.
    trips.retain(|(kind, mc)| kind != "active" && *mc > 0);
    trips.sort_by_key(|(_, mc)| *mc);
    let name = tree.text(&format!("{folder}/type")).ok()?;
    Some(Zone {
        name,
        file,
        trips,
        told_mc: None,
        reached: 0,
    })
}

impl Clock {
    fn look(&mut self, tree: &Tree) -> Option<String> {
        let hz = tree.integer(&self.file).ok()? as f64 * self.unit_hz;
        let told_hz = *self.told_hz.get_or_insert(hz);
        let changed = |a: f64, b: f64| (a - b).abs() > CLOCK_CHANGE * b;
        if !changed(hz, told_hz) {
            self.doubtful_hz = None;
            return None;
        }
        let before = self.doubtful_hz.replace(hz);
        if before.is_none_or(|before| changed(before, hz)) {
            return None;
        }
        (self.told_hz, self.doubtful_hz) = (Some(hz), None);
        let most = self
            .max_hz
            .filter(|&max| max > 0.0)
            .map_or(String::new(), |max| {
                format!(", {:.0} % of its greatest", 100.0 * hz / max)
            });
        Some(format!(
            "{} now runs at {:.2} GHz instead of {:.2}{most}",
            self.name,
            1e-9 * hz,
            1e-9 * told_hz
        ))
    }
}

impl Zone {
    fn look(&mut self, tree: &Tree) -> Option<String> {
        let mc = tree.integer(&self.file).ok()?;
        let told_mc = *self.told_mc.get_or_insert(mc);
        let shown = |mc: i64| 1e-3 * mc as f64;
        let above = self.trips.iter().filter(|(_, trip)| mc >= *trip).count();
        let still = self
            .trips
            .iter()
            .filter(|(_, trip)| mc >= *trip - HYSTERESIS_MC)
            .count();
        let event = if above > self.reached {
            let (kind, trip) = self.trips.get(above - 1)?;
            self.reached = above;
            format!("has reached its {kind} trip point of {:.0}", shown(*trip))
        } else if still < self.reached {
            let (kind, trip) = self.trips.get(self.reached - 1)?;
            let event = format!("has left its {kind} trip point of {:.0}", shown(*trip));
            self.reached = still;
            event
        } else if (mc - told_mc).abs() >= JUMP_MC {
            format!("has gone from {:.0}", shown(told_mc))
        } else {
            return None;
        };
        self.told_mc = Some(mc);
        Some(format!("{} {event} °C: now {:.0} °C", self.name, shown(mc)))
    }
}
