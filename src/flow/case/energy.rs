//! `[energy]` of a case.

use std::path::Path;

use serde::{Deserialize, Deserializer, de};

use super::Case;
use crate::energy::Context;
use crate::energy::external::{Address, Column, External, Unit};

/// `[energy]`: how energy is measured.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Energy {
    /// `meter`: one outside the node, `"serial:DEVICE@BAUD"` or `"tcp:HOST:PORT"`, that sends
    /// lines of numbers. The node's own sensors are used without it.
    #[serde(deserialize_with = "parsed")]
    pub meter: Option<Address>,
    /// `column` of the meter's number: from 1, or its name in a header line; 1 by default.
    pub column: MeterColumn,
    /// `unit` of the number: `"W"` by default; of an energy counter `"J"`, `"Wh"`, ...
    #[serde(deserialize_with = "parsed")]
    pub unit: Option<Unit>,
    /// `idle_seconds`: before the run, for which the power of the idle node is measured.
    #[serde(rename = "idle_seconds")]
    pub idle_s: f64,
}

/// The column of an external meter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeterColumn(pub Column);

impl<'de> Deserialize<'de> for MeterColumn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Given {
            Number(usize),
            Name(String),
        }
        let wrong = "not a column; give its number, from 1, or its name in the header line";
        match Given::deserialize(deserializer).map_err(|_| de::Error::custom(wrong))? {
            Given::Number(0) => Err(de::Error::custom(wrong)),
            Given::Number(n) => Ok(Self(Column::Number(n))),
            Given::Name(name) => Ok(Self(Column::Name(name))),
        }
    }
}

fn parsed<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr<Err = String>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(de::Error::custom)
}

impl Case {
    /// Where and with what this machine's energy is measured; no model.
    pub fn energy_context(&self) -> Context {
        let external = self.energy.meter.clone().map(|address| External {
            address,
            column: self.energy.column.0.clone(),
            unit: self.energy.unit.unwrap_or_default(),
            place: self.place("energy.meter"),
        });
        Context {
            external,
            ..Context::at(Path::new("/"))
        }
    }
}
