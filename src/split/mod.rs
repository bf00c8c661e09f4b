//! Running one kernel on both sides of a node at the same time.
//!
//! Rows `[0, m)` go to the device, rows `[m, n)` to the CPU threads; the call returns when both
//! have finished. Results do not depend on `m`: every row is computed by the same operations in
//! the same order on either side, and reductions are added block by block in one order.

mod asked;
mod bandwidth;
mod border;
pub mod cache;
mod call;
mod carry;
mod check;
mod convert;
mod corner;
mod csr;
pub mod curve;
mod cuts;
mod dispatch;
mod drift;
mod engine;
mod finish;
mod first;
mod glance;
mod host;
mod lanes;
mod launch;
mod leg;
mod params;
mod playoff;
mod powers;
mod precision;
mod probe;
mod roofs;
mod rule;
mod run;
mod sides;
mod site;
mod source;
pub mod tabu;
mod totals;
mod trial;
pub mod tuner;
mod tuning;

pub use asked::Asked;
pub use bandwidth::Bandwidth;
pub use check::{Case, Results, random_case};
pub use convert::Convert;
pub use csr::CsrProduct;
pub use engine::{Engine, Operands, Policy};
pub use finish::Finish;
pub use first::First;
pub use glance::Glance;
pub use leg::{Leg, Legs};
pub use precision::Precision;
pub use roofs::{Arrays, Gauge, Roofs};
pub use rule::{Following, Rule};
pub use site::{Place, Site, Stats, Traffic};
