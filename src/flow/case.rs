//! The case file: what to simulate, on which mesh, and with which settings.
//!
//! A case is TOML, one struct per section and one field per key; every key is documented at
//! its field. Unknown keys, wrong types and values out of range are refused with file, line
//! and key. Keys given on the command line override the file's and pass the same checks.

mod boundary;
mod check;
mod cluster;
mod energy;
mod load;
mod mesh;
mod node;
mod output;
mod read;
mod time;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};

use crate::input;
use crate::linear::Preconditioner;
use crate::mesh::Discretisation;

pub use boundary::{Boundary, Solution};
pub use cluster::{Cluster, Overlap};
pub use energy::{Energy, MeterColumn};
pub use mesh::MeshSource;
pub use node::{Minimise, Node, Split};
pub use output::{Component, Output, Profile, Reference};
pub use time::{StepSize, Time};

pub use crate::input::Override;

/// A case that passed all checks which need no mesh.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name of the case: the file's name without folder and extension.
    #[serde(skip)]
    pub name: String,
    /// The case file, as it was named on the command line.
    #[serde(skip)]
    pub file: PathBuf,
    /// Where each key stands, for messages: see [`Case::place`].
    #[serde(skip)]
    places: BTreeMap<String, String>,
    /// `[mesh]`: a Gmsh file, or a box to generate.
    pub mesh: MeshSource,
    /// `[fluid]`: properties of the fluid.
    pub fluid: Fluid,
    /// `[time]`: step size and end.
    pub time: Time,
    /// `[scheme]`: discretisation.
    #[serde(default)]
    pub scheme: Scheme,
    /// `[initial]`: the flow at t = 0.
    #[serde(default)]
    pub initial: Initial,
    /// `[boundary.NAME]`: one section per named boundary of the mesh.
    #[serde(default)]
    pub boundary: BTreeMap<String, Boundary>,
    /// `[force]`: a force on the whole fluid.
    #[serde(default)]
    pub force: Force,
    /// `[poisson]`: the pressure solver.
    #[serde(default)]
    pub poisson: Poisson,
    /// `[output]`: what is written, where, and how often.
    #[serde(default)]
    pub output: Output,
    /// `[node]`: how the node's processors are used.
    #[serde(default)]
    pub node: Node,
    /// `[energy]`: how energy is measured.
    #[serde(default)]
    pub energy: Energy,
    /// `[cluster]`: how several ranks work together.
    #[serde(default)]
    pub cluster: Cluster,
    /// Hash of the file and of what overrides it.
    #[serde(skip)]
    pub hash: u64,
}

impl Case {
    /// Where `key` (dotted, such as `fluid.viscosity`) was given: `FILE:LINE: KEY`, or the
    /// flag of the command line. A key that was not given is placed at its section or file.
    pub fn place(&self, key: &str) -> String {
        input::place(&self.places, &self.file, key)
    }
}

/// `[fluid]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fluid {
    /// `viscosity`: kinematic viscosity nu >= 0, in m^2/s. The density is 1.
    pub viscosity: f64,
}

/// `[scheme]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scheme {
    /// `discretisation`: which operators are built; `"auto"` measures the mesh.
    #[serde(deserialize_with = "discretisation")]
    pub discretisation: Option<Discretisation>,
}

fn discretisation<'de, D>(deserializer: D) -> Result<Option<Discretisation>, D::Error>
where
    D: Deserializer<'de>,
{
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Name {
        Auto,
        SymmetryPreserving,
        Consistent,
    }
    Ok(match Name::deserialize(deserializer)? {
        Name::Auto => None,
        Name::SymmetryPreserving => Some(Discretisation::SymmetryPreserving),
        Name::Consistent => Some(Discretisation::Consistent),
    })
}

/// `[initial]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Initial {
    /// `field`: the velocity at t = 0.
    pub field: InitialField,
    /// `velocity`: for `field = "uniform"`, in m/s.
    pub velocity: Option<[f64; 3]>,
}

/// Velocity at t = 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialField {
    /// Zero everywhere.
    #[default]
    Rest,
    /// `initial.velocity` everywhere.
    Uniform,
    /// (sin x cos y, -cos x sin y, 0).
    #[serde(rename = "taylor-green-2d")]
    TaylorGreen2d,
    /// (sin x cos y cos z, -cos x sin y cos z, 0).
    #[serde(rename = "taylor-green-3d")]
    TaylorGreen3d,
    /// The Ethier-Steinman solution with a = pi/4, d = pi/2.
    EthierSteinman,
    /// (sin z + cos y, sin x + cos z, sin y + cos x).
    Abc,
}

/// `[force]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Force {
    /// `acceleration`: force per mass, in m/s^2; drives flows with periodic sides.
    pub acceleration: [f64; 3],
}

/// `[poisson]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Poisson {
    /// `tolerance`: residual over right-hand side, in the 2-norm, at which a solve ends.
    pub tolerance: f64,
    /// `max_iterations`: iterations after which a solve is given up and the run stops.
    pub max_iterations: usize,
    /// `preconditioner` of the conjugate gradients.
    pub preconditioner: Preconditioner,
}

impl Default for Poisson {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_iterations: 2000,
            preconditioner: Preconditioner::default(),
        }
    }
}
