//! RAPL through the kernel's powercap tree: CPU packages and what is inside them.

use std::collections::HashMap;
use std::io;

use super::{Context, Found, Meter, Rail, RailKind, Scope, Tree};

const FOLDER: &str = "sys/class/powercap";

/// The counters are updated about every millisecond.
const UPDATE_S: f64 = 1e-3;

/// The usual energy unit, 2^-14 J.
const RESOLUTION_UJ: u64 = 61;

struct Rapl {
    tree: Tree,
    rails: Vec<Rail>,
    files: Vec<String>,
}

impl Meter for Rapl {
    fn name(&self) -> &str {
        "RAPL"
    }

    fn rails(&self) -> &[Rail] {
        &self.rails
    }

    fn read(&mut self, rail: usize) -> io::Result<i64> {
        let file = self.files.get(rail).ok_or(io::ErrorKind::NotFound)?;
        let count_uj = self.tree.integer(file)?;
        if count_uj < 0 {
            let what = format!("a negative energy: {count_uj} uJ");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(count_uj)
    }

    fn remedy(&self) -> &str {
        "give the user read permission, e.g. `sudo chmod a+r \
         /sys/class/powercap/intel-rapl*/energy_uj` (until the next boot), or run as root"
    }
}

/// All zones `intel-rapl:A[:B]` with an `energy_uj` file.
///
/// A sub-zone `A:B` (core, uncore) is contained in its zone `A`. `intel-rapl-mmio` is a second
/// window onto a package, so its zones are contained in their namesakes.
///
/// The zone dram is a child of its package in powercap's tree on all machines, which says where
/// it is listed, not what it contains: on servers the memory's supply is no part of the package's
/// counter and is added to it. The counter of a client part has planes for cores and graphics;
/// servers since Haswell have neither. So dram is added where the package has no zone core and
/// no zone uncore, and taken as contained elsewhere: too little rather than counted twice.
pub fn discover(context: &Context) -> Found {
    let tree = &context.tree;
    let mut rapl = Rapl {
        tree: tree.clone(),
        rails: Vec::new(),
        files: Vec::new(),
    };
    let mut rail_of_zone: HashMap<String, usize> = HashMap::new();
    let mut rail_of_name: HashMap<String, usize> = HashMap::new();
    // Sorted, so `intel-rapl-mmio:0` would come before `intel-rapl:0`: real zones first.
    let mut zones = tree.list(FOLDER);
    zones.retain(|z| z.starts_with("intel-rapl") && z.contains(':'));
    zones.sort_by_key(|z| (z.starts_with("intel-rapl-mmio"), z.matches(':').count()));
    for zone in zones {
        let at = |file: &str| format!("{FOLDER}/{zone}/{file}");
        if !tree.list(&at("")).iter().any(|f| f == "energy_uj") {
            continue;
        }
        let mut name = tree.text(&at("name")).unwrap_or_else(|_| zone.clone());
        let mut parent = match zone.rsplit_once(':') {
            Some((outer, _)) if outer.contains(':') => rail_of_zone.get(outer).copied(),
            _ => rail_of_name.get(&name).copied(),
        };
        if name == "dram" && !has_planes(tree, &zone) {
            let package = parent.and_then(|p| rapl.rails.get(p));
            name = package.map_or(name, |p| format!("{} dram", p.name));
            parent = None;
        }
        let range_uj = tree.integer(&at("max_energy_range_uj"));
        let index = rapl.rails.len();
        rapl.rails.push(Rail {
            scope: match name.as_str() {
                "psys" => Scope::Platform,
                _ => Scope::Package,
            },
            contained_in: parent,
            kind: RailKind::Energy {
                wraps_at_uj: range_uj.ok().and_then(|r| u64::try_from(r).ok()),
            },
            resolution_micro: RESOLUTION_UJ,
            update_interval_s: Some(UPDATE_S),
            name: name.clone(),
        });
        rapl.files.push(at("energy_uj"));
        rail_of_zone.insert(zone.clone(), index);
        if parent.is_none() {
            rail_of_name.entry(name).or_insert(index);
        }
    }
    let mut found = Found::default();
    if !rapl.rails.is_empty() {
        found.meters.push(Box::new(rapl));
    }
    found
}

/// Whether the package around the sub-zone `zone` has planes of its own for cores or graphics.
fn has_planes(tree: &Tree, zone: &str) -> bool {
    let package = zone.rsplit_once(':').map_or("", |(package, _)| package);
    let inside = |z: &String| {
        z.rsplit_once(':')
            .is_some_and(|(outer, _)| outer == package)
    };
    let zones = tree.list(FOLDER).into_iter().filter(inside);
    let mut names = zones.map(|z| tree.text(&format!("{FOLDER}/{z}/name")));
    names.any(|n| n.is_ok_and(|n| n == "core" || n == "uncore"))
}
