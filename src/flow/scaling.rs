//! What the kernels of the pressure solve cost on the ranks there are: the product with its
//! exchange hidden (OSpMV) and before it (NSpMV), the exchange alone, AXPY and DOT (thesis section
//! 3.4.3).

mod kernels;
mod probe;
mod step;

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use kernels::Kernels;
use step::Walk;

use super::case::Case;
use super::simulation::Plan;
use crate::Result;
use crate::cluster::place::Place;
use crate::cluster::{Comm, Reach};

/// Turns of each case, and rounds of each measurement in one.
const TURNS: usize = 5;
const ROUNDS: usize = 2;

/// Time steps to measure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    /// How many, at least, or none; as many more go before, which nobody counts.
    pub count: usize,
    /// Pressure iterations of each, whatever its residual; else they end by the tolerance.
    pub iterations: Option<usize>,
}

/// Median over rounds of the slowest rank's time of a call, and the range of the rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Median.
    pub median_s: f64,
    /// Least.
    pub min_s: f64,
    /// Most.
    pub max_s: f64,
}

impl Cost {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_unstable_by(f64::total_cmp);
        let at = |i: usize| times.get(i).copied().unwrap_or(f64::NAN);
        Self {
            median_s: at(times.len() / 2),
            min_s: at(0),
            max_s: at(times.len().wrapping_sub(1)),
        }
    }
}

/// Times of one call of each, s.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Ranks.
    pub ranks: usize,
    /// They know nothing of each other: see [`Entry::apart`].
    pub apart: bool,
    /// Rows of all ranks.
    pub rows: usize,
    /// Most rows of a rank, and most values that one gets from others for a product.
    pub owned_most: usize,
    /// See `owned_most`.
    pub halo_most: usize,
    /// Product, the exchange hidden behind inner rows.
    pub hidden: Cost,
    /// Product after the exchange.
    pub first: Cost,
    /// Product without any exchange.
    pub alone: Cost,
    /// Exchange alone.
    pub exchange: Cost,
    /// `y += a x`.
    pub axpy: Cost,
    /// `x . y` over all ranks.
    pub dot: Cost,
    /// A sum over all ranks alone.
    pub reduce: Cost,
    /// Share of a rank's rows, least, that do not wait for the exchange.
    pub inner_share: f64,
    /// A time step, where steps were asked for.
    pub step: Option<Cost>,
    /// Pressure iterations of such a step.
    pub iterations: Option<f64>,
    /// As many were asked for, whatever the residual; else they end by the tolerance, and grow with
    /// the mesh.
    pub fixed_iterations: Option<usize>,
    /// One of them.
    pub iteration: Option<Cost>,
}

impl Scaling {
    /// `(T_N - T_O) / T_comm`, the share of the exchange that is hidden; none on one rank.
    pub fn hidden_share(&self) -> Option<f64> {
        let gained = self.first.median_s - self.hidden.median_s;
        (self.ranks > 1 && !self.apart).then(|| gained / self.exchange.median_s)
    }

    /// Most of it that can be: as much as inner rows take.
    pub fn hidden_most(&self) -> Option<f64> {
        let window_s = self.inner_share * self.alone.median_s;
        (self.ranks > 1 && !self.apart).then(|| (window_s / self.exchange.median_s).min(1.0))
    }
}

/// A case and the number of ranks that it is measured on, the first ones.
pub struct Entry {
    /// The case.
    pub case: Case,
    /// Ranks.
    pub ranks: usize,
    /// Each of them has the whole case to itself, and none hears of another while it works: what they
    /// lose against one alone is due to what they share of the machine, not to their exchange.
    pub apart: bool,
}

/// Measures on the mesh of `case`, and time steps of it, on all ranks of `comm`.
///
/// # Errors
/// As [`Simulation::open`](super::simulation::Simulation::open).
pub fn measure(case: &Case, comm: &Rc<Comm>, place: &Place, steps: Steps) -> Result<Scaling> {
    let mut run = Run::open(case, comm, comm, place, steps)?;
    (0..TURNS).try_for_each(|_| run.turn())?;
    run.close()
}

/// Measures all `entries` in turns, so that a machine whose speed changes treats them alike; each
/// rank works with the same cores and devices in all of them, and those that have no part in one rest
/// meanwhile. All entries are in memory together. Returns those in which this rank had a part, in
/// order: the first rank has all.
///
/// # Errors
/// As [`measure`], and [`Comm::first`].
pub fn take_turns(
    entries: &[Entry],
    comm: &Rc<Comm>,
    place: &Place,
    steps: Steps,
) -> Result<Vec<Scaling>> {
    let mut runs = Vec::new();
    for entry in entries {
        let team = comm.first(entry.ranks)?;
        runs.push(match &team {
            Some(team) if entry.apart => {
                let alone = Comm::solo();
                Some(Run::open(&entry.case, &alone, team, place, steps)?)
            }
            Some(team) => Some(Run::open(&entry.case, team, team, place, steps)?),
            None => None,
        });
        comm.rest()?;
    }
    for _ in 0..TURNS {
        for run in &mut runs {
            run.as_mut().map_or(Ok(()), Run::turn)?;
            comm.rest()?;
        }
    }
    runs.into_iter().flatten().map(Run::close).collect()
}

/// A case under measurement.
struct Run {
    /// What is known of it before.
    about: Scaling,
    kernels: Kernels,
    walk: Option<Walk>,
}

impl Run {
    /// `comm` works on `case`; all of `team` are measured together.
    fn open(
        case: &Case,
        comm: &Rc<Comm>,
        team: &Rc<Comm>,
        place: &Place,
        steps: Steps,
    ) -> Result<Self> {
        let apart = comm.size() < team.size();
        let plan = Plan::new(case.clone(), comm)?;
        let (a, halo, rows) = plan.pressure();
        let about = Scaling {
            ranks: team.size(),
            apart,
            rows: rows * team.size() / comm.size(),
            owned_most: comm.largest(a.rows as f64)? as usize,
            halo_most: comm.largest(halo.received(Reach::Face) as f64)? as usize,
            ..Scaling::default()
        };
        let kernels = Kernels::open(case, &plan, comm, team, place)?;
        let walk = match steps.count {
            0 => None,
            _ => Some(Walk::begin(plan.open(comm, place)?, team, steps)?),
        };
        Ok(Self {
            about,
            kernels,
            walk,
        })
    }

    /// Its share of one turn.
    fn turn(&mut self) -> Result<()> {
        (0..ROUNDS).try_for_each(|_| self.kernels.round())?;
        self.walk.as_mut().map_or(Ok(()), |w| w.turn(TURNS))
    }

    fn close(self) -> Result<Scaling> {
        let inner_share = self.kernels.inner_share()?;
        let [hidden, first, alone, exchange, axpy, dot, reduce] = self.kernels.costs();
        let mut out = Scaling {
            inner_share,
            hidden,
            first,
            alone,
            exchange,
            axpy,
            dot,
            reduce,
            ..self.about
        };
        if let Some(walk) = self.walk {
            out.fixed_iterations = walk.fixed_iterations();
            let spent = walk.end();
            out.step = Some(spent.step);
            out.iterations = Some(spent.iterations);
            out.iteration = Some(spent.iteration);
        }
        Ok(out)
    }
}
