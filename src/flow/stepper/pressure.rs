//! Fluxes, the pressure equation, and the corrections.

use super::after::After;
use super::matrices::Matrices;
use super::{Field, Operands, Result, Stepper, call};
use crate::Error;
use crate::cluster::Reach;
use crate::flow::operators::Scheme;
use crate::kernel::Real;
use crate::linear::{Bounds, Follow, Precise, Solution};
use crate::node::Buffer;
use crate::sparse::Repeated;
use crate::split::{Engine, Site};

/// A pressure that round-off in single precision leaves a larger relative residual of is none;
/// the round-off in the fluxes that it makes free of divergence is not meant.
const ROUGHEST: f64 = 1e-2;

/// A tolerance that no solve comes down to; its square is a number.
const OUT_OF_REACH: f64 = 1e-150;

impl<T: Precise> Stepper<T> {
    /// `L p = -M psi / dt`, `phi = psi - dt F_0 p`, and of that pressure the velocity, where it
    /// `corrects`. What round-off leaves of the divergence of the present fluxes, `eps sum |phi| / dt`,
    /// is not solved for.
    pub(super) fn project(
        &mut self,
        engine: &Engine<T>,
        dt: f64,
        corrects: bool,
    ) -> Result<Solution> {
        self.divergence(engine, dt)?;
        let floor = T::EPSILON * 2.0 * self.rate_max * self.volume_norm / dt;
        let bounds = match self.fixed {
            Some(max_iterations) => Bounds {
                tolerance: OUT_OF_REACH,
                floor: 0.0,
                max_iterations,
            },
            None => Bounds {
                tolerance: self.settings.tolerance,
                floor,
                max_iterations: self.settings.max_iterations,
            },
        };
        let (b, p) = (&mut self.b, &mut self.p);
        let mut after = After {
            sites: &mut self.s,
            m: &self.m,
            f: &mut self.f,
            dt,
            corrects,
        };
        let ahead = self.halo.is_empty() && after.runs_unwatched(engine);
        let mut follow = |p: &Buffer<T>| after.start(engine, p);
        let follow: Option<Follow<'_, T>> = if ahead { Some(&mut follow) } else { None };
        let (solution, followed) = self.poisson.solve_then(engine, b, p, bounds, follow)?;
        if !followed {
            engine.update(&self.halo, Reach::Node, &mut [p])?;
            after.start(engine, p)?;
        }
        if self.fixed.is_none() {
            self.converged(solution)?;
        }
        Ok(solution)
    }

    fn converged(&self, s: Solution) -> Result<()> {
        // A field that is no longer finite is the caller's to report, with the step's number.
        if !s.residual.is_finite() {
            return Ok(());
        }
        let single = T::EPSILON > f64::EPSILON;
        let left = !s.converged && s.iterations < self.settings.max_iterations;
        // At the start b may be nothing but round-off; what is left of it later is told.
        if single && (s.rounded || left) && s.residual > ROUGHEST && self.rate_max > 0.0 {
            return Err(Error::failure(
                format!(
                    "round-off in {} leaves a relative residual of {:.1e} of the pressure, more \
                     than {ROUGHEST:.0e}: its differences between cells are lost in its size",
                    T::NAME,
                    s.residual
                ),
                "run with --precision fp64 (or mixed, which takes more iterations here)",
            ));
        }
        if s.converged {
            return Ok(());
        }
        let mixed = if single {
            ", or run with --precision mixed"
        } else {
            ""
        };
        Err(Error::failure(
            format!(
                "the pressure solve stopped at a relative residual of {:.2e} after {} iterations",
                s.residual, s.iterations
            ),
            format!(
                "raise poisson.max_iterations ({}) or poisson.tolerance ({:.1e}){mixed}",
                self.settings.max_iterations, self.settings.tolerance
            ),
        ))
    }

    /// `psi = A (Gamma u + Delta uhat)` of the present velocity with the given fluxes.
    pub(super) fn flux_of(&mut self, engine: &Engine<T>) -> Result<()> {
        match self.scheme {
            Scheme::SymmetryPreserving => self.predicted_flux(engine, false, 0.0),
            Scheme::Consistent => {
                let (s, f) = (&mut self.s.flux, &mut self.f);
                let o = (&mut f.psi, &f.u, &f.uhat);
                face_flux(engine, s, &self.m, &self.boundary.flux, o)
            }
        }
    }

    /// The same, kept to be compared with `phi` (consistent).
    pub(super) fn flux_of_old(&mut self, engine: &Engine<T>) -> Result<()> {
        let (s, f) = (&mut self.s.old_flux, &mut self.f);
        let o = (&mut f.psi_old, &f.u, &f.uhat);
        face_flux(engine, s, &self.m, &self.boundary.flux, o)
    }

    /// `psi` of `u*` with the nodal values of `v` (consistent).
    pub(super) fn flux_of_prediction(&mut self, engine: &Engine<T>) -> Result<()> {
        let (s, f) = (&mut self.s.flux, &mut self.f);
        let o = (&mut f.psi, &f.star, &f.uhat_e);
        face_flux(engine, s, &self.m, &self.boundary.flux, o)
    }

    /// `psi` of `v`, `predicted`, or of the present velocity; and `dt F_0 p`, which keeps the old
    /// pressure (symmetry-preserving).
    pub(super) fn predicted_flux(
        &mut self,
        engine: &Engine<T>,
        predicted: bool,
        dt: f64,
    ) -> Result<()> {
        let f = &mut self.f;
        let [u, v, w] = if predicted { &f.v } else { &f.u };
        call(
            engine,
            &mut self.s.predicted_flux,
            Operands {
                out: &mut [&mut f.psi],
                repeated: &[&self.boundary.flux],
                gather: &[u, v, w, &self.p],
                mats: &[&self.m.predicted_flux],
                scalars: &[T::of(dt)],
                ..Operands::default()
            },
        )
    }

    /// `psi += kappa (phi - psi_old)`, `kappa = max(0, 1 - 4 dt (U_max/h + nu/h^2))`.
    pub(super) fn fade_in_old_flux(&mut self, engine: &Engine<T>, dt: f64) -> Result<()> {
        let f = &mut self.f;
        call(
            engine,
            &mut self.s.blend,
            Operands {
                inout: &mut [&mut f.psi],
                own: &[&f.phi, &f.psi_old, &f.per_length],
                scalars: &[
                    T::of(4.0 * dt * self.fastest),
                    T::of(4.0 * dt * self.settings.nu),
                ],
                ..Operands::default()
            },
        )
    }

    /// `psi -= dt (T p_hat + outlet pressures)`.
    pub(super) fn lean(&mut self, engine: &Engine<T>, dt: f64) -> Result<()> {
        let f = &mut self.f;
        call(
            engine,
            &mut self.s.lean,
            Operands {
                out: &mut [&mut f.phi],
                own: &[&f.psi],
                gather: &[&f.p_hat],
                mats: &[&self.m.pressure_flux_nodes],
                scalars: &[T::of(-dt)],
                ..Operands::default()
            },
        )?;
        std::mem::swap(&mut f.phi, &mut f.psi);
        if let Some(base) = &self.boundary.pressure_flux {
            call(
                engine,
                &mut self.s.outlet,
                Operands {
                    inout: &mut [&mut f.psi],
                    own: &[base],
                    scalars: &[T::of(-dt)],
                    ..Operands::default()
                },
            )?;
        }
        Ok(())
    }

    /// `b = -M psi / dt`.
    pub(super) fn divergence(&mut self, engine: &Engine<T>, dt: f64) -> Result<()> {
        let f = &mut self.f;
        call(
            engine,
            &mut self.s.divergence,
            Operands {
                out: &mut [&mut self.b],
                gather: &[&f.psi],
                mats: &[&self.m.divergence],
                scalars: &[T::of(-1.0 / dt)],
                ..Operands::default()
            },
        )
    }
}

/// `psi = A (Gamma u + Delta uhat)`, of `(psi, u, uhat)`, with the given fluxes `base`.
fn face_flux<T: Real>(
    engine: &Engine<T>,
    site: &mut Site<T>,
    m: &Matrices<T>,
    base: &Repeated<T>,
    (psi, [u, v, w], [a, b, c]): (&mut Buffer<T>, &Field<T>, &Field<T>),
) -> Result<()> {
    call(
        engine,
        site,
        Operands {
            out: &mut [psi],
            repeated: &[base],
            gather: &[u, v, w, a, b, c],
            mats: &[&m.flux_cells, &m.flux_nodes],
            ..Operands::default()
        },
    )
}
