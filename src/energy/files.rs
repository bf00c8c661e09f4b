//! A meter whose rails are sensor files.

use std::io;

use super::{Meter, Rail, RailKind, Tree};

/// A current sensor has an offset, so that a rail without load may read slightly below
/// zero; this much is kept, with its sign, so that noise cancels.
const OFFSET_UW: i64 = 1_000_000;

/// Where one rail's reading comes from.
pub(super) enum Reading {
    /// A whole number of micro-joules or micro-watts.
    Micro(String),
    /// A whole number of milli-watts.
    Milli(String),
    /// A decimal number of watts.
    Watts(String),
    /// P = U I, from milli-volts and milli-amperes.
    Product {
        /// The file of the voltage.
        volts: String,
        /// The file of the current.
        amps: String,
    },
}

/// Rails and the files that they are read from.
pub(super) struct FileMeter {
    name: &'static str,
    remedy: &'static str,
    tree: Tree,
    pub(super) rails: Vec<Rail>,
    readings: Vec<Reading>,
}

impl FileMeter {
    /// A meter without rails.
    pub fn new(name: &'static str, remedy: &'static str, tree: &Tree) -> Self {
        Self {
            name,
            remedy,
            tree: tree.clone(),
            rails: Vec::new(),
            readings: Vec::new(),
        }
    }

    /// Adds a rail.
    pub fn push(&mut self, rail: Rail, reading: Reading) {
        self.rails.push(rail);
        self.readings.push(reading);
    }

    /// The files below the meter's root.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }
}

fn bad(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Meter for FileMeter {
    fn name(&self) -> &str {
        self.name
    }

    fn rails(&self) -> &[Rail] {
        &self.rails
    }

    fn read(&mut self, rail: usize) -> io::Result<i64> {
        let (Some(rail), Some(reading)) = (self.rails.get(rail), self.readings.get(rail)) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let value = match reading {
            Reading::Micro(file) => self.tree.integer(file)?,
            Reading::Milli(file) => self.tree.integer(file)?.saturating_mul(1000),
            Reading::Watts(file) => (self.tree.decimal(file)? * 1e6).round() as i64,
            Reading::Product { volts, amps } => {
                let (mv, ma) = (self.tree.integer(volts)?, self.tree.integer(amps)?);
                mv.checked_mul(ma)
                    .ok_or_else(|| bad(format!("{mv} mV times {ma} mA is no power")))?
            }
        };
        match rail.kind {
            RailKind::Energy { .. } if value < 0 => {
                Err(bad(format!("a negative energy: {value} uJ")))
            }
            RailKind::Power if value < -OFFSET_UW => {
                Err(bad(format!("a negative power: {value} uW")))
            }
            _ => Ok(value),
        }
    }

    fn remedy(&self) -> &str {
        self.remedy
    }
}

/// Whether a rail's label names the supply of the whole board: `VDD_IN`, `POM_5V_IN`,
/// `Total System Power`, `System`, ...
pub(super) fn is_board_input(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    label.ends_with("_in")
        || label.starts_with("total")
        || matches!(label.as_str(), "vin" | "input" | "board" | "system")
}
