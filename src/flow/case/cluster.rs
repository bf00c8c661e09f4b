//! `[cluster]` of a case.

use serde::Deserialize;

/// `[cluster]`: how several ranks work together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cluster {
    /// `overlap`: `"on"` hides exchanges behind inner rows, `"off"` makes them first.
    pub overlap: Overlap,
    /// `timeout_s`: seconds without a sign of life of another rank after which the run ends.
    pub timeout_s: f64,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            overlap: Overlap::On,
            timeout_s: 60.0,
        }
    }
}

/// When halos are exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// While inner rows are computed (OSpMV).
    #[default]
    On,
    /// Before (NSpMV).
    Off,
}
