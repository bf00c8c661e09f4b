//! What a run says: log lines, the closing table, JSON, progress. Data in, text out.

pub mod json;
pub mod log;
pub mod progress;
pub mod table;
pub mod write;
