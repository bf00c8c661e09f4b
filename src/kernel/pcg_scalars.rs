//! `alpha = nu / mu`, `nu' = alpha^2 gamma - nu`, `beta = nu' / nu`: the scalars of an iteration of
//! conjugate gradients by predict-and-recompute (Meurant 1987; Chen and Carson 2020, section 2).
//!
//! `nu = r . r`, `mu = p . s` and `gamma = s . s`, `s = A p`, are summed at one point; `nu'`, the
//! next `r . r`, is predicted, so that step and direction are one sweep, and computed again there.
//!
//! The residual is in no vector. With `p' = r' + beta p` it is `p' - beta p`, of two directions: a step
//! reads both and `s`, and leaves the next direction where the older one was. What rounding in `p'` does
//! to it is `|p'|` times the precision, as much as rounding in `y`, which takes a step of `alpha |p'|`,
//! does to the true residual. The sum `nu` is of the residual that the next step will find.
//!
//! Not every step brings `y` up to date: the next one has its direction still, so that every second one
//! adds `alpha p` of two, and the other neither reads nor writes `y`.
//!
//! A step length rounded to single precision is wrong by the same part in every row. So there the
//! sums are [pairs](super::total), `alpha` has its remainder, and of each [`PATTERN`] rows as many
//! take the number beside it for `r` as bring the mean to the exact one. `beta = alpha (gamma / mu)
//! - 1` then, for `alpha^2 gamma - nu` in rounded numbers loses what they have.

use super::Real;
use super::scalars::Scalars;
use super::total::Total;

/// The kernel that takes a state from the host.
pub const SETTER: &str = "pcg_state";

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
/// 1 where the step leaves `y` to the next one.
pub const LATER: usize = 7;
/// What `y` is owed by the step before, in units of its direction.
pub const OWED: usize = 8;
/// Steps that have left `y` to the next one, since the start.
pub const PUT_OFF: usize = 9;
/// The weight of the direction before in the present one.
pub const KEPT: usize = 10;
/// In single precision, the number on the other side of the exact step length.
pub const BESIDE: usize = 11;
/// How many of [`PATTERN`] rows take that one, not rounded; below 0.5 if none does.
pub const TAKERS: usize = 12;
/// Which of the host's [states](LENGTH) it goes back to.
pub const ORIGIN: usize = 13;
/// Length of the state.
pub const LENGTH: usize = 14;

/// Rows after which the pattern of step lengths is the same again.
pub const PATTERN: usize = 32;
/// Those that take the other one are spread out: row i is the `STRIDE i`-th, modulo the pattern.
pub const STRIDE: usize = 13;

/// The step length of row `i` in `r`.
#[inline(always)]
pub fn step_length<T: Real>(state: &[T], i: usize) -> T {
    let place = T::of((STRIDE * i % PATTERN) as f64 + 0.5);
    if T::PAIRED && place < state[TAKERS] {
        state[BESIDE]
    } else {
        state[ALPHA]
    }
}

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
        ("LATER", LATER),
        ("OWED", OWED),
        ("PUT_OFF", PUT_OFF),
        ("KEPT", KEPT),
        ("BESIDE", BESIDE),
        ("TAKERS", TAKERS),
        ("ORIGIN", ORIGIN),
        ("PATTERN", PATTERN),
        ("STRIDE", STRIDE),
        ("LENGTH", LENGTH),
    ];
    let places = all.map(|(name, at)| format!("-D PCG_{name}={at}"));
    places.join(" ")
}

/// Sums r.r, p.s, s.s.
pub fn scalars<T: Real>() -> Scalars<T> {
    Scalars {
        name: "pcg_scalars",
        within: "pcg_step",
        source: include_str!("../../cl/pcg_scalars.cl"),
        sums: 3,
        length: if T::PAIRED { LENGTH } else { BESIDE },
        host,
    }
}

fn host<T: Real>(sums: &[Total<T>], state: &mut [T]) {
    state[KEPT] = state[BETA];
    if state[STOP] > T::ZERO {
        state[STOP] = T::of(2.0);
        state[OWED] = T::ZERO;
        return;
    }
    state[OWED] = owed(state);
    state[LATER] = T::ZERO;
    let (nu, mu, gamma) = (sums[0], sums[1], sums[2]);
    let alpha = nu.over(mu);
    let (next, beta) = recurrence(nu, gamma, alpha, mu);
    state[ALPHA] = T::ZERO;
    state[STOP] = T::of(2.0);
    let finite = alpha.value.f64().is_finite() && next.f64().is_finite();
    if !(mu.value > T::ZERO && nu.value > T::ZERO && finite) {
        return;
    }
    state[ALPHA] = alpha.value;
    if T::PAIRED {
        // By more than half of the distance to the number beside it, and less than one and a half.
        let part = T::of(0.75 * T::EPSILON);
        let part = if alpha.rest < T::ZERO { -part } else { part };
        let beside = part.fma(alpha.value, alpha.value);
        state[BESIDE] = beside;
        state[TAKERS] = T::of(PATTERN as f64) * alpha.rest / (beside - alpha.value);
    }
    state[BETA] = if next > T::ZERO { beta } else { T::ZERO };
    state[NEXT] = next;
    state[ITERATIONS] = state[ITERATIONS] + T::of(1.0);
    if state[WEIGHT] * next <= state[BOUND] {
        state[STOP] = T::of(1.0);
        return;
    }
    state[STOP] = T::ZERO;
    if state[OWED] == T::ZERO && state[BETA] > T::ZERO {
        state[LATER] = T::of(1.0);
        state[PUT_OFF] = state[PUT_OFF] + T::of(1.0);
    }
}

/// What `y` is owed after the last step.
pub fn owed<T: Real>(state: &[T]) -> T {
    if state[LATER] > T::ZERO {
        state[ALPHA]
    } else {
        T::ZERO
    }
}

/// `nu' = alpha^2 gamma - nu` and `beta = nu' / nu`.
fn recurrence<T: Real>(nu: Total<T>, gamma: Total<T>, alpha: Total<T>, mu: Total<T>) -> (T, T) {
    if !T::PAIRED {
        let product = alpha.value * gamma.value;
        let next = alpha.value.fma(product, -nu.value);
        return (next, next / nu.value);
    }
    let ratio = gamma.over(mu);
    let rests = alpha.value.fma(ratio.rest, alpha.rest * ratio.value);
    let beta = alpha.value.fma(ratio.value, T::of(-1.0)) + rests;
    (beta * nu.value, beta)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state after sums of about these sizes, and the sums.
    fn after<T: Real>(rng: &mut fastrand::Rng) -> ([f64; 3], [T; LENGTH]) {
        // By the inequality of Cauchy and Schwarz, nu gamma is more than mu^2.
        let mut sums = [3.0, 1.0, 2.0].map(|size| size * (1.0 + 0.2 * rng.f64()));
        let totals = sums.map(Total::<T>::of);
        sums = totals.map(Total::f64);
        let mut state = [T::ZERO; LENGTH];
        state[WEIGHT] = T::of(1.0);
        host(&totals, &mut state);
        assert!(state[STOP] == T::ZERO && state[ITERATIONS] == T::of(1.0));
        (sums, state)
    }

    /// A state after sums of which `beta` is that.
    fn go_on<T: Real>(state: &mut [T; LENGTH], beta: f64) {
        let sums = [1.0, 2.0, 4.0 * (1.0 + beta)].map(Total::<T>::of);
        host(&sums, state);
    }

    fn of<T: Real>(state: &[T; LENGTH], places: [usize; 4]) -> [f64; 4] {
        places.map(|at| state[at].f64())
    }

    fn puts_off<T: Real>() {
        let all = [STOP, LATER, OWED, PUT_OFF];
        let mut state = [T::ZERO; LENGTH];
        state[WEIGHT] = T::of(1.0);
        go_on(&mut state, 0.5);
        assert_eq!(of(&state, all), [0.0, 1.0, 0.0, 1.0]);
        // What is owed is paid, and nothing put off twice.
        go_on(&mut state, 0.25);
        assert_eq!(of(&state, all), [0.0, 0.0, 0.5, 1.0]);
        go_on(&mut state, 0.25);
        assert_eq!(of(&state, all), [0.0, 1.0, 0.0, 2.0]);
        go_on(&mut state, 0.5);
        assert_eq!(of(&state, all), [0.0, 0.0, 0.5, 2.0]);
        // Not where the next direction has nothing of this one.
        state[BETA] = T::of(0.125);
        let sums = [1.0, 2.0, 4.0].map(Total::<T>::of);
        host(&sums, &mut state);
        assert_eq!(
            of(&state, [BETA, KEPT, LATER, OWED]),
            [0.0, 0.125, 0.0, 0.0]
        );
        (state[STOP], state[PUT_OFF]) = (T::ZERO, T::of(2.0));
        // The last step of a solve pays; the calls after it owe nothing.
        go_on(&mut state, 0.5);
        assert_eq!(owed(&state).f64(), 0.5);
        let mut last = state;
        last[BOUND] = T::of(1.0);
        for (stop, owed) in [(1.0, 0.5), (2.0, 0.0), (2.0, 0.0)] {
            go_on(&mut last, 0.5);
            assert_eq!(of(&last, all), [stop, 0.0, owed, 3.0]);
        }
        // Without curvature there is no step, and the debt is paid by the call in its place.
        host(&[1.0, -1.0, 1.0].map(Total::<T>::of), &mut state);
        assert_eq!(of(&state, all), [2.0, 0.0, 0.5, 3.0]);
        go_on(&mut state, 0.5);
        assert_eq!(of(&state, all), [2.0, 0.0, 0.0, 3.0]);
    }

    #[test]
    fn every_second_step_leaves_y_to_the_next_and_no_debt_is_left() {
        puts_off::<f64>();
        puts_off::<f32>();
    }

    /// Errors of the mean step length and of beta, relative.
    fn errors<T: Real>(rng: &mut fastrand::Rng) -> [f64; 2] {
        let ([nu, mu, gamma], state) = after::<T>(rng);
        let own = (1000..1000 + PATTERN).map(|i| step_length(&state, i).f64());
        let mean = own.sum::<f64>() / PATTERN as f64;
        let alpha = nu / mu;
        let beta = (alpha * alpha * gamma - nu) / nu;
        [mean / alpha - 1.0, state[BETA].f64() / beta - 1.0]
    }

    #[test]
    fn rows_take_the_step_length_on_average_and_beta_is_that_of_the_sums() {
        let mut rng = fastrand::Rng::with_seed(11);
        let (mut most, mut between) = ([0.0f64; 2], 0);
        for _ in 0..1000 {
            let single = errors::<f32>(&mut rng).map(f64::abs);
            most = [most[0].max(single[0]), most[1].max(single[1])];
            let double = errors::<f64>(&mut rng).map(f64::abs);
            assert!(double.iter().all(|e| *e < 4e-15), "{double:?}");
            let state = after::<f32>(&mut rng).1;
            between += usize::from(state[TAKERS] > 0.5);
            assert!((0.0..=16.01).contains(&state[TAKERS]));
            // Nothing lies between the two.
            let [alpha, beside] = [state[ALPHA], state[BESIDE]];
            let next = if beside < alpha {
                alpha.next_down()
            } else {
                alpha.next_up()
            };
            assert_eq!(beside, next);
        }
        // Half of a 32nd of the distance between two numbers.
        assert!(most[0] < 1.01 * f64::from(f32::EPSILON) / 64.0, "{most:?}");
        assert!(most[1] < 1.1 * f64::from(f32::EPSILON), "{most:?}");
        assert!(between > 900, "{between}");
    }
}
