//! Meshes, fields and the stepper that the flow tests share.
#![allow(dead_code, clippy::needless_range_loop)]

use std::path::Path;

use couloir::flow::boundary::{FaceKind, Vectors};
use couloir::flow::exact::Flow;
use couloir::flow::operators::{Operators, Scheme};
use couloir::flow::plain::{Plain, Settings};
use couloir::mesh::{BoxShape, BoxSpec, Geometry, Mesh, box_mesh};

/// A mesh ready for time steps.
pub struct Setup {
    pub mesh: Mesh,
    pub geometry: Geometry,
    pub ops: Operators,
}

/// A box, `n` blocks per axis.
pub fn cube(shape: BoxShape, n: usize, min: f64, max: f64) -> Mesh {
    let spec = BoxSpec {
        shape,
        cells: [n; 3],
        min: [min; 3],
        max: [max; 3],
        ..BoxSpec::default()
    };
    box_mesh(&spec).unwrap()
}

/// One of the Gmsh meshes in tests/data.
pub fn gmsh(name: &str) -> Mesh {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/meshes");
    couloir::mesh::gmsh::read(&folder.join(format!("{name}.msh"))).unwrap()
}

/// Operators with `kind` given per patch name.
pub fn setup(mesh: Mesh, scheme: Scheme, kind: impl Fn(&str) -> FaceKind) -> Setup {
    let geometry = Geometry::of(&mesh);
    let mut kinds = vec![FaceKind::Slip; mesh.faces() - mesh.interior_faces()];
    for patch in &mesh.patches {
        let first = mesh.interior_faces();
        kinds[patch.faces.start - first..patch.faces.end - first].fill(kind(&patch.name));
    }
    let ops = Operators::build(&mesh, &geometry, &kinds, scheme).unwrap();
    Setup {
        mesh,
        geometry,
        ops,
    }
}

impl Setup {
    /// Centres of the boundary faces.
    pub fn boundary(&self) -> &[[f64; 3]] {
        &self.geometry.face_centre[self.ops.interior_faces..]
    }

    /// Smallest cube root of a cell's volume.
    pub fn h(&self) -> f64 {
        self.ops
            .volume
            .iter()
            .fold(f64::MAX, |m, v| m.min(*v))
            .cbrt()
    }

    /// Relative L2 difference of two fields.
    pub fn error(&self, got: &Vectors, want: &Vectors) -> f64 {
        let (mut e, mut size) = (0.0, 0.0);
        for k in 0..3 {
            for (i, v) in self.ops.volume.iter().enumerate() {
                e += v * (got[k][i] - want[k][i]).powi(2);
                size += v * want[k][i].powi(2);
            }
        }
        (e / size).sqrt()
    }

    /// The same, without their means.
    pub fn scalar_error(&self, got: &[f64], want: &[f64]) -> f64 {
        let total: f64 = self.ops.volume.iter().sum();
        let mean = |x: &[f64]| -> f64 {
            x.iter()
                .zip(&self.ops.volume)
                .map(|(x, v)| x * v)
                .sum::<f64>()
                / total
        };
        let (a, b) = (mean(got), mean(want));
        let (mut e, mut size) = (0.0, 0.0);
        for (i, v) in self.ops.volume.iter().enumerate() {
            e += v * (got[i] - a - want[i] + b).powi(2);
            size += v * (want[i] - b).powi(2);
        }
        (e / size).sqrt()
    }

    /// Largest dt at which Adams-Bashforth keeps explicit diffusion and convection stable,
    /// times `safety`, for velocities up to `fastest`.
    pub fn dt(&self, nu: f64, fastest: f64, safety: f64) -> f64 {
        let rate = self.ops.viscous_rate.iter().fold(0.0f64, |m, r| m.max(*r));
        safety / (nu * rate + fastest / self.h())
    }
}

/// A vector field at points.
pub fn field(points: &[[f64; 3]], f: impl Fn([f64; 3]) -> [f64; 3]) -> Vectors {
    let values: Vec<[f64; 3]> = points.iter().map(|&x| f(x)).collect();
    std::array::from_fn(|k| values.iter().map(|v| v[k]).collect())
}

/// Settings without force.
pub fn settings(nu: f64, tolerance: f64) -> Settings {
    Settings {
        nu,
        force: [0.0; 3],
        tolerance,
        max_iterations: 5000,
    }
}

/// Follows an exact solution with its own velocity at Dirichlet faces; the errors of velocity
/// and pressure at the end.
pub fn follow(setup: &Setup, flow: &impl Flow, nu: f64, end: f64, steps: usize) -> [f64; 2] {
    let (ops, cells) = (&setup.ops, &setup.geometry.centre);
    let given = |t: f64| field(setup.boundary(), |x| flow.velocity(x, t, nu));
    let start = field(cells, |x| flow.velocity(x, 0.0, nu));
    let dt = end / steps as f64;
    let mut plain = Plain::new(ops, settings(nu, 1e-8), start, &given(0.0), dt).unwrap();
    for n in 1..=steps {
        plain.step(dt, &given(n as f64 * dt)).unwrap();
    }
    let want = field(cells, |x| flow.velocity(x, end, nu));
    let pressure: Vec<f64> = cells.iter().map(|&x| flow.pressure(x, end, nu)).collect();
    [
        setup.error(&plain.state.u, &want),
        setup.scalar_error(&plain.state.p, &pressure),
    ]
}

/// Kinetic energies divided by the first, after each of `steps` steps.
pub fn energies(
    setup: &Setup,
    nu: f64,
    dt: f64,
    steps: usize,
    u: impl Fn([f64; 3]) -> [f64; 3],
) -> Vec<f64> {
    let given = field(setup.boundary(), |_| [0.0; 3]);
    let start = field(&setup.geometry.centre, u);
    let mut plain = Plain::new(&setup.ops, settings(nu, 1e-10), start, &given, dt).unwrap();
    let first = plain.kinetic_energy();
    (0..steps)
        .map(|_| {
            plain.step(dt, &given).unwrap();
            plain.kinetic_energy() / first
        })
        .collect()
}
