//! What a run says: log lines, the closing table, JSON, progress. Data in, text out.

pub mod bars;
pub mod bench;
pub mod cluster;
pub mod compare;
pub mod json;
pub mod log;
pub mod prediction;
pub mod profile;
pub mod progress;
pub mod reference;
pub mod scaling;
pub mod svg;
pub mod table;
pub mod vtu;
pub mod write;
