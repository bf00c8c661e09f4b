//! The split time step: against the plain one, and bit-identical for every split, memory and
//! number of threads.

use couloir::flow::boundary::{FaceKind, Vectors};
use couloir::flow::exact::{EthierSteinman, Flow};
use couloir::flow::operators::{Operators, Scheme};
use couloir::flow::plain::{Plain, Settings};
use couloir::flow::stepper::Stepper;
use couloir::mesh::{BoxShape, BoxSpec, Geometry, Mesh, box_mesh};
use couloir::node::opencl::devices;
use couloir::node::{Config, DeviceChoice, MemoryKind};
use couloir::split::{Engine, Policy};

const NU: f64 = 0.05;
const DT: f64 = 0.01;

struct Flow3d {
    mesh: Mesh,
    geometry: Geometry,
    ops: Operators,
    settings: Settings,
}

impl Flow3d {
    fn new(shape: BoxShape, n: usize, scheme: Scheme, kind: impl Fn(&str) -> FaceKind) -> Self {
        let mesh = box_mesh(&BoxSpec {
            shape,
            cells: [n; 3],
            min: [-1.0; 3],
            max: [1.0; 3],
            ..BoxSpec::default()
        })
        .unwrap();
        let geometry = Geometry::of(&mesh);
        let kinds: Vec<FaceKind> = mesh
            .patches
            .iter()
            .flat_map(|p| p.faces.clone().map(|_| kind(&p.name)).collect::<Vec<_>>())
            .collect();
        let ops = Operators::build(&mesh, &geometry, &kinds, scheme).unwrap();
        Self {
            mesh,
            geometry,
            ops,
            settings: Settings {
                nu: NU,
                force: [0.1, 0.0, -0.05],
                tolerance: 1e-11,
                max_iterations: 2000,
            },
        }
    }

    fn start(&self) -> Vectors {
        let u: Vec<_> = self
            .geometry
            .centre
            .iter()
            .map(|&x| EthierSteinman.velocity(x, 0.0, NU))
            .collect();
        std::array::from_fn(|k| u.iter().map(|u| u[k]).collect())
    }

    fn given(&self, t: f64) -> Vectors {
        let first = self.mesh.interior_faces();
        let u: Vec<_> = (first..self.mesh.faces())
            .map(|f| EthierSteinman.velocity(self.geometry.face_centre[f], t, NU))
            .collect();
        std::array::from_fn(|k| u.iter().map(|u| u[k]).collect())
    }

    fn split(&self, engine: &Engine<f64>, steps: usize) -> Vec<Vec<f64>> {
        let mut s = Stepper::new(
            engine,
            &self.ops,
            self.settings,
            &self.start(),
            &self.given(0.0),
            DT,
        )
        .unwrap();
        for i in 1..=steps {
            s.step(engine, DT, &self.given(DT * i as f64)).unwrap();
        }
        let mut out: Vec<Vec<f64>> = s.velocity().unwrap().map(<[f64]>::to_vec).into();
        out.push(s.pressure().unwrap().to_vec());
        out.push(s.flux().unwrap().to_vec());
        out
    }
}

fn engine(
    device: DeviceChoice,
    memory: Option<MemoryKind>,
    threads: usize,
    ratio: f64,
) -> Engine<f64> {
    let config = Config {
        device,
        memory,
        threads: Some(threads),
        ..Config::default()
    };
    Engine::open(&config, Policy::Fixed(ratio)).unwrap()
}

fn dirichlet(_: &str) -> FaceKind {
    FaceKind::Dirichlet
}

/// Slip below and above, outflow to the right: every kind of boundary.
fn mixed(name: &str) -> FaceKind {
    match name {
        "zmin" | "zmax" => FaceKind::Slip,
        "xmax" => FaceKind::Outlet(0.3),
        _ => FaceKind::Dirichlet,
    }
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    a.iter()
        .zip(b)
        .fold(0.0f64, |m, (x, y)| m.max((x - y).abs()))
        / size
}

#[test]
fn follows_the_plain_step() {
    for (shape, scheme, kind) in [
        (
            BoxShape::Hexahedra,
            Scheme::SymmetryPreserving,
            dirichlet as fn(&str) -> FaceKind,
        ),
        (BoxShape::Hexahedra, Scheme::SymmetryPreserving, mixed),
        (BoxShape::Tetrahedra, Scheme::Consistent, dirichlet),
        (BoxShape::Prisms, Scheme::Consistent, mixed),
    ] {
        let flow = Flow3d::new(shape, 5, scheme, kind);
        let steps = 5;
        let mut plain =
            Plain::new(&flow.ops, flow.settings, flow.start(), &flow.given(0.0), DT).unwrap();
        for i in 1..=steps {
            plain.step(DT, &flow.given(DT * i as f64)).unwrap();
        }
        let mut split = flow.split(&engine(DeviceChoice::None, None, 2, 0.0), steps);
        let s = &mut plain.state;
        if flow.ops.boundary.is_singular() {
            // The pressure is defined up to a constant.
            for p in [&mut split[3], &mut s.p] {
                let mean = p.iter().sum::<f64>() / p.len() as f64;
                p.iter_mut().for_each(|p| *p -= mean);
            }
        }
        for (k, expected) in [&s.u[0], &s.u[1], &s.u[2], &s.p, &s.phi]
            .into_iter()
            .enumerate()
        {
            let d = largest_difference(&split[k], expected);
            assert!(
                d < 1e-7,
                "{shape:?} {scheme:?}: field {k} differs by {d:.1e}"
            );
        }
    }
}

#[test]
fn fields_after_50_steps_do_not_depend_on_the_split() {
    let found = devices().unwrap_or_else(|why| {
        eprintln!("SKIPPED on devices: {why}");
        Vec::new()
    });
    for (shape, scheme) in [
        (BoxShape::Hexahedra, Scheme::SymmetryPreserving),
        (BoxShape::Tetrahedra, Scheme::Consistent),
    ] {
        let flow = Flow3d::new(
            shape,
            if shape == BoxShape::Hexahedra { 9 } else { 5 },
            scheme,
            dirichlet,
        );
        let expected = flow.split(&engine(DeviceChoice::None, None, 1, 0.0), 50);
        assert!(expected.iter().flatten().all(|x| x.is_finite()));
        for threads in [2, 3] {
            let got = flow.split(&engine(DeviceChoice::None, None, threads, 0.0), 50);
            assert!(
                got == expected,
                "{scheme:?}: {threads} threads differ from 1"
            );
        }
        for d in found.iter().filter(|d| d.fp64) {
            for (ratio, threads) in [(0.0, 1), (0.25, 1), (0.5, 2), (0.9, 1), (1.0, 2)] {
                let got = flow.split(
                    &engine(DeviceChoice::Index(d.index), None, threads, ratio),
                    50,
                );
                assert!(
                    got == expected,
                    "{scheme:?} on {}: split {ratio}, {threads} threads differ",
                    d.name
                );
            }
            let of_both = [MemoryKind::ZeroCopy, MemoryKind::Discrete];
            let all = of_both.into_iter().flat_map(|m| [(m, 0.5), (m, 1.0)]);
            for (memory, ratio) in all.filter(|(m, _)| d.offers(*m)) {
                let engine = engine(DeviceChoice::Index(d.index), Some(memory), 1, ratio);
                let got = flow.split(&engine, 50);
                assert!(
                    got == expected,
                    "{scheme:?} on {}: {memory:?}, {ratio} differs",
                    d.name
                );
            }
        }
    }
}

/// What a device has started for a step as long as the last ones is made anew for another.
#[test]
fn steps_of_changing_length_are_the_same_bits_on_devices() {
    let flow = Flow3d::new(BoxShape::Hexahedra, 6, Scheme::SymmetryPreserving, mixed);
    let steps = |engine: &Engine<f64>| {
        let (u, given) = (flow.start(), flow.given(0.0));
        let mut s = Stepper::new(engine, &flow.ops, flow.settings, &u, &given, DT).unwrap();
        for i in 0..40 {
            let dt = if i / 4 % 2 == 0 { DT } else { 0.6 * DT };
            s.step(engine, dt, None).unwrap();
        }
        let mut bits: Vec<u64> = s.flux().unwrap().iter().map(|x| x.to_bits()).collect();
        let velocity = s.velocity().unwrap().into_iter().flatten();
        bits.extend(velocity.map(|x| x.to_bits()));
        bits
    };
    let want = steps(&engine(DeviceChoice::None, None, 1, 0.0));
    let found = devices().unwrap_or_else(|why| {
        eprintln!("SKIPPED on devices: {why}");
        Vec::new()
    });
    for d in found.iter().filter(|d| d.fp64) {
        for memory in [None, Some(MemoryKind::Discrete)] {
            if memory.is_some_and(|kind| !d.offers(kind)) {
                eprintln!("SKIPPED: {}: no memory of its own", d.name);
                continue;
            }
            let got = steps(&engine(DeviceChoice::Index(d.index), memory, 1, 1.0));
            assert!(got == want, "{}, {memory:?}", d.name);
        }
    }
}

#[test]
fn a_step_tells_of_its_fluxes_what_is_found_when_asked() {
    let found = devices().unwrap_or_else(|why| {
        eprintln!("SKIPPED on devices: {why}");
        Vec::new()
    });
    let on_devices = found.iter().filter(|d| d.fp64);
    let on_devices = on_devices.flat_map(|d| [0.5, 1.0].map(|r| (DeviceChoice::Index(d.index), r)));
    let mut engines = vec![engine(DeviceChoice::None, None, 2, 0.0)];
    engines.extend(on_devices.map(|(device, ratio)| engine(device, None, 1, ratio)));
    for (shape, scheme) in [
        (BoxShape::Hexahedra, Scheme::SymmetryPreserving),
        (BoxShape::Prisms, Scheme::Consistent),
    ] {
        let flow = Flow3d::new(shape, 6, scheme, mixed);
        let (u, given) = (flow.start(), flow.given(0.0));
        for engine in &engines {
            let mut s = Stepper::new(engine, &flow.ops, flow.settings, &u, &given, DT).unwrap();
            let mut before = s.monitor(engine).unwrap();
            for i in 1..=3 {
                let given = flow.given(DT * f64::from(i));
                let told = s.step(engine, DT, &given).unwrap().monitor;
                assert_eq!(told, s.monitor(engine).unwrap(), "{scheme:?}, step {i}");
                assert!(told.rate_max > 0.0 && told.divergence_sum > 0.0);
                assert_ne!(told, before, "{scheme:?}, step {i}");
                before = told;
            }
        }
    }
}

#[test]
fn boundaries_that_stay_need_not_be_given() {
    let flow = Flow3d::new(BoxShape::Hexahedra, 6, Scheme::SymmetryPreserving, mixed);
    let engine = engine(DeviceChoice::None, None, 2, 0.0);
    let (u, given) = (flow.start(), flow.given(0.0));
    let [once, always] = [false, true].map(|again| {
        let mut s = Stepper::new(&engine, &flow.ops, flow.settings, &u, &given, DT).unwrap();
        let other = flow.given(DT);
        s.step(&engine, DT, &other).unwrap();
        for _ in 0..3 {
            s.step(&engine, DT, again.then_some(&other)).unwrap();
        }
        s.velocity().unwrap().map(<[f64]>::to_vec)
    });
    assert!(once == always);
}

#[test]
fn steps_of_so_many_iterations_take_as_many() {
    let flow = Flow3d::new(BoxShape::Hexahedra, 6, Scheme::SymmetryPreserving, mixed);
    let engine = engine(DeviceChoice::None, None, 2, 0.0);
    let (u, given) = (flow.start(), flow.given(0.0));
    let mut s = Stepper::new(&engine, &flow.ops, flow.settings, &u, &given, DT).unwrap();
    let to_tolerance = s.step(&engine, DT, &flow.given(DT)).unwrap().poisson;
    for wanted in [1, 3, 9] {
        assert!(wanted < to_tolerance.iterations);
        s.fix_iterations(wanted);
        let got = s.step(&engine, DT, &flow.given(DT)).unwrap().poisson;
        assert_eq!(got.iterations, wanted);
        assert!(!got.converged && got.residual.is_finite(), "{got:?}");
    }
}
