//! What benches found: the contract of `couloir bench --json`.

use serde::Serialize;

use crate::split::Roofs;

/// All results of a run, and the machine they hold for.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Highest roofs of each place, in the order measured; the last is the widest.
    pub roofs: Vec<(&'static str, Roofs)>,
    /// CPU threads that compute.
    pub threads: usize,
    /// Results.
    pub results: Vec<BenchResult>,
    /// What the searches for the best cuts needed, where they were held against all cuts.
    pub tuning: Vec<TuningResult>,
    /// One sentence each: noise, gains, what was left out.
    pub notes: Vec<String>,
}

/// One bench at one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchResult {
    /// Name of the bench.
    pub kernel: &'static str,
    /// Matrix or mesh, with its order where that was changed.
    pub matrix: String,
    /// Rows.
    pub rows: usize,
    /// Stored entries.
    pub nnz: usize,
    /// Precision.
    pub precision: &'static str,
    /// How the matrix is stored; null where there is none.
    pub format: Option<&'static str>,
    /// `cpu`, `device` or `split`.
    #[serde(rename = "where")]
    pub place: &'static str,
    /// The device's share of the rows.
    pub split_ratio: f64,
    /// CPU threads that computed.
    pub threads: usize,
    /// Least time of a unit (call, iteration, step), s.
    pub seconds_min: f64,
    /// Median time, s.
    pub seconds_median: f64,
    /// Operations over the median time.
    pub gflop_per_s: f64,
    /// Bytes that must move when nothing is compressed, over the median time.
    pub gb_per_s: f64,
    /// Median share of the roofline: least time of the bytes really moved, by the roofs of the same place
    /// that were measured last before, over the time.
    pub roofline_fraction: f64,
    /// Joules of a unit; null if no meter measured them.
    pub joules: Option<f64>,
    /// Their uncertainty as part of them, from the sensor's interval and resolution.
    pub uncertainty_fraction: Option<f64>,
    /// Whether the result agreed with the plain loop.
    pub verified: bool,
    /// What a unit is.
    #[serde(skip)]
    pub unit: &'static str,
}

/// A search beside all cuts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuningResult {
    /// Name of the bench.
    pub kernel: &'static str,
    /// Cuts that there are.
    pub cuts: usize,
    /// Cuts that the search tried.
    pub evaluations: usize,
    /// Cuts that were scanned.
    pub scanned: usize,
    /// The device's share that the search found.
    pub split_ratio: f64,
    /// The device's share that the scan found.
    pub best_ratio: f64,
    /// Median time at the found cut over that at the scanned best, minus 1.
    pub excess: f64,
    /// Time that the search spent above the best cut known, s.
    pub search_s: f64,
}
