//! Exact solutions, against which the discretisations are measured.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// A solution of the Navier-Stokes equations: velocity and kinematic pressure.
pub trait Flow {
    /// Velocity at `x` and time `t`, for the viscosity `nu`.
    fn velocity(&self, x: [f64; 3], t: f64, nu: f64) -> [f64; 3];
    /// Kinematic pressure, up to a constant.
    fn pressure(&self, x: [f64; 3], t: f64, nu: f64) -> f64;
}

/// `u = (sin x cos y, -cos x sin y, 0) e^{-2 nu t}`, `p = (cos 2x + cos 2y)/4 e^{-4 nu t}`
/// (Taylor and Green 1937, in two dimensions).
pub struct TaylorGreen2d;

impl Flow for TaylorGreen2d {
    fn velocity(&self, [x, y, _]: [f64; 3], t: f64, nu: f64) -> [f64; 3] {
        let decay = (-2.0 * nu * t).exp();
        [x.sin() * y.cos() * decay, -x.cos() * y.sin() * decay, 0.0]
    }

    fn pressure(&self, [x, y, _]: [f64; 3], t: f64, nu: f64) -> f64 {
        0.25 * ((2.0 * x).cos() + (2.0 * y).cos()) * (-4.0 * nu * t).exp()
    }
}

/// `u = -a [e^{ax} sin(ay + dz) + e^{az} cos(ax + dy)] e^{-nu d^2 t}` and cyclic, `a = pi/4`,
/// `d = pi/2` (Ethier and Steinman 1994): three-dimensional, unsteady, all terms at work.
pub struct EthierSteinman;

impl Flow for EthierSteinman {
    fn velocity(&self, [x, y, z]: [f64; 3], t: f64, nu: f64) -> [f64; 3] {
        let (a, d) = (FRAC_PI_4, FRAC_PI_2);
        let decay = -a * (-nu * d * d * t).exp();
        let one = |x: f64, y: f64, z: f64| {
            (a * x).exp() * (a * y + d * z).sin() + (a * z).exp() * (a * x + d * y).cos()
        };
        [
            decay * one(x, y, z),
            decay * one(y, z, x),
            decay * one(z, x, y),
        ]
    }

    fn pressure(&self, [x, y, z]: [f64; 3], t: f64, nu: f64) -> f64 {
        let (a, d) = (FRAC_PI_4, FRAC_PI_2);
        let mixed = |x: f64, y: f64, z: f64| {
            2.0 * (a * x + d * y).sin() * (a * z + d * x).cos() * (a * (y + z)).exp()
        };
        let squares = (2.0 * a * x).exp() + (2.0 * a * y).exp() + (2.0 * a * z).exp();
        let sum = squares + mixed(x, y, z) + mixed(y, z, x) + mixed(z, x, y);
        -0.5 * a * a * sum * (-2.0 * nu * d * d * t).exp()
    }
}

/// `u = (A sin z + C cos y, B sin x + A cos z, C sin y + B cos x) e^{-nu t}`, `p = -|u|^2/2`
/// (Arnold, Beltrami, Childress): periodic in `[0, 2 pi]^3`.
pub struct Abc {
    /// A.
    pub a: f64,
    /// B.
    pub b: f64,
    /// C.
    pub c: f64,
}

impl Flow for Abc {
    fn velocity(&self, [x, y, z]: [f64; 3], t: f64, nu: f64) -> [f64; 3] {
        let Self { a, b, c } = *self;
        let u = [
            a * z.sin() + c * y.cos(),
            b * x.sin() + a * z.cos(),
            c * y.sin() + b * x.cos(),
        ];
        u.map(|u| u * (-nu * t).exp())
    }

    fn pressure(&self, x: [f64; 3], t: f64, nu: f64) -> f64 {
        let [u, v, w] = self.velocity(x, t, nu);
        -0.5 * (u * u + v * v + w * w)
    }
}

/// Initial velocity of the three-dimensional Taylor-Green vortex,
/// `(sin x cos y cos z, -cos x sin y cos z, 0)`.
pub fn taylor_green_3d([x, y, z]: [f64; 3]) -> [f64; 3] {
    let c = z.cos();
    [x.sin() * y.cos() * c, -x.cos() * y.sin() * c, 0.0]
}

/// `p = prod cos(pi x_i)`: no normal derivative on the sides of the unit cube;
/// `lap p = -3 pi^2 p`.
pub fn poisson_neumann(x: [f64; 3]) -> f64 {
    x.iter().map(|x| (PI * x).cos()).product()
}

/// `p = prod sin(pi x_i)`: zero on the sides of the unit cube; `lap p = -3 pi^2 p`.
pub fn poisson_dirichlet(x: [f64; 3]) -> f64 {
    x.iter().map(|x| (PI * x).sin()).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: f64 = 1e-3;

    fn moved(x: [f64; 3], k: usize, by: f64) -> [f64; 3] {
        let mut y = x;
        y[k] += by;
        y
    }

    /// Central differences: first and second derivative along k.
    fn slope(f: impl Fn([f64; 3]) -> f64, x: [f64; 3], k: usize) -> [f64; 2] {
        let (low, mid, high) = (f(moved(x, k, -STEP)), f(x), f(moved(x, k, STEP)));
        [
            (high - low) / (2.0 * STEP),
            (high - 2.0 * mid + low) / (STEP * STEP),
        ]
    }

    fn assert_solves(flow: &impl Flow) {
        let (x, t, nu) = ([0.3, -0.45, 0.6], 0.2, 0.7);
        let u = flow.velocity(x, t, nu);
        let mut divergence = 0.0;
        for i in 0..3 {
            let component = |x| flow.velocity(x, t, nu)[i];
            let in_time = |t| flow.velocity(x, t, nu)[i];
            let mut rate = (in_time(t + STEP) - in_time(t - STEP)) / (2.0 * STEP);
            for (k, &along) in u.iter().enumerate() {
                let [first, second] = slope(component, x, k);
                rate += along * first - nu * second;
                if k == i {
                    divergence += first;
                }
            }
            rate += slope(|x| flow.pressure(x, t, nu), x, i)[0];
            assert!(rate.abs() < 1e-5, "momentum {i}: {rate}");
        }
        assert!(divergence.abs() < 1e-5, "divergence {divergence}");
    }

    #[test]
    fn flows_solve_the_navier_stokes_equations() {
        assert_solves(&TaylorGreen2d);
        assert_solves(&EthierSteinman);
        assert_solves(&Abc {
            a: 1.0,
            b: 0.7,
            c: -0.4,
        });
    }

    #[test]
    fn known_values() {
        for u in EthierSteinman.velocity([0.5; 3], 0.0, 0.1) {
            assert!((u + 1.51973291377677).abs() < 1e-13, "{u}");
        }
        let u = taylor_green_3d([FRAC_PI_2, 0.0, 0.0]);
        assert!((u[0] - 1.0).abs() < 1e-15 && u[1].abs() < 1e-15 && u[2] == 0.0);
        assert!(
            poisson_dirichlet([0.5; 3]) == 1.0 && poisson_dirichlet([1.0, 0.3, 0.2]).abs() < 1e-15
        );
        assert!(
            poisson_neumann([1.0; 3]) == -1.0 && poisson_neumann([0.2, 0.5, 0.1]).abs() < 1e-15
        );
        let x = [0.3, 0.2, 0.6];
        for f in [poisson_neumann, poisson_dirichlet] {
            let laplacian: f64 = (0..3).map(|k| slope(f, x, k)[1]).sum();
            assert!((laplacian + 3.0 * PI * PI * f(x)).abs() < 1e-4);
        }
    }
}
