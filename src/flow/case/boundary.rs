//! `[boundary.NAME]` of a case.

use serde::Deserialize;

/// `[boundary.NAME]`: what holds on the boundary NAME of the mesh, by its `type`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "BoundaryKeys")]
pub enum Boundary {
    /// `type = "wall"`: no slip, at rest unless `velocity` is given.
    Wall {
        /// `velocity` of the wall, in m/s.
        velocity: [f64; 3],
    },
    /// `type = "inlet"`: a fixed velocity.
    Inlet {
        /// `velocity`, in m/s.
        velocity: [f64; 3],
    },
    /// `type = "outlet"`: a fixed pressure, velocity with zero normal gradient.
    Outlet {
        /// `pressure` over density, in m^2/s^2 (default: 0).
        pressure: f64,
    },
    /// `type = "slip"`: no flow through, no shear; also a plane of symmetry.
    Slip,
    /// `type = "periodic"`: joined with another boundary of the same shape.
    Periodic {
        /// `with`: name of the other boundary, which names this one in turn.
        with: String,
    },
    /// `type = "exact"`: the velocity of an exact solution, as it changes in time.
    Exact {
        /// `solution`.
        solution: Solution,
    },
}

/// An exact solution of the Navier-Stokes equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solution {
    /// Ethier and Steinman's, with a = pi/4, d = pi/2.
    EthierSteinman,
    /// The decaying two-dimensional Taylor-Green vortex.
    #[serde(rename = "taylor-green-2d")]
    TaylorGreen2d,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BoundaryType {
    Wall,
    Inlet,
    Outlet,
    Slip,
    Periodic,
    Exact,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundaryKeys {
    r#type: BoundaryType,
    velocity: Option<[f64; 3]>,
    pressure: Option<f64>,
    with: Option<String>,
    solution: Option<Solution>,
}

impl TryFrom<BoundaryKeys> for Boundary {
    type Error = String;

    fn try_from(mut keys: BoundaryKeys) -> Result<Self, Self::Error> {
        let (name, boundary) = match keys.r#type {
            BoundaryType::Wall => (
                "wall",
                Self::Wall {
                    velocity: keys.velocity.take().unwrap_or_default(),
                },
            ),
            BoundaryType::Inlet => (
                "inlet",
                Self::Inlet {
                    velocity: keys
                        .velocity
                        .take()
                        .ok_or("an inlet needs a velocity; add velocity = [x, y, z]")?,
                },
            ),
            BoundaryType::Outlet => (
                "outlet",
                Self::Outlet {
                    pressure: keys.pressure.take().unwrap_or_default(),
                },
            ),
            BoundaryType::Slip => ("slip", Self::Slip),
            BoundaryType::Periodic => (
                "periodic",
                Self::Periodic {
                    with: keys
                        .with
                        .take()
                        .ok_or("a periodic boundary needs its partner; add with = \"NAME\"")?,
                },
            ),
            BoundaryType::Exact => (
                "exact",
                Self::Exact {
                    solution: keys
                        .solution
                        .take()
                        .ok_or("an exact boundary needs a solution; add solution = \"NAME\"")?,
                },
            ),
        };
        let left = [
            ("velocity", keys.velocity.is_some()),
            ("pressure", keys.pressure.is_some()),
            ("with", keys.with.is_some()),
            ("solution", keys.solution.is_some()),
        ];
        match left.iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(format!(
                "type \"{name}\" has no key {key}; remove it, or choose another type"
            )),
            None => Ok(boundary),
        }
    }
}
