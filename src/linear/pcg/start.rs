//! How a solve begins: in the scaled system, at its first guess, in its first direction.

use super::Pcg;
use crate::Result;
use crate::kernel::Real;
use crate::linear::guess::{Guess, STEPS};
use crate::linear::precond::Factor;
use crate::linear::system::errors;
use crate::node::Buffer;
use crate::split::{Engine, Operands};

/// By how much squares are to be larger than the least number.
const ROOM: f64 = 1e12;

/// How a solve begins, or begins anew.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Start {
    /// Along the residual.
    Anew,
    /// Along the present direction, with the true residual in the place of the recurrence's.
    Replaced,
    /// As it is.
    Same,
}

impl Start {
    /// How much of the direction.
    fn keep<T: Real>(self) -> T {
        T::of(if self == Self::Anew { 0.0 } else { 1.0 })
    }
}

/// What is known of a solve at its start.
pub(super) struct Entered {
    /// `|b|^2`, in this `unit`.
    pub bb: f64,
    pub unit: f64,
    /// See [`errors`].
    pub residual: (f64, f64),
    /// `r . r`, if it has begun along the residual.
    pub begun: Option<f64>,
    /// Whether the first product is under way, too.
    pub multiplied: bool,
}

impl<T: Real> Pcg<T> {
    /// Into the scaled system, without the mean of `b`, in a unit in which the squares of what is to
    /// be left of b are numbers; and what is known there, with a start `anew` where that is simple.
    /// All that can be known at once is asked for at once.
    pub(super) fn enter(
        &mut self,
        engine: &Engine<T>,
        b: &Buffer<T>,
        x: &Buffer<T>,
        [tolerance, floor]: [f64; 2],
        anew: bool,
    ) -> Result<Entered> {
        let guesses = anew && self.guess.as_ref().is_some_and(Guess::pays);
        let (mut mean, mut unit) = (None, 1.0);
        loop {
            let given = [mean.unwrap_or(0.0), unit];
            self.system.enter(engine, b, x, given)?;
            self.residual(engine)?;
            let (mut along, mut begun, mut multiplied) = (None, None, false);
            let [entry, mut check] = if let (true, Some(guess)) = (guesses, &mut self.guess) {
                let t = place_of(&mut self.factor, &mut self.s);
                guess.project(engine, t)?;
                let (entry, check) = (&mut self.system.entry, &mut self.system.check);
                let (found, sums) = guess.projected(engine, [entry, check])?;
                along = Some(found);
                sums
            } else if anew && self.factor.is_none() {
                self.post_replace(engine, Start::Anew)?;
                let (entry, check) = (&mut self.system.entry, &mut self.system.check);
                let asked = engine.ask([entry, check, &mut self.begin])?;
                multiplied = self.multiply_ahead(engine)?;
                let (entry, check) = (&mut self.system.entry, &mut self.system.check);
                let [entry, check, begin] = engine.told(asked, [entry, check, &mut self.begin])?;
                begun = Some(begin[0].f64());
                [entry, check]
            } else {
                engine.reductions([&mut self.system.entry, &mut self.system.check])?
            };
            let bb = entry[0].f64();
            if mean.is_none() {
                let sums = [bb, entry[1].f64()];
                mean = self.system.far_mean(engine, b, sums, tolerance)?;
                if mean.is_some() {
                    continue;
                }
            }
            let bound = (tolerance * bb.sqrt()).max(floor).powi(2);
            let least = ROOM * T::LEAST * self.system.rows;
            if unit == 1.0 && bound < least && !bb.is_nan() && bb != 0.0 {
                unit = (least / bound).sqrt().log2().ceil().exp2();
                continue;
            }
            if let Some(along) = along.filter(|_| unit == 1.0 && check[0].f64() > bound)
                && let Some(mut guess) = self.guess.take()
            {
                let found = self.begin_along(engine, &mut guess, along);
                self.guess = Some(guess);
                (check[0], begun, multiplied) = found?;
            }
            return Ok(Entered {
                bb,
                unit,
                residual: errors(&check),
                begun,
                multiplied,
            });
        }
    }

    /// Goes on along the steps of the solves before; the square of the residual there, `r . r` where
    /// the solve has begun, and whether the first product is under way.
    fn begin_along(
        &mut self,
        engine: &Engine<T>,
        guess: &mut Guess<T>,
        along: [f64; STEPS],
    ) -> Result<(T, Option<f64>, bool)> {
        let (y, t) = (&mut self.system.y, place_of(&mut self.factor, &mut self.s));
        guess.add(engine, [y, t], &self.system.root, along)?;
        if self.factor.is_some() {
            let [added] = engine.reductions([guess.added()])?;
            return Ok((added[0], None, false));
        }
        self.post_replace(engine, Start::Anew)?;
        let asked = engine.ask([guess.added(), &mut self.begin])?;
        let multiplied = self.multiply_ahead(engine)?;
        let [added, begin] = engine.told(asked, [guess.added(), &mut self.begin])?;
        Ok((added[0], Some(begin[0].f64()), multiplied))
    }

    /// See [`System::residual`]; the residual itself goes to where [`Pcg::replace`] finds it.
    pub(super) fn residual(&mut self, engine: &Engine<T>) -> Result<()> {
        let t = place_of(&mut self.factor, &mut self.s);
        self.system.residual(engine, t)
    }

    /// Puts the true residual in the place of the recurrence's; returns its `r . r`.
    pub(super) fn replace(&mut self, engine: &Engine<T>, start: Start) -> Result<f64> {
        if let Some(factor) = &mut self.factor {
            let (rp, y) = ([&mut self.r, &mut self.p], &mut self.system.y);
            return factor.begin(engine, rp, y, start.keep());
        }
        self.post_replace(engine, start)?;
        Ok(engine.reductions([&mut self.begin])?[0][0].f64())
    }

    /// The same without a factor, started.
    pub(super) fn post_replace(&mut self, engine: &Engine<T>, start: Start) -> Result<()> {
        std::mem::swap(&mut self.r, &mut self.s);
        let o = Operands {
            inout: &mut [&mut self.p],
            own: &[&self.r, &self.s],
            scalars: &[start.keep()],
            ..Operands::default()
        };
        engine.post(&mut self.begin, o)
    }
}

/// Where the residual of the whole system goes.
fn place_of<'a, T: Real>(
    factor: &'a mut Option<Factor<T>>,
    s: &'a mut Buffer<T>,
) -> &'a mut Buffer<T> {
    match factor {
        Some(factor) => factor.t(),
        None => s,
    }
}
