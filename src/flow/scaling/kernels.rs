//! Kernels of the pressure solve, measured in rounds that all ranks begin together. The kinds take
//! turns, there and back, so that a machine whose speed changes treats them alike, and each comes as
//! often after the one as after the other neighbour: what runs before leaves its data in the caches.

use std::rc::Rc;
use std::time::Instant;

use super::Cost;
use super::probe::Probe;
use crate::Result;
use crate::cluster::Comm;
use crate::cluster::place::Place;
use crate::flow::case::{Case, Split};
use crate::flow::simulation::Plan;
use crate::split::{Engine, Policy};

/// What a round lasts at least.
const ROUND_S: f64 = 0.02;
/// Calls that a search for the best cut may take before the measurement.
const TUNING_CALLS: usize = 2000;

/// What is measured.
#[derive(Clone, Copy)]
enum What {
    Hidden,
    First,
    Alone,
    Exchange,
    Axpy,
    Dot,
    Reduce,
}

const ALL: [What; 7] = [
    What::Hidden,
    What::First,
    What::Alone,
    What::Exchange,
    What::Axpy,
    What::Dot,
    What::Reduce,
];

/// What they cost so far.
pub(super) struct Kernels {
    /// Who exchanges halos and sums.
    comm: Rc<Comm>,
    /// Who is measured together.
    team: Rc<Comm>,
    probe: Probe,
    /// Calls of a round.
    calls: [usize; ALL.len()],
    times: [Vec<f64>; ALL.len()],
}

impl Kernels {
    /// Opens a node for them, lets them find their cuts, and finds how many calls a round takes.
    ///
    /// # Errors
    /// As [`Engine::open`]; a rank no longer answers.
    pub fn open(
        case: &Case,
        plan: &Plan,
        comm: &Rc<Comm>,
        team: &Rc<Comm>,
        place: &Place,
    ) -> Result<Self> {
        let mut config = case.node.config();
        config.turn = place.turn;
        let policy = match case.node.split {
            Split::Auto => Policy::Auto,
            Split::Fixed(ratio) => Policy::Fixed(ratio),
        };
        let (a, halo, _) = plan.pressure();
        let mut p = Probe::new(Engine::open(&config, policy)?, comm, a, Rc::clone(halo))?;
        // All ranks search for their cuts together, as they do in a run.
        for _ in 0..TUNING_CALLS / 20 {
            for _ in 0..20 {
                p.multiply(true)?;
            }
            let open = f64::from(u8::from(p.product.is_tuning()));
            if team.largest(open)? == 0.0 {
                break;
            }
        }
        let mut calls = [1usize; ALL.len()];
        for (i, what) in ALL.into_iter().enumerate() {
            loop {
                let seconds = round([comm, team], &mut p, what, calls[i])?;
                if seconds >= ROUND_S || calls[i] >= 100_000 {
                    break;
                }
                // All ranks have seen the same time.
                let more = (ROUND_S / seconds.max(1e-9)).ceil().clamp(2.0, 100.0);
                calls[i] = (calls[i] as f64 * more) as usize;
            }
        }
        Ok(Self {
            comm: Rc::clone(comm),
            team: Rc::clone(team),
            probe: p,
            calls,
            times: Default::default(),
        })
    }

    /// A round of each kind.
    ///
    /// # Errors
    /// The device failed; a rank no longer answers.
    pub fn round(&mut self) -> Result<()> {
        let back = self.times[0].len() % 2 == 1;
        for k in 0..ALL.len() {
            let i = if back { ALL.len() - 1 - k } else { k };
            let comms = [&self.comm, &self.team];
            let seconds = round(comms, &mut self.probe, ALL[i], self.calls[i])?;
            self.times[i].push(seconds / self.calls[i] as f64);
        }
        Ok(())
    }

    /// Share of a rank's rows, least, that do not wait for the exchange.
    ///
    /// # Errors
    /// A rank no longer answers.
    pub fn inner_share(&self) -> Result<f64> {
        Ok(-self.comm.largest(-self.probe.product.inner_share())?)
    }

    /// The slowest rank's time of a call of each kind: the product with its exchange hidden, after
    /// it, without; the exchange, AXPY, DOT, a sum.
    pub fn costs(self) -> [Cost; ALL.len()] {
        self.times.map(Cost::of)
    }
}

/// Seconds that the slowest of `team` takes for `calls` calls, after half as many that nobody counts: a
/// large cache takes some calls to give up the data of what was measured before (a Xeon with 300 MiB,
/// one rank, the same product as `Hidden`, `First` and `Alone`: 4.6, 3.6, 3.4 ms after an eighth of
/// them, 3.4, 3.2, 3.4 ms after half of them).
fn round([comm, team]: [&Rc<Comm>; 2], p: &mut Probe, what: What, calls: usize) -> Result<f64> {
    p.engine.join(comm, !matches!(what, What::First));
    let mut call = |n: usize| -> Result<()> {
        for _ in 0..n {
            match what {
                What::Hidden | What::First => p.multiply(true)?,
                What::Alone => p.multiply(false)?,
                What::Exchange => p.swap()?,
                What::Axpy => p.add()?,
                What::Dot => p.inner()?,
                What::Reduce => comm.barrier()?,
            }
        }
        Ok(())
    };
    call(calls.div_ceil(2))?;
    team.barrier()?;
    let start = Instant::now();
    call(calls)?;
    team.largest(start.elapsed().as_secs_f64())
}
