//! The model that stands in for a sensor: watts from a data sheet times seconds.

use std::io;

use crate::board::Board;

use super::{Context, Found, Meter, Rail, RailKind, Scope};

/// Watts of the node as given by the case or the board file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nameplate {
    /// When nothing runs; informative.
    pub watts_idle: Option<f64>,
    /// While a simulation runs: the model's power.
    pub watts_load: Option<f64>,
}

impl Nameplate {
    /// What is known of `board`, unless `load_w` says more.
    pub fn of(board: Option<&Board>, load_w: Option<f64>) -> Self {
        Self {
            watts_idle: board.and_then(|b| b.profile.power.idle_w),
            watts_load: load_w.or(board.and_then(Board::watts)),
        }
    }
}

/// E = P_load t (thesis section 3.5.3): an estimate, never a measurement.
struct Model {
    rail: [Rail; 1],
    load_uw: i64,
}

impl Meter for Model {
    fn name(&self) -> &str {
        "nameplate"
    }

    fn rails(&self) -> &[Rail] {
        &self.rail
    }

    fn read(&mut self, _rail: usize) -> io::Result<i64> {
        Ok(self.load_uw)
    }

    fn remedy(&self) -> &str {
        "give the node's watts"
    }

    fn measured(&self) -> bool {
        false
    }
}

/// The model, if watts under load are given.
pub fn discover(context: &Context) -> Found {
    let Some(watts) = context.nameplate.watts_load else {
        return Found::default();
    };
    // More than a megawatt is a slip of the unit.
    if !(watts > 0.0 && watts <= 1e6) {
        return Found {
            notes: vec![format!(
                "energy: the nameplate power of {watts} W is not a node's power and is ignored; \
                 give a number above 0"
            )],
            ..Found::default()
        };
    }
    let rail = Rail {
        name: format!("{watts} W"),
        contained_in: None,
        kind: RailKind::Power,
        scope: Scope::Model,
        resolution_micro: 0,
        update_interval_s: None,
    };
    Found {
        meters: vec![Box::new(Model {
            rail: [rail],
            load_uw: (watts * 1e6).round() as i64,
        })],
        ..Found::default()
    }
}
