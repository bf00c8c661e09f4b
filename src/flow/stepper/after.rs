//! What follows the pressure.

use super::fields::Fields;
use super::matrices::Matrices;
use super::sites::Sites;
use super::{Operands, Result, call};
use crate::kernel::Real;
use crate::node::Buffer;
use crate::split::Engine;

/// The flux that a pressure makes free of divergence, and its velocity. They come of what the
/// prediction has left, so that they can be computed again, of a better pressure.
pub(super) struct After<'a, T: Real> {
    pub sites: &'a mut Sites<T>,
    pub m: &'a Matrices<T>,
    pub f: &'a mut Fields<T>,
    pub dt: f64,
    /// Not the flux alone.
    pub corrects: bool,
}

impl<T: Real> After<'_, T> {
    /// Whether the device does all of it, and nobody measures that.
    pub fn runs_unwatched(&self, engine: &Engine<T>) -> bool {
        let s = &self.sites;
        let nodes = self.f.p_hat.is_empty() || engine.runs_unwatched(&s.nodal_pressure);
        nodes && engine.runs_unwatched(&s.close) && engine.runs_unwatched(&s.correct)
    }

    /// Starts it, of the pressure `p`.
    pub fn start(&mut self, engine: &Engine<T>, p: &Buffer<T>) -> Result<()> {
        self.close(engine, p)?;
        if self.corrects {
            self.correct(engine, p)?;
        }
        Ok(())
    }

    /// `phi = psi - dt F_0 p`: free of divergence to the solver's accuracy.
    fn close(&mut self, engine: &Engine<T>, p: &Buffer<T>) -> Result<()> {
        call(
            engine,
            &mut self.sites.close,
            Operands {
                out: &mut [&mut self.f.phi],
                own: &[&self.f.psi],
                gather: &[p],
                mats: &[&self.m.pressure_flux],
                scalars: &[T::of(-self.dt)],
                ..Operands::default()
            },
        )
    }

    /// `p_hat = H_0 p`, `g = G p`, `u = u* - dt g`; its reductions are what a
    /// [speed](super::Stepper::speeds) is made of.
    pub fn correct(&mut self, engine: &Engine<T>, p: &Buffer<T>) -> Result<()> {
        let (s, f) = (&mut self.sites, &mut self.f);
        if !f.p_hat.is_empty() {
            call(
                engine,
                &mut s.nodal_pressure,
                Operands {
                    out: &mut [&mut f.p_hat],
                    own: &[&f.p_hat_base],
                    gather: &[p],
                    mats: &[&self.m.nodal_pressure],
                    scalars: &[T::of(1.0)],
                    ..Operands::default()
                },
            )?;
        }
        let [u0, u1, u2] = f.u.each_mut();
        let [g0, g1, g2] = f.g.each_mut();
        let ([s0, s1, s2], [b0, b1, b2]) = (&f.star, &f.g_base);
        call(
            engine,
            &mut s.correct,
            Operands {
                out: &mut [u0, u1, u2, g0, g1, g2],
                own: &[s0, s1, s2],
                repeated: &[b0, b1, b2, &f.volume],
                gather: &[p, &f.p_hat],
                mats: &[&self.m.gradient_cells, &self.m.gradient_nodes],
                scalars: &[T::of(self.dt)],
                ..Operands::default()
            },
        )
    }
}
