//! What the kernels of the pressure solve cost on the ranks there are: the product with its
//! exchange hidden (OSpMV) and before it (NSpMV), the exchange alone, AXPY and DOT (thesis section
//! 3.4.3).

mod step;

use std::rc::Rc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::case::{Case, Split};
use super::simulation::Plan;
use crate::Result;
use crate::cluster::place::Place;
use crate::cluster::{Comm, Halo, Reach};
use crate::kernel::{axpy, dot, spmv};
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::cache::Cache;
use crate::split::{Engine, Operands, Policy, Site};

/// Rounds of each measurement, and what one lasts at least.
const ROUNDS: usize = 9;
const ROUND_S: f64 = 0.02;
/// Calls that a search for the best cut may take before the measurement.
const TUNING_CALLS: usize = 2000;

/// Time steps to measure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    /// How many; as many more go before, which nobody counts.
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
        (self.ranks > 1).then(|| gained / self.exchange.median_s)
    }

    /// Most of it that can be: as much as inner rows take.
    pub fn hidden_most(&self) -> Option<f64> {
        let window_s = self.inner_share * self.alone.median_s;
        (self.ranks > 1).then(|| (window_s / self.exchange.median_s).min(1.0))
    }
}

/// A matrix with the vectors that it is applied to.
struct Probe {
    engine: Engine<f64>,
    halo: Rc<Halo>,
    matrix: Sell<f64>,
    x: Buffer<f64>,
    y: Buffer<f64>,
    product: Site<f64>,
    axpy: Site<f64>,
    dot: Site<f64>,
}

impl Probe {
    fn new(mut engine: Engine<f64>, comm: &Rc<Comm>, a: &Csr, halo: Rc<Halo>) -> Result<Self> {
        let bandwidth = engine.bandwidth()?;
        engine.begin_from(&bandwidth, Cache::default());
        engine.join(comm, true);
        let n = a.rows;
        let mut x = engine.node.buffer_with_halo::<f64>(n, halo.len())?;
        for (i, v) in x.write()?[..n].iter_mut().enumerate() {
            *v = (i as f64).sin();
        }
        let matrix: Sell<f64> = Sell::from_csr(&engine.node, a)?;
        let mut product = engine.site(spmv::kernel(), "product", n)?;
        engine.keep_border(&mut product, &halo, &matrix);
        Ok(Self {
            matrix,
            x,
            y: engine.node.buffer(n)?,
            product,
            axpy: engine.site(axpy::kernel(), "axpy", n)?,
            dot: engine.site(dot::kernel(), "dot", n)?,
            halo,
            engine,
        })
    }

    fn multiply(&mut self, exchange: bool) -> Result<()> {
        let halo = match exchange {
            true => self.engine.exchange(&self.halo, &mut self.x)?,
            false => None,
        };
        let operands = Operands {
            out: &mut [&mut self.y],
            gather: &[&self.x],
            mats: &[&self.matrix],
            halo,
            ..Operands::default()
        };
        self.engine.run(&mut self.product, operands).map(|_| ())
    }

    fn add(&mut self) -> Result<()> {
        let operands = Operands {
            inout: &mut [&mut self.y],
            own: &[&self.x],
            scalars: &[1e-3],
            ..Operands::default()
        };
        self.engine.run(&mut self.axpy, operands).map(|_| ())
    }

    fn inner(&mut self) -> Result<()> {
        let operands = Operands {
            own: &[&self.x, &self.y],
            ..Operands::default()
        };
        self.engine.run(&mut self.dot, operands).map(|_| ())
    }

    fn swap(&mut self) -> Result<()> {
        self.engine
            .update(&self.halo, Reach::Face, &mut [&mut self.x])
    }
}

/// Measures on the mesh of `case`, and time steps of it.
///
/// # Errors
/// As [`Simulation::open`](super::simulation::Simulation::open).
pub fn measure(case: &Case, comm: &Rc<Comm>, place: &Place, steps: Steps) -> Result<Scaling> {
    let plan = Plan::new(case.clone(), comm)?;
    let (a, halo, rows) = plan.pressure();
    let owned_most = comm.largest(a.rows as f64)? as usize;
    let halo_most = comm.largest(halo.received(Reach::Face) as f64)? as usize;
    let mut config = case.node.config();
    config.turn = place.turn;
    let policy = match case.node.split {
        Split::Auto => Policy::Auto,
        Split::Fixed(ratio) => Policy::Fixed(ratio),
    };
    let mut p = Probe::new(Engine::open(&config, policy)?, comm, a, Rc::clone(halo))?;
    // All ranks search for their cuts together, as they do in a run.
    for _ in 0..TUNING_CALLS / 20 {
        for _ in 0..20 {
            p.multiply(true)?;
        }
        let open = f64::from(u8::from(p.product.is_tuning()));
        if comm.largest(open)? == 0.0 {
            break;
        }
    }
    let [hidden, first, alone, exchange, axpy, dot, reduce] = costs(comm, &mut p)?;
    let mut out = Scaling {
        inner_share: -comm.largest(-p.product.inner_share())?,
        ranks: comm.size(),
        rows,
        owned_most,
        halo_most,
        hidden,
        first,
        alone,
        exchange,
        axpy,
        dot,
        reduce,
        step: None,
        iterations: None,
        fixed_iterations: None,
        iteration: None,
    };
    drop(p);
    if steps.count > 0 {
        let spent = step::measure(plan.open(comm, place)?, comm, steps)?;
        out.step = Some(spent.step);
        out.iterations = Some(spent.iterations);
        out.fixed_iterations = steps.iterations;
        out.iteration = Some(spent.iteration);
    }
    Ok(out)
}

/// What is measured, in the order of [`costs`].
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

/// The slowest rank's time of a call of each kind, over rounds that all ranks begin together. The
/// kinds take turns, so that a machine whose speed changes treats them alike.
fn costs(comm: &Rc<Comm>, p: &mut Probe) -> Result<[Cost; ALL.len()]> {
    let mut times: [Vec<f64>; ALL.len()] = Default::default();
    let mut calls = [1usize; ALL.len()];
    for (i, what) in ALL.into_iter().enumerate() {
        loop {
            let seconds = round(comm, p, what, calls[i])?;
            if seconds >= ROUND_S || calls[i] >= 100_000 {
                break;
            }
            // All ranks have seen the same time.
            let more = (ROUND_S / seconds.max(1e-9)).ceil().clamp(2.0, 100.0);
            calls[i] = (calls[i] as f64 * more) as usize;
        }
    }
    for _ in 0..ROUNDS {
        for (i, what) in ALL.into_iter().enumerate() {
            let seconds = round(comm, p, what, calls[i])?;
            times[i].push(seconds / calls[i] as f64);
        }
    }
    Ok(times.map(Cost::of))
}

/// Seconds that the slowest rank takes for `calls` calls, after a few that nobody counts: what was
/// measured before has left its own data in the caches.
fn round(comm: &Rc<Comm>, p: &mut Probe, what: What, calls: usize) -> Result<f64> {
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
    call(calls.div_ceil(8))?;
    comm.barrier()?;
    let start = Instant::now();
    call(calls)?;
    comm.largest(start.elapsed().as_secs_f64())
}
