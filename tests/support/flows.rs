//! Meshes, fields and the stepper that the flow tests share.
#![allow(dead_code, clippy::needless_range_loop)]

use std::path::Path;

use couloir::flow::boundary::{FaceKind, Vectors};
use couloir::flow::exact::Flow;
use couloir::flow::operators::{Operators, Scheme};
use couloir::flow::plain::{Plain, Settings};
use couloir::mesh::periodic::join_periodic;
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

/// Shapes of the cells of boxes.
pub const SHAPES: [BoxShape; 3] = [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra];

/// Boxes of each shape: stretched, with inner points moved, and periodic in x and z.
pub fn meshes() -> Vec<(String, Mesh)> {
    let mut out = Vec::new();
    for shape in SHAPES {
        let spec = BoxSpec {
            shape,
            cells: [5, 4, 3],
            max: [1.5, 1.0, 0.8],
            stretch: [0.0, 1.5, 0.5],
            ..BoxSpec::default()
        };
        out.push((format!("{shape:?} stretched"), box_mesh(&spec).unwrap()));
        out.push((format!("{shape:?} moved"), moved(cube(shape, 4, 0.0, 1.0))));
        let mut periodic = box_mesh(&spec).unwrap();
        join_periodic(&mut periodic, "xmin", "xmax").unwrap();
        join_periodic(&mut periodic, "zmin", "zmax").unwrap();
        out.push((format!("{shape:?} periodic"), periodic));
    }
    for file in ["cube_tet_8_22", "hybrid_6_41", "cavity_prism_24_22"] {
        out.push((file.to_string(), gmsh(file)));
    }
    out
}

/// Moves the inner points of a unit cube of 4 blocks by up to a fifth of a block.
pub fn moved(mut mesh: Mesh) -> Mesh {
    let mut rng = fastrand::Rng::with_seed(9);
    for point in &mut mesh.points {
        if point.iter().all(|x| *x > 1e-9 && *x < 1.0 - 1e-9) {
            for x in point {
                *x += 0.05 * (2.0 * rng.f64() - 1.0);
            }
        }
    }
    mesh
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

/// Velocity component `k` at `x` of a flow in the x-y plane: a quadratic fitted to the nearest
/// cells and boundary faces.
pub fn sample(setup: &Setup, u: &Vectors, u_b: &Vectors, k: usize, x: [f64; 2]) -> f64 {
    let cells = setup.geometry.centre.iter().zip(&u[k]);
    let walls = setup.boundary().iter().zip(&u_b[k]);
    let kind = |b: usize| setup.ops.boundary.kind[b] == FaceKind::Dirichlet;
    let walls = walls.enumerate().filter(|(b, _)| kind(*b)).map(|(_, w)| w);
    let mut near: Vec<(f64, [f64; 2], f64)> = cells
        .chain(walls)
        .map(|(c, v)| {
            let r = [c[0] - x[0], c[1] - x[1]];
            (r[0].hypot(r[1]), r, *v)
        })
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    near.truncate(14);
    let size = near[13].0;
    // Normal equations of the six coefficients; the first is the value at x.
    let mut a = [[0.0; 7]; 6];
    for (distance, r, v) in near {
        let (p, q) = (r[0] / size, r[1] / size);
        let weight = 1.0 / (0.01 + (distance / size).powi(2));
        let basis = [1.0, p, q, p * p, p * q, q * q, v];
        for i in 0..6 {
            for j in 0..7 {
                a[i][j] += weight * basis[i] * basis[j];
            }
        }
    }
    for i in 0..6 {
        let pivot = (i..6)
            .max_by(|&m, &n| a[m][i].abs().total_cmp(&a[n][i].abs()))
            .unwrap();
        a.swap(i, pivot);
        for j in 0..6 {
            if j != i {
                let factor = a[j][i] / a[i][i];
                for c in i..7 {
                    a[j][c] -= factor * a[i][c];
                }
            }
        }
    }
    a[0][6] / a[0][0]
}

/// Largest differences of u and v on the centrelines of a unit cavity from Ghia, Ghia and Shin
/// (1982), misprints left out.
pub fn ghia(setup: &Setup, u: &Vectors, u_b: &Vectors, re: f64) -> (f64, f64) {
    let column = format!("_Re{re}");
    let read = |file: &str| -> Vec<[f64; 2]> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data")
            .join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines().filter(|l| !l.starts_with('#'));
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let wanted = header.iter().position(|h| h.ends_with(&column)).unwrap();
        lines
            .map(|l| {
                let row: Vec<f64> = l.split(',').map(|v| v.parse().unwrap()).collect();
                [row[0], row[wanted]]
            })
            .collect()
    };
    let inner = |s: f64| s > 0.0 && s < 1.0;
    let misprint = |x: f64| re > 100.0 && (x - 0.9063).abs() < 1e-9;
    let mut worst = (0.0f64, 0.0f64);
    for [y, want] in read("ghia1982_u_vertical_centreline.csv") {
        if inner(y) {
            worst.0 = worst
                .0
                .max((sample(setup, u, u_b, 0, [0.5, y]) - want).abs());
        }
    }
    for [x, want] in read("ghia1982_v_horizontal_centreline.csv") {
        if inner(x) && !misprint(x) {
            worst.1 = worst
                .1
                .max((sample(setup, u, u_b, 1, [x, 0.5]) - want).abs());
        }
    }
    worst
}
