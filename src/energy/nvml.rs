//! NVIDIA graphics cards, through their management library loaded at run time.

use std::io;

use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use super::{Context, Found, Meter, Rail, RailKind, Scope};

/// The library counts milli-joules and milli-watts.
const MICRO_PER_MILLI: i64 = 1000;

struct Cards {
    nvml: Nvml,
    rails: Vec<Rail>,
    /// Number of each rail's card, as the library counts them.
    cards: Vec<u32>,
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
        read_milli(&self.nvml, card, rail.kind)
            .map_err(io::Error::other)
            .map(|milli| milli.saturating_mul(MICRO_PER_MILLI))
    }

    fn remedy(&self) -> &str {
        "check the driver with `nvidia-smi`"
    }
}

fn read_milli(nvml: &Nvml, card: u32, kind: RailKind) -> Result<i64, NvmlError> {
    let device = nvml.device_by_index(card)?;
    match kind {
        RailKind::Energy { .. } => device
            .total_energy_consumption()
            .map(|mj| i64::try_from(mj).unwrap_or(i64::MAX)),
        RailKind::Power => device.power_usage().map(i64::from),
    }
}

/// All cards; the energy counter where a card has one, otherwise its power.
pub fn discover(context: &Context) -> Found {
    if !context.tree.is_machine() {
        return Found::default();
    }
    let nvml = match Nvml::init() {
        Ok(nvml) => nvml,
        Err(why) => {
            log::debug!("energy: no NVML here ({why})");
            return Found::default();
        }
    };
    let mut found = Found::default();
    let mut rails = Vec::new();
    let mut cards = Vec::new();
    for card in 0..nvml.device_count().unwrap_or(0) {
        let name = nvml
            .device_by_index(card)
            .and_then(|d| d.name())
            .unwrap_or_else(|_| "unnamed".into());
        let counter = RailKind::Energy { wraps_at_uj: None };
        let kind = [counter, RailKind::Power]
            .into_iter()
            .find(|&kind| read_milli(&nvml, card, kind).is_ok());
        let Some(kind) = kind else {
            found.notes.push(format!(
                "energy: NVML card {card} ({name}) tells neither its energy nor its power"
            ));
            continue;
        };
        rails.push(Rail {
            name: format!("GPU {card} ({name})"),
            contained_in: None,
            kind,
            scope: Scope::Device,
            resolution_micro: 1000,
            update_interval_s: None,
        });
        cards.push(card);
    }
    if !rails.is_empty() {
        found.meters.push(Box::new(Cards { nvml, rails, cards }));
    }
    found
}
