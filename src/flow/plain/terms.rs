//! The terms of the reference step: momentum, upwinding, and the consistent scheme's fluxes.

use super::{Plain, State, at, dot3};
use crate::flow::boundary::{FaceKind, Vectors};
use crate::flow::operators::Momentum;

/// `theta_0`: upwinding that is always there, as a share of full upwinding.
pub const THETA_MIN: f64 = 0.05;
/// Most upwinding that the controller asks for.
pub const THETA_MAX: f64 = 2.0;
/// Dissipation asked for per energy produced.
pub const THETA_GAIN: f64 = 1.2;

impl Plain<'_> {
    /// `R`: convection and diffusion in cells, m/s2.
    pub(super) fn momentum(&self, uhat: &Vectors, theta: f64) -> Vectors {
        let (ops, nu) = (self.ops, self.settings.nu);
        let State { u, u_b, phi, .. } = &self.state;
        let outward = &phi[ops.interior_faces..];
        let mut r: Vectors = match &ops.momentum {
            Momentum::Cells {
                diffusion,
                convection,
            } => {
                let mut k = diffusion.clone();
                for (v, c) in k.val.iter_mut().zip(convection.apply(phi)) {
                    *v = nu * *v + c;
                }
                std::array::from_fn(|i| k.apply(&u[i]))
            }
            Momentum::Faces { cells, nodes } => std::array::from_fn(|i| {
                let mut flux = vec![0.0; ops.faces];
                for k in 0..3 {
                    let part = cells
                        .apply_plane(k, &u[i])
                        .into_iter()
                        .zip(nodes.apply_plane(k, &uhat[i]));
                    for (f, (a, b)) in part.enumerate() {
                        let scale = [-phi[f], 0.5 * theta * phi[f].abs(), nu][k];
                        flux[f] += scale * (a + b);
                    }
                }
                let mut r = ops.divergence.apply(&flux);
                r.iter_mut().zip(&ops.volume).for_each(|(r, v)| *r /= v);
                r
            }),
        };
        for i in 0..3 {
            let flux: Vec<f64> = (0..ops.boundary.len())
                .map(|b| (nu * ops.boundary.diffusion[b] - outward[b]) * u_b[i][b])
                .collect();
            let source = ops.boundary.scatter.apply(&flux);
            r[i].iter_mut().zip(source).for_each(|(r, s)| *r += s);
        }
        r
    }

    /// The controller: as much upwinding as takes out the energy that the pressure gradient
    /// and the corrected convection put in, `theta_0 + 1.2 max(0, P + C)/D`.
    pub(super) fn theta(&self, uhat: &Vectors) -> f64 {
        let ops = self.ops;
        let Momentum::Faces { cells, nodes } = &ops.momentum else {
            return 0.0;
        };
        let State {
            u,
            g,
            p,
            p_hat,
            phi,
            ..
        } = &self.state;
        let mut produced = 0.0;
        for i in 0..ops.cells {
            produced -= ops.volume[i] * dot3(at(u, i), at(g, i));
        }
        let beyond = ops.boundary.pressure_nodes.apply(p_hat);
        for (b, beyond) in beyond.iter().enumerate() {
            let p_b = match ops.boundary.kind[b] {
                FaceKind::Outlet(p) => p,
                _ => p[ops.boundary.owner[b] as usize] + beyond,
            };
            produced += phi[ops.interior_faces + b] * p_b;
        }
        let mut dissipated = 0.0;
        for k in 0..3 {
            let jump = cells.apply_plane(1, &u[k]);
            let smooth = nodes.apply_plane(1, &uhat[k]);
            let delta = nodes.apply_plane(0, &uhat[k]);
            for f in 0..ops.interior_faces {
                produced += phi[f] * delta[f] * jump[f];
                dissipated += 0.5 * phi[f].abs() * (jump[f] + smooth[f]) * jump[f];
            }
        }
        let wanted = if dissipated > 0.0 {
            THETA_GAIN * produced.max(0.0) / dissipated
        } else {
            0.0
        };
        (THETA_MIN + wanted).min(THETA_MAX)
    }

    /// Fluxes before the pressure's compact part: of `u* = v + dt g`, with the nodal values of
    /// `v`, with what the last fluxes had beyond those of the cells (locally faded out), and
    /// with the non-orthogonal part of the last pressure.
    pub(super) fn consistent_flux(
        &self,
        v: &Vectors,
        uhat: &Vectors,
        given: &Vectors,
        dt: f64,
    ) -> Vec<f64> {
        let (ops, state) = (self.ops, &self.state);
        let mut star = v.clone();
        for (star, g) in star.iter_mut().zip(&state.g) {
            star.iter_mut().zip(g).for_each(|(v, g)| *v += dt * g);
        }
        let uhat_e = self.nodal_velocity(v, given);
        let mut phi = self.flux(&star, &uhat_e, given);
        let smooth = self.flux(&state.u, uhat, &state.u_b);
        let lean = ops.pressure_flux_nodes.apply(&state.p_hat);
        let fastest = (0..ops.cells)
            .fold(0.0, |m: f64, i| {
                m.max(dot3(at(&state.u, i), at(&state.u, i)))
            })
            .sqrt();
        for f in 0..ops.faces {
            let h = ops.face_length[f];
            let kept = 1.0 - 4.0 * dt * (fastest / h + self.settings.nu / (h * h));
            phi[f] += kept.max(0.0) * (state.phi[f] - smooth[f]);
            phi[f] -= dt * (lean[f] + ops.pressure_flux_base[f]);
        }
        phi
    }
}
