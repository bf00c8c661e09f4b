//! The lid-driven cavity against Ghia, Ghia and Shin (1982).

use crate::flows::{Setup, field, ghia, sample, settings, setup};
use couloir::flow::boundary::{FaceKind, Vectors};
use couloir::flow::operators::Scheme;
use couloir::flow::plain::Plain;
use couloir::mesh::{BoxShape, BoxSpec, Mesh, box_mesh};

/// A unit cavity, `n` by `n` blocks, one thick.
fn flat(shape: BoxShape, n: usize) -> Mesh {
    let spec = BoxSpec {
        shape,
        cells: [n, n, 1],
        max: [1.0, 1.0, 0.1],
        ..BoxSpec::default()
    };
    box_mesh(&spec).unwrap()
}

struct Run {
    setup: Setup,
    u: Vectors,
    u_b: Vectors,
}

impl Run {
    /// Steps until the velocity changes by less than `still` per unit time, from a flow on
    /// another mesh or from rest.
    fn to_steady(mesh: Mesh, scheme: Scheme, re: f64, still: f64, from: Option<&Run>) -> Run {
        let setup = setup(mesh, scheme, |patch| match patch {
            "frontAndBack" | "zmin" | "zmax" => FaceKind::Slip,
            _ => FaceKind::Dirichlet,
        });
        let lid = field(setup.boundary(), |x| match x[1] > 1.0 - 1e-9 {
            true => [1.0, 0.0, 0.0],
            false => [0.0; 3],
        });
        let start = field(&setup.geometry.centre, |x| match from {
            Some(run) => {
                let at = |k| sample(&run.setup, &run.u, &run.u_b, k, [x[0], x[1]]);
                [at(0), at(1), 0.0]
            }
            None => [0.0; 3],
        });
        let nu = 1.0 / re;
        let rate = setup.ops.viscous_rate.iter().fold(0.0f64, |m, r| m.max(*r));
        let viscous = 0.9 / (nu * rate);
        let mut plain = Plain::new(&setup.ops, settings(nu, 1e-4), start, &lid, 1e-3).unwrap();
        let mut before = plain.state.u.clone();
        let (mut t, mut then, mut steps) = (0.0, 0.0, 0);
        loop {
            let dt = viscous.min(0.7 / plain.courant_max(1.0));
            plain.step(dt, &lid).unwrap();
            t += dt;
            steps += 1;
            if t > then + 0.5 {
                let now = &plain.state.u[0];
                let change = now
                    .iter()
                    .zip(&before[0])
                    .fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                let change = change / (t - then);
                (before, then) = (plain.state.u.clone(), t);
                if change < still {
                    break;
                }
                assert!(t < 80.0, "no steady flow: {change} per unit time");
            }
        }
        eprintln!(
            "Re {re}: {} cells, {steps} steps to t = {t:.2}",
            setup.ops.cells
        );
        let state = plain.state;
        Run {
            setup,
            u: state.u,
            u_b: state.u_b,
        }
    }

    fn assert_ghia(&self, re: f64) {
        let (u, v) = ghia(&self.setup, &self.u, &self.u_b, re);
        eprintln!("Re {re}: u {u:.4}, v {v:.4} from Ghia");
        assert!(u < 0.01 && v < 0.01, "Re {re}: u {u}, v {v} from Ghia");
    }
}

/// Largest rate of change, per unit time, of a flow that is called steady.
const STILL: f64 = 3e-4;

fn hexahedra(re: f64) -> Run {
    let symmetric = Scheme::SymmetryPreserving;
    let coarse = Run::to_steady(flat(BoxShape::Hexahedra, 32), symmetric, re, STILL, None);
    let fine = flat(BoxShape::Hexahedra, 64);
    Run::to_steady(fine, symmetric, re, STILL, Some(&coarse))
}

fn against_ghia(re: f64) {
    let run = hexahedra(re);
    run.assert_ghia(re);
    let prisms = flat(BoxShape::Prisms, 46);
    Run::to_steady(prisms, Scheme::Consistent, re, STILL, Some(&run)).assert_ghia(re);
}

#[test]
fn re_100_on_hexahedra_and_prisms() {
    against_ghia(100.0);
}

#[test]
fn re_400_on_hexahedra_and_prisms() {
    against_ghia(400.0);
}
