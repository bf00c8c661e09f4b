//! NVIDIA graphics cards, through their management library loaded at run time.

mod library;

use std::io;

use super::{Context, Found, Meter, Rail, RailKind, Scope};
pub use library::{Card, Nvml};

/// Where every driver puts it.
pub const LIBRARY: &str = "libnvidia-ml.so.1";
/// The library counts milli-joules and milli-watts.
const MICRO_PER_MILLI: i64 = 1000;

struct Cards {
    library: Nvml,
    rails: Vec<Rail>,
    /// Each rail's card.
    cards: Vec<Card>,
}

impl Meter for Cards {
    fn name(&self) -> &str {
        "NVML"
    }

    fn rails(&self) -> &[Rail] {
        &self.rails
    }

    fn read(&mut self, rail: usize) -> io::Result<i64> {
        let (Some(&card), Some(rail)) = (self.cards.get(rail), self.rails.get(rail)) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        read_milli(&self.library, card, rail.kind)
            .map_err(io::Error::other)
            .map(|milli| milli.saturating_mul(MICRO_PER_MILLI))
    }

    fn remedy(&self) -> &str {
        "check the driver with `nvidia-smi`"
    }
}

fn read_milli(library: &Nvml, card: Card, kind: RailKind) -> Result<i64, String> {
    match kind {
        RailKind::Energy { .. } => library
            .energy_mj(card)
            .map(|mj| i64::try_from(mj).unwrap_or(i64::MAX)),
        RailKind::Power => library.power_mw(card).map(i64::from),
    }
}

/// All cards; the energy counter where a card has one, otherwise its power.
pub fn discover(context: &Context) -> Found {
    if !context.tree.is_machine() {
        return Found::default();
    }
    cards(LIBRARY)
}

/// The cards that the library called `name` knows.
fn cards(name: &str) -> Found {
    let library = match Nvml::open(name) {
        Ok(library) => library,
        Err(why) => {
            log::debug!("energy: no NVML here ({why})");
            return Found::default();
        }
    };
    let mut found = Found::default();
    let mut rails = Vec::new();
    let mut cards = Vec::new();
    for number in 0..library.cards().unwrap_or(0) {
        let card = match library.card(number) {
            Ok(card) => card,
            Err(why) => {
                let what = format!("energy: NVML card {number} cannot be used ({why})");
                found.notes.push(what);
                continue;
            }
        };
        let name = library.name(card).unwrap_or_else(|_| "unnamed".into());
        let counter = RailKind::Energy { wraps_at_uj: None };
        let kind = [counter, RailKind::Power]
            .into_iter()
            .find(|&kind| read_milli(&library, card, kind).is_ok());
        let Some(kind) = kind else {
            found.notes.push(format!(
                "energy: NVML card {number} ({name}) tells neither its energy nor its power"
            ));
            continue;
        };
        rails.push(Rail {
            name: format!("GPU {number} ({name})"),
            contained_in: None,
            kind,
            scope: Scope::Device,
            resolution_micro: 1000,
            update_interval_s: None,
        });
        cards.push(card);
    }
    if !rails.is_empty() {
        found.meters.push(Box::new(Cards {
            library,
            rails,
            cards,
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Three cards: one counts energy, one tells its power, one nothing.
    const MADE: &str = r#"
        #include <stdio.h>
        struct card { int number; } made[3] = {{0}, {1}, {2}};
        int nvmlInit_v2(void) { return 0; }
        int nvmlShutdown(void) { return 0; }
        const char *nvmlErrorString(int code) { return code == 3 ? "Not Supported" : "?"; }
        int nvmlDeviceGetCount_v2(unsigned *n) { *n = 3; return 0; }
        int nvmlDeviceGetHandleByIndex_v2(unsigned i, struct card **card) {
            if (i > 2) return 2;
            *card = &made[i];
            return 0;
        }
        int nvmlDeviceGetName(struct card *card, char *name, unsigned length) {
            if (card->number == 1) return 3;
            snprintf(name, length, "Made %d", card->number);
            return 0;
        }
        int nvmlDeviceGetTotalEnergyConsumption(struct card *card, unsigned long long *mj) {
            *mj = 5000000000ULL;
            return card->number == 0 ? 0 : 3;
        }
        int nvmlDeviceGetPowerUsage(struct card *card, unsigned *mw) {
            *mw = 78500;
            return card->number == 1 ? 0 : 3;
        }
    "#;

    #[test]
    fn cards_tell_their_energy_or_their_power() {
        let folder = std::env::temp_dir().join(format!("couloir-nvml-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (source, made) = (folder.join("made.c"), folder.join("libmade.so"));
        std::fs::write(&source, MADE).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"]).args([&made, &source]);
        let done = cc.status();
        if !done.as_ref().is_ok_and(|code| code.success()) {
            // Under emulation there is no compiler.
            println!("SKIPPED: no C compiler to make a library with: {done:?}");
            return;
        }
        let mut found = cards(made.to_str().unwrap());
        std::fs::remove_dir_all(folder).unwrap();
        let told = "energy: NVML card 2 (Made 2) tells neither its energy nor its power";
        assert_eq!(found.notes, [told]);
        let meter = &mut found.meters[0];
        let names: Vec<&str> = meter.rails().iter().map(|r| &*r.name).collect();
        assert_eq!(names, ["GPU 0 (Made 0)", "GPU 1 (unnamed)"]);
        assert_eq!(meter.rails()[1].kind, RailKind::Power);
        assert_eq!(meter.read(0).unwrap(), 5_000_000_000_000);
        assert_eq!(meter.read(1).unwrap(), 78_500_000);
        assert!(meter.read(2).is_err());
    }

    #[test]
    fn without_the_library_there_is_no_meter() {
        let found = cards("/nonexistent/libnvidia-ml.so.1");
        assert!(found.meters.is_empty() && found.notes.is_empty());
        // Some library that is none of these.
        assert!(Nvml::open("libc.so.6").is_err());
    }
}
