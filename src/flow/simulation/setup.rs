//! From a case and its mesh to what the flow starts with.

use crate::cluster::Comm;
use crate::cluster::place::Place;
use crate::energy::{Gauge, Powers};
use crate::flow::boundary::{FaceKind, Vectors};
use crate::flow::case::{self, Boundary, Case, InitialField, Minimise, Solution, StepSize};
use crate::flow::exact::{Abc, EthierSteinman, Flow, TaylorGreen2d, taylor_green_3d};
use crate::flow::operators::Operators;
use crate::mesh::Mesh;
use crate::mesh::geometry::Geometry;
use crate::mesh::part::CUT;
use crate::split::Policy;
use crate::split::tuner::Objective;
use crate::{Error, Result};

/// Share of Adams-Bashforth's limit for diffusion, dt = 1 / (nu lambda), that a dt limited by
/// the Courant number may take.
pub(super) const VISCOUS_SHARE: f64 = 0.9;

/// What holds on one patch, with its faces counted from the first boundary face.
pub(super) struct Patch {
    pub faces: std::ops::Range<usize>,
    pub boundary: Boundary,
}

/// How cuts are chosen.
pub(super) fn policy(case: &Case) -> Policy {
    match case.node.split {
        case::Split::Auto => Policy::Auto,
        case::Split::Fixed(ratio) => Policy::Fixed(ratio),
    }
}

/// An objective to be had from the sides' powers, and the meter that tells them.
pub(super) type Weighed<'g> = (fn(Powers) -> Objective, &'g dyn Gauge);

/// What the splits minimise, once the powers are known; none for time.
///
/// # Errors
/// [`Error::Input`]: energy is asked for and nothing measures it.
pub(super) fn objective<'g>(
    case: &Case,
    gauge: Option<&'g dyn Gauge>,
    place: Option<&Place>,
) -> Result<Option<Weighed<'g>>> {
    let of: fn(Powers) -> Objective = match case.node.objective {
        Minimise::Time => return Ok(None),
        Minimise::Energy => Objective::Energy,
        Minimise::Edp => Objective::Edp,
    };
    let shared = place.is_some_and(|p| p.turn.of > 1);
    let why = match gauge {
        _ if shared => Some("several processes share this machine and its meter".to_string()),
        Some(gauge) => gauge.why_not(),
        None => Some("nothing measures it here".to_string()),
    };
    match (gauge, why) {
        (Some(gauge), None) => Ok(Some((of, gauge))),
        (_, why) => Err(Error::input(
            case.place("node.objective"),
            format!("energy cannot be minimised: {}", why.unwrap_or_default()),
            "run with --objective time, or name a meter: see energy.meter and `couloir devices`",
        )),
    }
}

pub(super) fn patches(case: &Case, mesh: &Mesh) -> Result<Vec<Patch>> {
    let first = mesh.interior_faces();
    mesh.patches
        .iter()
        .filter(|p| !p.faces.is_empty())
        .map(|p| {
            if p.name == CUT {
                return Ok(Patch {
                    faces: p.faces.start - first..p.faces.end - first,
                    boundary: Boundary::Slip,
                });
            }
            let boundary = case.boundary.get(&p.name).cloned().ok_or_else(|| {
                Error::input(
                    format!("{}: boundary.{}", case.file.display(), p.name),
                    "the mesh has this boundary, the case does not say what holds there",
                    format!("add [boundary.{}]", p.name),
                )
            })?;
            Ok(Patch {
                faces: p.faces.start - first..p.faces.end - first,
                boundary,
            })
        })
        .collect()
}

pub(super) fn face_kind(boundary: &Boundary) -> FaceKind {
    match *boundary {
        Boundary::Wall { .. } | Boundary::Inlet { .. } | Boundary::Exact { .. } => {
            FaceKind::Dirichlet
        }
        Boundary::Outlet { pressure } => FaceKind::Outlet(pressure),
        Boundary::Slip | Boundary::Periodic { .. } => FaceKind::Slip,
    }
}

fn solution(s: Solution) -> Box<dyn Flow> {
    match s {
        Solution::EthierSteinman => Box::new(EthierSteinman),
        Solution::TaylorGreen2d => Box::new(TaylorGreen2d),
    }
}

/// Velocity that a boundary of Dirichlet's kind gives at `x` at time `t`; zero from others.
pub(super) fn velocity_at(boundary: &Boundary, x: [f64; 3], t: f64, nu: f64) -> [f64; 3] {
    match boundary {
        Boundary::Wall { velocity } | Boundary::Inlet { velocity } => *velocity,
        Boundary::Exact { solution: s } => solution(*s).velocity(x, t, nu),
        _ => [0.0; 3],
    }
}

/// Velocities at Dirichlet faces at time `t`, of the boundary faces with these `centres`; zero at
/// others.
pub(super) fn given(patches: &[Patch], centres: &[[f64; 3]], t: f64, nu: f64) -> Vectors {
    let mut out: Vectors = std::array::from_fn(|_| vec![0.0; centres.len()]);
    for p in patches {
        for b in p.faces.clone() {
            let u = velocity_at(&p.boundary, centres[b], t, nu);
            for k in 0..3 {
                out[k][b] = u[k];
            }
        }
    }
    out
}

/// What flows in must be able to flow out.
pub(super) fn closed(case: &Case, ops: &Operators, given: &Vectors, comm: &Comm) -> Result<()> {
    if !ops.boundary.is_singular()
        || case
            .boundary
            .values()
            .any(|b| matches!(b, Boundary::Exact { .. }))
    {
        return Ok(());
    }
    let through = |b: usize| {
        let n = ops.boundary.normal[b];
        ops.boundary.area[b] * (n[0] * given[0][b] + n[1] * given[1][b] + n[2] * given[2][b])
    };
    let mut sums = (0..ops.boundary.len())
        .filter(|&b| ops.boundary.kind[b] == FaceKind::Dirichlet)
        .fold([0.0, 0.0], |[net, gross], b| {
            [net + through(b), gross + through(b).abs()]
        });
    comm.combine(&mut sums, &mut [])?;
    let [net, gross] = sums;
    if net.abs() <= 1e-6 * gross {
        return Ok(());
    }
    Err(Error::input(
        case.file.display().to_string(),
        format!(
            "{:.6e} m3/s flow in through boundaries with given velocities and cannot flow out",
            -net
        ),
        "add a boundary with type = \"outlet\", or balance the inlets",
    ))
}

pub(super) fn initial(case: &Case, geometry: &Geometry) -> Vectors {
    let nu = case.fluid.viscosity;
    let abc = Abc {
        a: 1.0,
        b: 1.0,
        c: 1.0,
    };
    let value = |x: [f64; 3]| match case.initial.field {
        InitialField::Rest => [0.0; 3],
        InitialField::Uniform => case.initial.velocity.unwrap_or_default(),
        InitialField::TaylorGreen2d => TaylorGreen2d.velocity(x, 0.0, nu),
        InitialField::TaylorGreen3d => taylor_green_3d(x),
        InitialField::EthierSteinman => EthierSteinman.velocity(x, 0.0, nu),
        InitialField::Abc => abc.velocity(x, 0.0, nu),
    };
    let u: Vec<[f64; 3]> = geometry.centre.iter().map(|&x| value(x)).collect();
    std::array::from_fn(|k| u.iter().map(|u| u[k]).collect())
}

/// A first step: as given, or from the fastest velocity and the shortest face length.
pub(super) fn first_dt(
    case: &Case,
    ops: &Operators,
    u: &Vectors,
    given: &Vectors,
    viscous_rate: f64,
    comm: &Comm,
) -> Result<f64> {
    Ok(match case.time.step {
        StepSize::Fixed { dt_s } => dt_s.min(case.time.end_s),
        StepSize::Courant { max } => {
            let speed = u
                .iter()
                .chain(given)
                .map(|v| v.iter().fold(0.0f64, |m, x| m.max(x.abs())));
            let force = case
                .force
                .acceleration
                .iter()
                .fold(0.0f64, |m, a| m.max(a.abs()));
            let h = ops
                .face_length
                .iter()
                .copied()
                .fold(f64::INFINITY, f64::min);
            let mut largest = [speed.fold(0.0, f64::max), -h];
            comm.combine(&mut [], &mut largest)?;
            let (speed, h) = (largest[0], -largest[1]);
            let convective = speed * 3.0 / h;
            // From rest under a force f, half of f t^2 crosses a cell in t = sqrt(2 h / f).
            let driven = (force / (2.0 * h)).sqrt();
            let rate = (convective.max(driven) / max).max(viscous_rate / VISCOUS_SHARE);
            let dt = if rate > 0.0 { rate.recip() } else { 1.0 };
            dt.min(case.time.end_s)
        }
    })
}

pub(super) fn largest(v: &[f64]) -> f64 {
    v.iter().copied().fold(0.0, f64::max)
}
