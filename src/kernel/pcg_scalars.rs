//! `alpha = nu / mu`, `nu' = alpha^2 gamma - nu`, `beta = nu' / nu`: the scalars of an iteration of
//! conjugate gradients by predict-and-recompute (Meurant 1987; Chen and Carson 2020, section 2).
//!
//! `nu = r . r`, `mu = p . s` and `gamma = s . s`, `s = A p`, are summed at one point; `nu'`, the
//! next `r . r`, is predicted, so that step and direction are one sweep, and computed again there.

use super::Real;
use super::scalars::Scalars;

/// Where the state holds the step length.
pub const ALPHA: usize = 0;
/// The weight of the old direction in the next.
pub const BETA: usize = 1;
/// 0 while the solve goes on; 1 if the next step is its last; 2 when it is over.
pub const STOP: usize = 2;
/// The predicted `r . r`.
pub const NEXT: usize = 3;
/// The squared norm that is to fall below the bound, over `r . r`.
pub const WEIGHT: usize = 4;
/// The bound.
pub const BOUND: usize = 5;
/// Steps decided on since the start.
pub const ITERATIONS: usize = 6;
/// Length of the state.
pub const LENGTH: usize = 7;

/// Where the state holds what, for the device's compiler.
pub fn defines() -> String {
    let all = [
        ("ALPHA", ALPHA),
        ("BETA", BETA),
        ("STOP", STOP),
        ("NEXT", NEXT),
        ("WEIGHT", WEIGHT),
        ("BOUND", BOUND),
        ("ITERATIONS", ITERATIONS),
    ];
    all.map(|(name, at)| format!("-D PCG_{name}={at}"))
        .join(" ")
}

/// Sums r.r, p.s, s.s.
pub fn scalars<T: Real>() -> Scalars<T> {
    Scalars {
        name: "pcg_scalars",
        source: include_str!("../../cl/pcg_scalars.cl"),
        sums: 3,
        length: LENGTH,
        host,
    }
}

fn host<T: Real>(sums: &[T], state: &mut [T]) {
    if state[STOP] > T::ZERO {
        state[STOP] = T::of(2.0);
        return;
    }
    let (nu, mu, gamma) = (sums[0], sums[1], sums[2]);
    let alpha = nu / mu;
    let product = alpha * gamma;
    let next = alpha.fma(product, -nu);
    state[ALPHA] = T::ZERO;
    state[STOP] = T::of(2.0);
    let finite = alpha.f64().is_finite() && next.f64().is_finite();
    if !(mu > T::ZERO && nu > T::ZERO && finite) {
        return;
    }
    state[ALPHA] = alpha;
    state[BETA] = if next > T::ZERO { next / nu } else { T::ZERO };
    state[NEXT] = next;
    state[ITERATIONS] = state[ITERATIONS] + T::of(1.0);
    if state[WEIGHT] * next <= state[BOUND] {
        state[STOP] = T::of(1.0);
    } else {
        state[STOP] = T::ZERO;
    }
}
