//! `A d = r` to a part of `r`: the inner solves of a [refinement](crate::linear::Refine).

use super::Pcg;
use super::iterate::Begin;
use super::start::Start;
use crate::Result;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::{ALPHA, BETA, BOUND, ITERATIONS, LENGTH, WEIGHT};
use crate::linear::Bounds;
use crate::node::Buffer;
use crate::split::Engine;

/// How an inner solve ended.
#[derive(Clone, Copy, Debug)]
pub struct Correction {
    /// Iterations done.
    pub iterations: usize,
    /// Whether the next one may go on in its direction.
    pub goes_on: bool,
}

impl<T: Real> Pcg<T> {
    /// Solves `A x = b` from `x = 0` until `|b - A x| <= tolerance |b|` as the recurrence knows it:
    /// the caller computes the residual anew, and better. Where it `goes_on`, `b` is what the last
    /// solve left, and the direction is what would have followed, with `b` in it, so that convergence is not
    /// set back (reliable updates: Clark et al. 2010, section 3.3).
    ///
    /// # Errors
    /// The device failed.
    pub fn correct(
        &mut self,
        engine: &Engine<T>,
        b: &mut Buffer<T>,
        x: &mut Buffer<T>,
        tolerance: f64,
        most: usize,
        goes_on: bool,
    ) -> Result<Correction> {
        let start = if goes_on {
            Start::Replaced
        } else {
            Start::Anew
        };
        if self.factor.is_some() {
            // Its own residual is that of fewer rows.
            let bounds = Bounds {
                tolerance,
                floor: 0.0,
                max_iterations: most,
            };
            let end = self.run(engine, b, x, bounds, start, None)?;
            return Ok(Correction {
                iterations: end.solution.iterations,
                goes_on: end.goes_on,
            });
        }
        let mut mean = None;
        let (bb, rr, multiplied) = loop {
            self.system
                .enter(engine, b, x, [mean.unwrap_or(0.0), 1.0])?;
            // The residual of x = 0.
            std::mem::swap(&mut self.s, &mut self.system.f);
            self.post_replace(engine, start)?;
            let asked = engine.ask([&mut self.system.entry, &mut self.begin])?;
            let multiplied = self.multiply_ahead(engine)?;
            let sites = [&mut self.system.entry, &mut self.begin];
            let [entry, begin] = engine.told(asked, sites)?;
            let [bb, sum] = [entry[0], entry[1]].map(T::f64);
            if mean.is_none() {
                mean = self.system.far_mean(engine, b, [bb, sum], tolerance)?;
                if mean.is_some() {
                    continue;
                }
            }
            break (bb, begin[0].f64(), multiplied);
        };
        let weight = bb / rr;
        let mut state = [T::ZERO; LENGTH];
        (state[WEIGHT], state[BOUND]) = (T::of(weight), T::of(tolerance.powi(2) * bb));
        state[BETA] = self.kept(start);
        let begin = Begin {
            rr: bb,
            anew: true,
            multiplied,
            leg: None,
            most,
        };
        let (state, _) = self.iterate(engine, &state, begin, None)?;
        let done = Correction {
            iterations: state[ITERATIONS].f64() as usize,
            // Without curvature a direction is round-off.
            goes_on: state[ALPHA] > T::ZERO,
        };
        self.system.leave(engine, x)?;
        Ok(done)
    }
}
