//! Convection and diffusion, and the prediction of the velocity.

use super::matrices::MomentumMatrices;
use super::{Field, Operands, Result, Stepper, call};
use crate::cluster::Reach;
use crate::flow::operators::Scheme;
use crate::flow::plain::{THETA_GAIN, THETA_MAX, THETA_MIN};
use crate::linear::Precise;
use crate::node::Buffer;
use crate::split::Engine;

fn three<T: Precise>(f: &mut Field<T>) -> [&mut Buffer<T>; 3] {
    f.each_mut()
}

impl<T: Precise> Stepper<T> {
    /// Starts [`predict_by_cells`](Self::predict_by_cells) of the next step where the device does that while the
    /// host waits for what this one comes to, if steps are as long as each other.
    pub(super) fn predict_ahead(&mut self, engine: &Engine<T>) -> Result<()> {
        let by_cells = self.scheme == Scheme::SymmetryPreserving;
        self.ahead = (self.dt_old)
            .filter(|_| by_cells && self.steady && engine.runs_unwatched(&self.s.convect));
        match self.ahead {
            Some(dt) => self.start_by_cells(engine, dt),
            None => Ok(()),
        }
    }

    /// `R = (nu D + E_C phi) u + boundary and force`, and as [`predict`](Self::predict).
    pub(super) fn predict_by_cells(&mut self, engine: &Engine<T>, dt: f64) -> Result<()> {
        if self.ahead.take() != Some(dt) {
            self.start_by_cells(engine, dt)?;
        }
        engine.update(&self.halo, Reach::Face, &mut three(&mut self.f.v))
    }

    fn start_by_cells(&mut self, engine: &Engine<T>, dt: f64) -> Result<()> {
        let scalars = self.weights(dt);
        let MomentumMatrices::Cells(m) = &self.m.momentum else {
            return Ok(());
        };
        let ([a, c], [b0, b1, b2]) = (&m.mats, &self.boundary.momentum);
        let f = &mut self.f;
        let [r0, r1, r2] = f.r.each_mut();
        let [s0, s1, s2] = f.star.each_mut();
        let [v0, v1, v2] = f.v.each_mut();
        let ([u0, u1, u2], [o0, o1, o2], [g0, g1, g2]) = (&f.u, &f.r_old, &f.g);
        call(
            engine,
            &mut self.s.convect,
            Operands {
                out: &mut [r0, r1, r2, s0, s1, s2, v0, v1, v2],
                own: &[u0, u1, u2, o0, o1, o2, g0, g1, g2],
                repeated: &[b0, b1, b2, &m.values],
                gather: &[u0, u1, u2, &f.phi],
                mats: &[a, c],
                scalars: &scalars,
                ..Operands::default()
            },
        )
    }

    /// Of the right-hand side now and at the step before, and dt: Adams-Bashforth with a variable step, Euler at
    /// first.
    fn weights(&self, dt: f64) -> [T; 3] {
        let ratio = self.dt_old.map_or(0.0, |old| dt / old);
        [dt * (1.0 + 0.5 * ratio), dt * (-0.5 * ratio), dt].map(T::of)
    }

    /// Nodal velocities of `u`, or of the prediction: `H_v u + H_b u_b`.
    pub(super) fn nodal_velocity(&mut self, engine: &Engine<T>, predicted: bool) -> Result<()> {
        if self.f.uhat[0].is_empty() {
            return Ok(());
        }
        let (out, of) = if predicted {
            (&mut self.f.uhat_e, &self.f.v)
        } else {
            (&mut self.f.uhat, &self.f.u)
        };
        call(
            engine,
            &mut self.s.nodal,
            Operands {
                out: &mut three(out),
                own: &self.boundary.nodes.each_ref(),
                gather: &of.each_ref(),
                mats: &[&self.m.nodal_velocity],
                ..Operands::default()
            },
        )
    }

    /// Momentum fluxes through faces with the present upwinding, then their balance in cells.
    /// The upwinding follows the energy budget of the step before, so that one pass gives both.
    pub(super) fn momentum_by_faces(&mut self, engine: &Engine<T>) -> Result<()> {
        if self.budget.is_none() {
            self.theta = THETA_MIN;
            self.face_fluxes(engine)?;
        }
        let (produced, dissipated) = self.budget.unwrap_or_default();
        let wanted = if dissipated > 0.0 {
            THETA_GAIN * produced.max(0.0) / dissipated
        } else {
            0.0
        };
        self.theta = (THETA_MIN + wanted).min(THETA_MAX);
        self.face_fluxes(engine)?;
        let MomentumMatrices::Faces { gather, .. } = &self.m.momentum else {
            return Ok(());
        };
        call(
            engine,
            &mut self.s.gather,
            Operands {
                out: &mut three(&mut self.f.r),
                own: &self.boundary.force.each_ref(),
                gather: &self.f.flux.each_ref(),
                mats: &[gather],
                ..Operands::default()
            },
        )
    }

    fn face_fluxes(&mut self, engine: &Engine<T>) -> Result<()> {
        let MomentumMatrices::Faces { cells, nodes, .. } = &self.m.momentum else {
            return Ok(());
        };
        let ([u, v, w], [a, b, c]) = (&self.f.u, &self.f.uhat);
        let [base_u, base_v, base_w] = &self.boundary.momentum;
        let s = engine.run(
            &mut self.s.momentum_flux,
            Operands {
                out: &mut three(&mut self.f.flux),
                own: &[&self.f.phi],
                repeated: &[base_u, base_v, base_w],
                gather: &[u, v, w, a, b, c],
                mats: &[cells, nodes],
                scalars: &[T::of(0.5 * self.theta), T::of(self.settings.nu)],
                ..Operands::default()
            },
        )?;
        let [gu, gv, gw] = &self.f.g;
        let power = engine.run(
            &mut self.s.power,
            Operands {
                own: &[u, v, w, gu, gv, gw],
                repeated: &[&self.f.volume],
                ..Operands::default()
            },
        )?;
        let produced =
            s[0].f64() - power[0].f64() + self.boundary.pressure_power(&self.f, &self.p, engine)?;
        self.budget = Some((produced, 0.5 * s[1].f64()));
        Ok(())
    }

    /// `u* = u + c1 R + c0 R_old`, `v = u* - dt g`, with halos (consistent).
    pub(super) fn predict(&mut self, engine: &Engine<T>, dt: f64) -> Result<()> {
        let scalars = self.weights(dt);
        let f = &mut self.f;
        let [s0, s1, s2] = f.star.each_mut();
        let [v0, v1, v2] = f.v.each_mut();
        let ([u0, u1, u2], [r0, r1, r2]) = (&f.u, &f.r);
        let ([o0, o1, o2], [g0, g1, g2]) = (&f.r_old, &f.g);
        call(
            engine,
            &mut self.s.predict,
            Operands {
                out: &mut [s0, s1, s2, v0, v1, v2],
                own: &[u0, u1, u2, r0, r1, r2, o0, o1, o2, g0, g1, g2],
                scalars: &scalars,
                ..Operands::default()
            },
        )?;
        let ([s0, s1, s2], [v0, v1, v2]) = (f.star.each_mut(), f.v.each_mut());
        engine.update(&self.halo, Reach::Node, &mut [s0, s1, s2, v0, v1, v2])
    }
}
