//! How a solve begins: in the scaled system, at its first guess, in its first direction.

use super::Pcg;
use super::ahead::following;
use crate::Result;
use crate::kernel::{MAX_REDUCTIONS, Real};
use crate::linear::Bounds;
use crate::linear::guess::Guess;
use crate::linear::precond::Factor;
use crate::linear::system::errors;
use crate::node::Buffer;
use crate::split::{Asked, Engine, Operands, Site};

/// How a solve begins, or begins anew.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Start {
    /// Along the residual.
    Anew,
    /// In the present direction, with the true residual in the place of the recurrence's.
    Replaced,
    /// As it is.
    Same,
}

/// What has left the first direction of a solve, with its `r . r`.
#[derive(Clone, Copy)]
pub(super) enum Began {
    /// The true residual, which is the direction itself.
    Residual,
    /// What the steps of earlier solves have made of that.
    Guess,
    /// A direction of its own.
    Direction,
}

impl Began {
    /// Which reduction of which of these calls is `r . r`.
    pub fn sum<'a, T: Real>(
        self,
        begin: &'a Site<T>,
        first: &'a Site<T>,
        guess: &'a Option<Guess<T>>,
    ) -> (&'a Site<T>, usize) {
        match (self, guess) {
            (Self::Residual, _) => (first, 2),
            (Self::Guess, Some(guess)) => (guess.added(), 1),
            (Self::Guess | Self::Direction, _) => (begin, 0),
        }
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
    /// Most steps of the first leg, if that is under way.
    pub leg: Option<usize>,
}

/// What is known where a solve goes on along the steps of those before.
struct Along<T> {
    /// Reductions of the entry and of the residual.
    sums: [[T; MAX_REDUCTIONS]; 2],
    ahead: Ahead,
}

/// What has been started of a solve before its sums are known.
#[derive(Default)]
struct Ahead {
    /// See [`Entered`].
    begun: Option<f64>,
    multiplied: bool,
    leg: Option<usize>,
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
        bounds: Bounds,
        anew: bool,
    ) -> Result<Entered> {
        let Bounds {
            tolerance, floor, ..
        } = bounds;
        let guesses = anew && self.guess.as_ref().is_some_and(Guess::pays);
        let begins = anew && self.factor.is_none();
        let (mut mean, mut unit) = (None, 1.0);
        loop {
            let given = [mean.unwrap_or(0.0), unit];
            self.system.enter(engine, b, x, given)?;
            self.residual(engine, begins)?;
            let mut ahead = Ahead::default();
            let along = match guesses && unit == 1.0 {
                true => self.enter_along(engine, bounds, mean.is_none())?,
                false => None,
            };
            let [entry, check] = if let Some(found) = along {
                ahead = found.ahead;
                found.sums
            } else if begins {
                let legs = mean.is_none() && unit == 1.0;
                let values = self.first_values(engine, bounds, legs);
                let (entry, first) = (&mut self.system.entry, &mut self.system.first);
                let following = following(&self.first, &mut self.state, &values);
                let (asked, follows) = engine.ask_and_follow([entry, first], following)?;
                ahead = self.begin_ahead(engine, follows, bounds)?;
                let (entry, first) = (&mut self.system.entry, &mut self.system.first);
                let told = engine.told(asked, [entry, first])?;
                ahead.begun = Some(told[1][2].f64());
                told
            } else {
                engine.reductions([&mut self.system.entry, &mut self.system.first])?
            };
            let bb = entry[0].f64();
            if mean.is_none() {
                let sums = [bb, entry[1].f64()];
                mean = self.system.far_mean(engine, b, sums, tolerance)?;
                if mean.is_some() {
                    self.guess.iter_mut().for_each(Guess::begin_anew);
                    continue;
                }
            }
            let bound = (tolerance * bb.sqrt()).max(floor).powi(2);
            let least = self.system.least_bound();
            if unit == 1.0 && bound < least && !bb.is_nan() && bb != 0.0 {
                unit = (least / bound).sqrt().log2().ceil().exp2();
                self.guess.iter_mut().for_each(Guess::begin_anew);
                continue;
            }
            return Ok(Entered {
                bb,
                unit,
                residual: errors(&check),
                begun: ahead.begun,
                multiplied: ahead.multiplied,
                leg: ahead.leg,
            });
        }
    }

    /// Starts what a solve begins with behind a question for its sums: the first leg, where the device has its
    /// state, or the first product.
    fn begin_ahead(
        &mut self,
        engine: &Engine<T>,
        has_state: bool,
        bounds: Bounds,
    ) -> Result<Ahead> {
        let leg = match has_state {
            true => self.leg_ahead(engine, bounds)?,
            false => None,
        };
        Ok(Ahead {
            begun: None,
            multiplied: leg.is_none() && self.multiply_ahead(engine)?,
            leg,
        })
    }

    /// Goes on along the steps of the solves before, as far as that is known to be worth it: by the
    /// device, where it need not wait for the host to know. It starts the first leg, too, where there is
    /// `no_mean` yet, so that it knows whether one is to be taken off first. None where nothing is
    /// remembered.
    ///
    /// The device has both before the host is told of either: with `couloir run` of a box of 100^3 on an H200
    /// it else waits for some 22 us more of each step, by events.
    fn enter_along(
        &mut self,
        engine: &Engine<T>,
        bounds: Bounds,
        no_mean: bool,
    ) -> Result<Option<Along<T>>> {
        let norms = [bounds.tolerance, bounds.floor];
        let Some(guess) = &mut self.guess else {
            return Ok(None);
        };
        let (system, t) = (&mut self.system, place_of(&mut self.factor, &mut self.p));
        guess.project(engine, t)?;
        let sites = [&mut system.entry, &mut system.first];
        let (asked, ahead) = guess.ask(engine, sites, norms)?;
        let mut begun = match ahead {
            true => self.begin_along(engine, bounds, no_mean)?,
            false => None,
        };
        let Some(guess) = &mut self.guess else {
            return Ok(None);
        };
        let sites = [&mut self.system.entry, &mut self.system.first];
        let (mut sums, adds) = guess.told(engine, asked, sites, norms, ahead)?;
        if !ahead && adds {
            begun = self.begin_along(engine, bounds, no_mean)?;
        }
        let mut ahead = Ahead::default();
        if let (Some((asked, started)), Some(guess)) = (begun, &mut self.guess) {
            let sites = [
                &mut self.system.entry,
                &mut self.system.first,
                guess.added_mut(),
            ];
            let [_, _, added] = engine.told(asked, sites)?;
            (sums[1][0], sums[1][2]) = (added[0], added[1]);
            ahead = started;
        }
        ahead.begun = self.factor.is_none().then(|| sums[1][2].f64());
        Ok(Some(Along { sums, ahead }))
    }

    /// Starts to go on along the steps, and what a solve without a factor begins with there; the question
    /// for its sums.
    fn begin_along(
        &mut self,
        engine: &Engine<T>,
        bounds: Bounds,
        legs: bool,
    ) -> Result<Option<(Asked, Ahead)>> {
        let Some(guess) = &mut self.guess else {
            return Ok(None);
        };
        let (system, t) = (&mut self.system, place_of(&mut self.factor, &mut self.p));
        guess.add(engine, [&mut system.y, t], &system.root)?;
        if self.factor.is_none() {
            self.began = Began::Guess;
        }
        let values = self.first_values(engine, bounds, legs);
        let Some(guess) = &mut self.guess else {
            return Ok(None);
        };
        let (entry, first) = (&mut self.system.entry, &mut self.system.first);
        let following = following(&self.first, &mut self.state, &values);
        let sites = [entry, first, guess.added_mut()];
        let (asked, follows) = engine.ask_and_follow(sites, following)?;
        let mut started = Ahead::default();
        if self.factor.is_none() {
            started = self.begin_ahead(engine, follows, bounds)?;
        }
        Ok(Some((asked, started)))
    }

    /// See [`System::residual`]; the residual itself is the first direction of a solve that `begins` along
    /// it, and else goes to where [`Pcg::replace`] finds it.
    fn residual(&mut self, engine: &Engine<T>, begins: bool) -> Result<()> {
        self.began = Began::Residual;
        let own = if begins { &mut self.p } else { &mut self.s };
        let t = place_of(&mut self.factor, own);
        self.system.residual(engine, t)
    }

    /// Puts the true residual in the place of the recurrence's; returns its `r . r`.
    pub(super) fn replace(&mut self, engine: &Engine<T>, start: Start) -> Result<f64> {
        let kept = self.kept(start);
        if let Some(factor) = &mut self.factor {
            let directions = (&mut self.p, &self.old);
            return factor.begin(engine, directions, &mut self.system.y, kept);
        }
        self.post_replace(engine, start)?;
        Ok(engine.reductions([&mut self.begin])?[0][0].f64())
    }

    /// The same without a factor, started.
    pub(super) fn post_replace(&mut self, engine: &Engine<T>, start: Start) -> Result<()> {
        self.began = Began::Direction;
        let kept = self.kept(start);
        let o = Operands {
            out: &mut [&mut self.p],
            own: &[&self.s, &self.old],
            scalars: &[kept],
            ..Operands::default()
        };
        engine.post(&mut self.begin, o)
    }

    /// How much of the direction before the first one has.
    pub(super) fn kept(&self, start: Start) -> T {
        match start {
            Start::Anew => T::ZERO,
            Start::Replaced | Start::Same => self.beta,
        }
    }
}

/// Where the residual of the whole system goes: without a factor, to its `own` place.
pub(super) fn place_of<'a, T: Real>(
    factor: &'a mut Option<Factor<T>>,
    own: &'a mut Buffer<T>,
) -> &'a mut Buffer<T> {
    match factor {
        Some(factor) => factor.t(),
        None => own,
    }
}
