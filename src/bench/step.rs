//! One whole time step: a cavity with a moving lid on a box of hexahedra. Its roof is the sum of
//! its kernels' roofs.

use super::{Bench, Input, Needs, Subject, Work, graphs};
use crate::Result;
use crate::flow::boundary::{FaceKind, Vectors};
use crate::flow::operators::{Operators, Scheme};
use crate::flow::plain::{Plain, Settings};
use crate::flow::stepper::Stepper;
use crate::mesh::{BoxSpec, Geometry, box_mesh};
use crate::split::{Engine, Place};

pub(super) const BENCH: Bench = Bench {
    name: "step",
    unit: "step",
    needs: Needs::Cells,
    prepare,
    effective_bytes: |_| None,
};

/// Kinematic viscosity, m2/s, of a box of 1 m and a lid of 1 m/s.
const VISCOSITY: f64 = 1e-3;
/// Relative residual of the pressure: loose, so that a step is not one long solve.
const TOLERANCE: f64 = 1e-3;
/// Cells along each axis of the box that is compared with the plain step.
const COMPARED: usize = 9;

/// A box with a lid.
struct Cavity {
    ops: Operators,
    given: Vectors,
    dt_s: f64,
}

impl Cavity {
    fn new(k: usize) -> Result<Self> {
        let mesh = box_mesh(&BoxSpec {
            cells: [k; 3],
            ..BoxSpec::default()
        })?;
        let geometry = Geometry::of(&mesh);
        let (first, faces) = (mesh.interior_faces(), mesh.faces());
        let kinds = vec![FaceKind::Dirichlet; faces - first];
        let ops = Operators::build(&mesh, &geometry, &kinds, Scheme::SymmetryPreserving)?;
        let mut given: Vectors = std::array::from_fn(|_| vec![0.0; faces - first]);
        if let Some(lid) = mesh.patch("ymax") {
            given[0][lid.faces.start - first..lid.faces.end - first].fill(1.0);
        }
        let rate = ops.viscous_rate.iter().copied().fold(0.0, f64::max);
        let dt_s = (0.2 / k as f64).min(0.4 / (VISCOSITY * rate));
        Ok(Self { ops, given, dt_s })
    }

    fn rest(&self) -> Vectors {
        std::array::from_fn(|_| vec![0.0; self.ops.cells])
    }

    fn stepper(&self, engine: &Engine<f64>, tolerance: f64) -> Result<Stepper> {
        let (rest, settings) = (self.rest(), settings(tolerance));
        Stepper::new(engine, &self.ops, settings, &rest, &self.given, self.dt_s)
    }
}

fn settings(tolerance: f64) -> Settings {
    Settings {
        nu: VISCOSITY,
        force: [0.0; 3],
        tolerance,
        max_iterations: 20_000,
    }
}

struct Step {
    dt_s: f64,
    stepper: Stepper,
    subject: Subject,
}

fn prepare(engine: &Engine<f64>, input: &Input) -> Result<Box<dyn Work>> {
    let k = graphs::nearest(input.rows()).max(2);
    let cavity = Cavity::new(k)?;
    Ok(Box::new(Step {
        stepper: cavity.stepper(engine, TOLERANCE)?,
        subject: Subject {
            matrix: format!("hexahedra:{k}"),
            rows: cavity.ops.cells,
            nnz: cavity.ops.laplacian.entries(),
        },
        dt_s: cavity.dt_s,
    }))
}

impl Work for Step {
    fn call(&mut self, engine: &Engine<f64>) -> Result<f64> {
        self.stepper.step(engine, self.dt_s, None)?;
        Ok(1.0)
    }

    fn queues(&self) -> bool {
        true
    }

    /// Two steps of a small box give the plain loop's velocities.
    fn verify(&mut self, engine: &Engine<f64>) -> Result<bool> {
        let cavity = Cavity::new(COMPARED)?;
        let tight = 1e-12;
        let mut split = cavity.stepper(engine, tight)?;
        let (rest, dt_s) = (cavity.rest(), cavity.dt_s);
        let mut plain = Plain::new(&cavity.ops, settings(tight), rest, &cavity.given, dt_s)?;
        for _ in 0..2 {
            split.step(engine, dt_s, &cavity.given)?;
            plain.step(dt_s, &cavity.given)?;
        }
        let velocity = split.velocity()?;
        let pairs = (0..3).flat_map(|k| velocity[k].iter().zip(&plain.state.u[k]));
        let (mut distance, mut size) = (0.0f64, 0.0f64);
        for (a, b) in pairs {
            distance = distance.max((a - b).abs());
            size = size.max(b.abs());
        }
        // A NaN compares as false.
        Ok(distance <= 1e-8 * size)
    }

    fn sites(&self) -> Vec<&Place> {
        self.stepper.sites()
    }

    fn subject(&self) -> Option<&Subject> {
        Some(&self.subject)
    }
}
