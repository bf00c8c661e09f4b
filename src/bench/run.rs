//! A run of benches: the roofs, then each bench on each side, and the roofs again meanwhile.

use std::rc::Rc;

use super::matrices::{Ordering, Origin};
use super::result::Report;
use super::roofs::Sides;
use super::session::Session;
use super::timing::Clock;
use super::{Bench, Format, Input, Needs, Side};
use crate::energy::Source;
use crate::node::BLOCK;
use crate::sparse::Csr;
use crate::split::Engine;
use crate::split::cache::Cache;
use crate::{Error, Result};

/// What to measure.
pub struct Options {
    /// Benches, in order.
    pub benches: Vec<&'static Bench>,
    /// Leave out, with a note, a bench that the matrix does not suit; else it is an error.
    pub lenient: bool,
    /// The matrix.
    pub origin: Origin,
    /// The order of its rows.
    pub order: Ordering,
    /// How it is stored.
    pub format: Format,
    /// Where to run; places that need a device are left out with a note if there is none.
    pub places: Vec<Side>,
    /// Sweep the caches between calls.
    pub flush: bool,
    /// Hold the searches for cuts against all cuts.
    pub exhaustive: bool,
    /// Repeat work until its joules are known to 2 %.
    pub energy: bool,
}

impl Options {
    /// The matrix; without entries where no bench reads any.
    ///
    /// # Errors
    /// As [`Origin::matrix`].
    pub fn matrix(&self) -> Result<Csr> {
        let vectors = self.benches.iter().all(|b| b.needs == Needs::Rows);
        if vectors && self.order == Ordering::None {
            return self.origin.rows_alone();
        }
        self.origin.matrix()
    }
}

/// Runs the benches; `say` gets lines of progress, `source` the joules.
///
/// # Errors
/// [`Error::Input`] for a matrix that a bench cannot use; failures of memory or device.
pub fn run(
    engine: &mut Engine<f64>,
    options: &Options,
    matrix: Csr,
    source: &Source,
    mut say: impl FnMut(String),
) -> Result<Report> {
    let mut report = Report {
        roofs: Vec::new(),
        threads: engine.node.pool.threads(),
        results: Vec::new(),
        tuning: Vec::new(),
        notes: Vec::new(),
    };
    let input = input(options, Rc::new(matrix))?;
    let mut benches = Vec::new();
    for &bench in &options.benches {
        match input.suits(bench) {
            Ok(()) => benches.push(bench),
            Err(e) if options.lenient => report.notes.push(format!("left out: {e}")),
            Err(e) => return Err(e),
        }
    }
    let clock = Clock::new(source, options.flush, options.energy);
    let bandwidth = engine.bandwidth()?;
    let mut sides = Sides::default();
    for &place in &options.places {
        let share = match place {
            Side::Cpu => 0.0,
            _ if engine.node.device.is_none() => continue,
            Side::Device => 1.0,
            Side::Split => bandwidth.device_share(),
        };
        say(format!("measuring the roofs of {}", place.name()));
        sides.add(engine, place, share, &clock)?;
    }
    let measured = sides.sides();
    if measured.is_empty() {
        return Err(Error::failure(
            "there is no device to measure",
            "see `couloir devices`, or use --where cpu",
        ));
    }
    if measured.len() < options.places.len() {
        let note = "no device: the CPU alone is measured";
        report.notes.push(note.to_owned());
    }
    if measured.contains(&Side::Split) {
        report.notes.push(join(engine)?);
    }
    for bench in benches {
        engine.begin_from(&bandwidth, Cache::empty(None));
        say(format!("measuring {}", bench.name));
        let mut session = Session {
            engine,
            clock: &clock,
            sides: &mut sides,
            report: &mut report,
        };
        session.bench(bench, &input, options)?;
    }
    report.roofs = sides.highest();
    report.notes.extend(sides.notes());
    Ok(report)
}

/// The matrix in its order.
fn input(options: &Options, matrix: Rc<Csr>) -> Result<Input> {
    let mut name = options.origin.to_string();
    if options.order == Ordering::None {
        return Ok(Input::new(name, matrix, options.format));
    }
    let ordered = options.order.apply(&matrix, &name)?;
    name = format!("{name} {}", options.order.name());
    let mut input = Input::new(name, Rc::new(ordered), options.format);
    input.given = Some(matrix);
    Ok(input)
}

/// What a call on both sides costs beyond its rows: that of AXPY on two blocks.
fn join(engine: &mut Engine<f64>) -> Result<String> {
    let tiny = Input::new(
        "join".to_owned(),
        Rc::new(Csr::zero(2 * BLOCK, 1)),
        Format::Sell,
    );
    engine.set_policy(crate::split::Policy::Fixed(0.5));
    let mut work = (super::axpy::BENCH.prepare)(engine, &tiny)?;
    let mut samples: Vec<f64> = Vec::new();
    for _ in 0..2000 {
        let start = std::time::Instant::now();
        work.call(engine)?;
        samples.push(start.elapsed().as_secs_f64());
    }
    samples.sort_unstable_by(f64::total_cmp);
    let micro = samples[samples.len() / 2] * 1e6;
    Ok(format!(
        "starting and joining both sides takes {micro:.1} us"
    ))
}
