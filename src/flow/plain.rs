//! The reference time step: serial, plain, never tuned. Faster steppers are judged by it.

mod pcg;
mod terms;

pub use pcg::{Solve, solve};
pub use terms::{THETA_GAIN, THETA_MAX, THETA_MIN};

use crate::Result;
use crate::flow::boundary::Vectors;
use crate::flow::operators::{Operators, Scheme};

/// What does not change from step to step.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Kinematic viscosity, m2/s.
    pub nu: f64,
    /// Body force per mass, m/s2.
    pub force: [f64; 3],
    /// Relative residual of the pressure solve.
    pub tolerance: f64,
    /// Most iterations of the pressure solve.
    pub max_iterations: usize,
}

/// Fields between two steps.
#[derive(Clone, Debug)]
pub struct State {
    /// Velocity in cells, m/s.
    pub u: Vectors,
    /// Velocity at boundary faces, m/s.
    pub u_b: Vectors,
    /// Pressure in cells, m2/s2.
    pub p: Vec<f64>,
    /// Pressure at nodes.
    pub p_hat: Vec<f64>,
    /// Pressure gradient in cells, m/s2.
    pub g: Vectors,
    /// Flux through faces, m3/s.
    pub phi: Vec<f64>,
    /// Convection and diffusion of the previous step, and its dt.
    pub old: Option<(Vectors, f64)>,
    /// Upwinding used in the last step.
    pub theta: f64,
}

/// The reference stepper.
pub struct Plain<'a> {
    ops: &'a Operators,
    settings: Settings,
    /// The fields.
    pub state: State,
}

fn zeros(n: usize) -> Vectors {
    std::array::from_fn(|_| vec![0.0; n])
}

fn at(u: &Vectors, i: usize) -> [f64; 3] {
    [u[0][i], u[1][i], u[2][i]]
}

fn dot3(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Nodal pressures, and the pressure's gradient in cells.
fn nodes_and_gradient(ops: &Operators, p: &[f64]) -> (Vec<f64>, Vectors) {
    let mut p_hat = ops.nodal_pressure.apply(p);
    let base = &ops.nodal_pressure_base;
    p_hat.iter_mut().zip(base).for_each(|(p, b)| *p += b);
    let mut g = ops.gradient_base.clone();
    ops.gradient_cells.add_each(p, &mut g);
    ops.gradient_nodes.add_each(&p_hat, &mut g);
    (p_hat, g)
}

impl<'a> Plain<'a> {
    /// Starts from the cell velocities `u` and the velocities `given` at Dirichlet faces.
    ///
    /// The fluxes start as those of `u`, made free of divergence; the pressure as that of a
    /// first step of length `dt`, which is then taken back.
    ///
    /// # Errors
    /// The pressure solve does not converge.
    pub fn new(
        ops: &'a Operators,
        settings: Settings,
        u: Vectors,
        given: &Vectors,
        dt: f64,
    ) -> Result<Self> {
        let p = vec![ops.boundary.mean_pressure(); ops.cells];
        let (p_hat, g) = nodes_and_gradient(ops, &p);
        let state = State {
            u,
            u_b: zeros(ops.boundary.len()),
            p,
            p_hat,
            g,
            phi: vec![0.0; ops.faces],
            old: None,
            theta: 0.0,
        };
        let mut out = Self {
            ops,
            settings,
            state,
        };
        let uhat = out.nodal_velocity(&out.state.u, given);
        out.state.phi = out.flux(&out.state.u, &uhat, given);
        let mut potential = vec![0.0; ops.cells];
        out.solve(&out.state.phi, &mut potential, 1.0)?;
        let correction = ops.pressure_flux.apply(&potential);
        for (phi, f) in out.state.phi.iter_mut().zip(correction) {
            *phi -= f;
        }
        out.update_boundary(given);
        let start = out.state.clone();
        out.step(dt, given)?;
        out.state = State {
            p: out.state.p,
            p_hat: out.state.p_hat,
            g: out.state.g,
            ..start
        };
        Ok(out)
    }

    fn update_boundary(&mut self, given: &Vectors) {
        let State { u, u_b, phi, .. } = &mut self.state;
        let outward = &phi[self.ops.interior_faces..];
        self.ops.boundary.update(given, u, outward, u_b);
    }

    /// `H_v [u; u_b]`.
    fn nodal_velocity(&self, u: &Vectors, u_b: &Vectors) -> Vectors {
        std::array::from_fn(|k| {
            let mut uhat = self.ops.nodal_velocity.apply(&u[k]);
            let given = self.ops.nodal_velocity_boundary.apply(&u_b[k]);
            uhat.iter_mut().zip(given).for_each(|(uhat, b)| *uhat += b);
            uhat
        })
    }

    /// `A (Gamma u + Delta_Gamma uhat)`, with the fluxes given at Dirichlet faces.
    fn flux(&self, u: &Vectors, uhat: &Vectors, given: &Vectors) -> Vec<f64> {
        let mut phi = vec![0.0; self.ops.faces];
        self.ops.flux_cells.add_dot(u, &mut phi);
        self.ops.flux_nodes.add_dot(uhat, &mut phi);
        let outward = &mut phi[self.ops.interior_faces..];
        for (phi, b) in outward.iter_mut().zip(self.ops.boundary.given_flux(given)) {
            *phi += b;
        }
        phi
    }

    /// `L p = -M phi / dt`, from the guess in `p`.
    fn solve(&self, phi: &[f64], p: &mut [f64], dt: f64) -> Result<Solve> {
        let mut b = self.ops.divergence.apply(phi);
        b.iter_mut().for_each(|b| *b /= -dt);
        let Settings {
            tolerance,
            max_iterations,
            ..
        } = self.settings;
        let singular = self.ops.boundary.is_singular();
        solve(
            &self.ops.laplacian,
            &b,
            p,
            singular,
            tolerance,
            max_iterations,
        )
    }

    /// One time step of length `dt`, to the time at which Dirichlet faces have the velocity
    /// `given`.
    ///
    /// # Errors
    /// The pressure solve does not converge.
    pub fn step(&mut self, dt: f64, given: &Vectors) -> Result<Solve> {
        let ops = self.ops;
        let uhat = self.nodal_velocity(&self.state.u, &self.state.u_b);
        self.state.theta = self.theta(&uhat);
        let r = self.momentum(&uhat, self.state.theta);
        // Adams-Bashforth with a variable step, Euler at first.
        let ratio = self.state.old.as_ref().map_or(0.0, |(_, old)| dt / old);
        let (c1, c0) = (1.0 + 0.5 * ratio, -0.5 * ratio);
        let mut v = self.state.u.clone();
        for k in 0..3 {
            for i in 0..ops.cells {
                let old = self.state.old.as_ref().map_or(0.0, |(old, _)| old[k][i]);
                let rate = c1 * r[k][i] + c0 * old + self.settings.force[k] - self.state.g[k][i];
                v[k][i] += dt * rate;
            }
        }
        let mut phi = match ops.scheme {
            Scheme::SymmetryPreserving => {
                let mut phi = self.flux(&v, &uhat, given);
                let kept = ops.pressure_flux.apply(&self.state.p);
                phi.iter_mut().zip(kept).for_each(|(phi, f)| *phi += dt * f);
                phi
            }
            Scheme::Consistent => self.consistent_flux(&v, &uhat, given, dt),
        };
        let mut p = self.state.p.clone();
        let solve = self.solve(&phi, &mut p, dt)?;
        let flux = ops.pressure_flux.apply(&p);
        phi.iter_mut().zip(flux).for_each(|(phi, f)| *phi -= dt * f);

        let (p_hat, g) = nodes_and_gradient(ops, &p);
        for k in 0..3 {
            for i in 0..ops.cells {
                v[k][i] -= dt * (g[k][i] - self.state.g[k][i]);
            }
        }
        self.state = State {
            u: v,
            u_b: std::mem::take(&mut self.state.u_b),
            p,
            p_hat,
            g,
            phi,
            old: Some((r, dt)),
            theta: self.state.theta,
        };
        self.update_boundary(given);
        Ok(solve)
    }

    /// `sum of V |u|^2 / 2`, m5/s2.
    pub fn kinetic_energy(&self) -> f64 {
        let u = &self.state.u;
        (0..self.ops.cells)
            .map(|i| 0.5 * self.ops.volume[i] * dot3(at(u, i), at(u, i)))
            .sum()
    }

    /// Largest `|M phi|`, m3/s.
    pub fn divergence_max(&self) -> f64 {
        let div = self.ops.divergence.apply(&self.state.phi);
        div.iter().fold(0.0, |m, d| m.max(d.abs()))
    }

    /// Courant number of the fluxes: largest `sum |phi| dt / (2 V)` of a cell.
    pub fn courant_max(&self, dt: f64) -> f64 {
        let ops = self.ops;
        (0..ops.cells)
            .map(|i| {
                let through = ops.divergence.row(i).map(|(f, _)| self.state.phi[f].abs());
                through.sum::<f64>() * dt / (2.0 * ops.volume[i])
            })
            .fold(0.0, f64::max)
    }
}
