//! Measuring kernels and solvers: on the CPU, on the device, and split.
//!
//! Every measurement is verified against a plain loop first, and stands beside roofs that are
//! measured in turns with it. A bench is a file with its [`Bench`], and one word in [`LIST`].

mod axpy;
mod csr;
mod dot;
mod graphs;
mod gspmv;
pub mod matrices;
mod pcg;
pub mod result;
mod roofs;
mod run;
mod session;
mod spmv;
mod step;
mod timing;
mod tuning;

use std::cell::OnceCell;
use std::rc::Rc;

pub use graphs::closed_box;
pub use matrices::{Ordering, Origin};
pub use run::{Options, run};

use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Place, Policy, Roofs, Site};
use crate::{Error, Result};

/// Every bench.
pub const LIST: [&Bench; 8] = [
    &spmv::BENCH,
    &gspmv::BENCH,
    &axpy::BENCH,
    &dot::BENCH,
    &pcg::BENCH,
    &pcg::JACOBI,
    &pcg::FSAI,
    &step::BENCH,
];

/// Something to measure.
pub struct Bench {
    /// Its name on the command line and in results.
    pub name: &'static str,
    /// What a unit of it is: a call, an iteration, a step.
    pub unit: &'static str,
    /// What it needs of the matrix.
    needs: Needs,
    /// Makes the operands and call sites, under the engine's present policy.
    prepare: Prepare,
    /// Bytes that a unit must move when nothing is compressed; none: what its kernels move.
    effective_bytes: fn(&Input) -> Option<f64>,
}

/// Makes a bench's operands and call sites.
type Prepare = fn(&Engine<f64>, &Input) -> Result<Box<dyn Work>>;

/// What a bench needs of the matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Its number of rows, for vectors.
    Rows,
    /// Its number of rows, for a mesh with as many cells.
    Cells,
    /// Its entries.
    Entries,
    /// Symmetric, with a positive diagonal.
    Definite,
}

/// A bench on one side of the node, or split.
trait Work {
    /// Brings the operands to where a call begins; not timed.
    fn reset(&mut self) -> Result<()> {
        Ok(())
    }
    /// One timed call; returns the units done. The device may still be at it.
    fn call(&mut self, engine: &Engine<f64>) -> Result<f64>;
    /// Whether several calls follow each other on the device, as in a solver or a run, before it is
    /// waited for.
    fn queues(&self) -> bool {
        false
    }
    /// Whether a call computes what the plain loop does.
    fn verify(&mut self, engine: &Engine<f64>) -> Result<bool>;
    /// Its call sites.
    fn sites(&self) -> Vec<&Place>;
    /// The site whose cut can be set from outside, if it has a single one.
    fn site_mut(&mut self) -> Option<&mut Site<f64>> {
        None
    }
    /// What it works on, if that is not the matrix.
    fn subject(&self) -> Option<&Subject> {
        None
    }
    /// Operations, moved bytes, and least time of all calls so far.
    fn done(&self, roofs: &Roofs) -> Done {
        let mut done = Done::default();
        for site in self.sites() {
            let (s, calls) = (&site.stats, site.stats.calls as f64);
            done.flops += calls * s.call_flops;
            done.bytes += s.bytes();
            done.least_s += calls * roofs.seconds(&s.call_traffic) - roofs.seconds(&s.spared);
        }
        done
    }
}

/// What a bench works on.
#[derive(Clone, Debug)]
struct Subject {
    matrix: String,
    rows: usize,
    nnz: usize,
}

/// What calls have done.
#[derive(Clone, Copy, Default)]
struct Done {
    flops: f64,
    bytes: f64,
    least_s: f64,
}

/// Where a bench runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The CPU threads alone.
    Cpu,
    /// The device alone.
    Device,
    /// Both, cut where the tuner finds it best.
    Split,
}

impl Side {
    /// All.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Device, Self::Split];

    /// Name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Device => "device",
            Self::Split => "split",
        }
    }

    fn policy(self) -> Policy {
        match self {
            Self::Cpu => Policy::Fixed(0.0),
            Self::Device => Policy::Fixed(1.0),
            Self::Split => Policy::Auto,
        }
    }
}

/// How a matrix is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Sliced ELLPACK, as in the time loop.
    #[default]
    Sell,
    /// Compressed sparse rows on CPU threads, for comparison.
    Csr,
}

impl Format {
    /// All.
    pub const ALL: [Self; 2] = [Self::Sell, Self::Csr];

    /// Name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sell => "sell",
            Self::Csr => "csr",
        }
    }
}

/// What benches work on.
struct Input {
    name: String,
    matrix: Rc<Csr>,
    /// The same in the order given, where that was changed.
    given: Option<Rc<Csr>>,
    format: Format,
    sell: OnceCell<Rc<Sell<f64>>>,
}

impl Input {
    fn new(name: String, matrix: Rc<Csr>, format: Format) -> Self {
        let sell = OnceCell::new();
        Self {
            name,
            matrix,
            given: None,
            format,
            sell,
        }
    }

    fn rows(&self) -> f64 {
        self.matrix.rows as f64
    }

    fn nnz(&self) -> f64 {
        self.matrix.entries() as f64
    }

    /// The matrix in unified memory, converted once.
    fn sell(&self, engine: &Engine<f64>) -> Result<Rc<Sell<f64>>> {
        if let Some(sell) = self.sell.get() {
            return Ok(Rc::clone(sell));
        }
        let sell = Rc::new(Sell::from_csr(&engine.node, &self.matrix)?);
        Ok(Rc::clone(self.sell.get_or_init(|| sell)))
    }

    /// Refuses a matrix that `bench` cannot use.
    fn suits(&self, bench: &Bench) -> Result<()> {
        let a = &self.matrix;
        let refuse = |what: String| {
            let remedy = "take another matrix, or another bench";
            Err(Error::input(&self.name, what, remedy))
        };
        if bench.needs != Needs::Definite {
            return Ok(());
        }
        if a.rows != a.cols {
            let (rows, cols) = (a.rows, a.cols);
            return refuse(format!(
                "{} needs a square matrix, and this is {rows} x {cols}",
                bench.name
            ));
        }
        if a.diag().iter().any(|&d| d <= 0.0) {
            return refuse(format!("{} needs a positive diagonal", bench.name));
        }
        let largest = a.val.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let t = a.transpose();
        let values = || a.val.iter().zip(&t.val);
        let symmetric = t.row_ptr == a.row_ptr
            && t.col == a.col
            && values().all(|(x, y)| (x - y).abs() <= 1e-12 * largest);
        if !symmetric {
            return refuse(format!("{} needs a symmetric matrix", bench.name));
        }
        Ok(())
    }
}

/// A vector of `n` numbers between -1 and 1, the same for the same seed.
fn vector(engine: &Engine<f64>, n: usize, seed: u64) -> Result<Buffer<f64>> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut buffer = engine.node.buffer(n)?;
    for x in buffer.write()?.iter_mut().take(n) {
        *x = 2.0 * rng.f64() - 1.0;
    }
    Ok(buffer)
}

/// Whether the product `y` of `a` and `x` with `b` added is right to round-off: each row to
/// `1e-13 (|b| + |A| |x|)`.
fn product_is_right(a: &Csr, x: &[f64], b: Option<&[f64]>, y: &[f64]) -> bool {
    (0..a.rows).all(|i| {
        let b = b.map_or(0.0, |b| b[i]);
        let (mut sum, mut size) = (b, b.abs());
        for (j, v) in a.row(i) {
            sum += v * x[j];
            size += (v * x[j]).abs();
        }
        (y[i] - sum).abs() <= 1e-13 * size
    })
}
