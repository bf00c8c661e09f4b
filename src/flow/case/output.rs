//! `[output]` of a case.

use std::path::PathBuf;

use serde::Deserialize;

/// `[output]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// `interval`: simulated seconds between two written fields; without it only the last
    /// field is written.
    #[serde(rename = "interval")]
    pub interval_s: Option<f64>,
    /// `directory`: where results go, relative to the case file (on the command line: to the
    /// working folder); default: `out/CASE` in the working folder.
    pub directory: PathBuf,
    /// `profiles`: lines along which the velocity is sampled at the end of the run.
    pub profiles: Vec<Profile>,
}

/// One entry of `output.profiles`: a velocity component along a line, as CSV and SVG.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// `name`: stem of the files.
    pub name: String,
    /// `component` of the velocity.
    pub component: Component,
    /// `from`: first point, in metres.
    pub from: [f64; 3],
    /// `to`: last point, in metres.
    pub to: [f64; 3],
    /// `points`: number of samples, both ends included (default: 101).
    #[serde(default = "hundred_and_one")]
    pub points: usize,
    /// `reference`: published values to draw beside the profile.
    pub reference: Option<Reference>,
}

/// A component of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Component {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Along z.
    Z,
}

/// Published values: Ghia, Ghia and Shin 1982, u(y) for component x and v(x) for y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Cavity at Re 100.
    #[serde(rename = "ghia-100")]
    Ghia100,
    /// Cavity at Re 400.
    #[serde(rename = "ghia-400")]
    Ghia400,
    /// Cavity at Re 1000.
    #[serde(rename = "ghia-1000")]
    Ghia1000,
    /// Cavity at Re 3200.
    #[serde(rename = "ghia-3200")]
    Ghia3200,
}

fn hundred_and_one() -> usize {
    101
}
