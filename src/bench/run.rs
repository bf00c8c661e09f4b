//! A run of benches: the roofs, then each bench at each place.

use std::rc::Rc;

use super::matrices::{Ordering, Origin};
use super::result::{BenchResult, Report};
use super::timing::{Clock, Timing};
use super::tuning::exhaustive;
use super::{Bench, Format, Input, Needs, Side, Work, csr};
use crate::energy::Source;
use crate::kernel::Real;
use crate::node::{BLOCK, MemoryKind};
use crate::sparse::Csr;
use crate::split::cache::Cache;
use crate::split::{Engine, Roofs};
use crate::{Error, Result};

/// Best over median rate beyond which a line warns of noise.
const NOISY: f64 = 1.15;

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
    let mut places = Vec::new();
    for &place in &options.places {
        let share = match place {
            Side::Cpu => 0.0,
            _ if engine.node.device.is_none() => continue,
            Side::Device => 1.0,
            Side::Split => bandwidth.device_share(),
        };
        say(format!("measuring the roofs of {}", place.name()));
        let roofs = engine.roofs(share, &|engine| clock.flush(engine))?;
        report.roofs.push((place.name(), roofs));
        places.push((place, roofs));
    }
    if places.is_empty() {
        return Err(Error::failure(
            "there is no device to measure",
            "see `couloir devices`, or use --where cpu",
        ));
    }
    if places.len() < options.places.len() {
        let note = "no device: the CPU alone is measured";
        report.notes.push(note.to_owned());
    }
    if let Some(join) = join(engine, &places)? {
        report.notes.push(join);
    }
    for bench in benches {
        engine.begin_from(&bandwidth, Cache::empty(None));
        say(format!("measuring {}", bench.name));
        let mut session = Session {
            engine,
            clock: &clock,
            report: &mut report,
        };
        session.bench(bench, &input, &places, options)?;
    }
    Ok(report)
}

/// Whether the product is one of compressed sparse rows.
fn is_csr(bench: &Bench, input: &Input) -> bool {
    bench.name == super::spmv::BENCH.name && input.format == Format::Csr
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
fn join(engine: &mut Engine<f64>, places: &[(Side, Roofs)]) -> Result<Option<String>> {
    if !places.iter().any(|(place, _)| *place == Side::Split) {
        return Ok(None);
    }
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
    Ok(Some(format!(
        "starting and joining both sides takes {micro:.1} us"
    )))
}

/// What a bench is run with.
struct Session<'a, 'b> {
    engine: &'a mut Engine<f64>,
    clock: &'a Clock<'b>,
    report: &'a mut Report,
}

impl Session<'_, '_> {
    fn bench(
        &mut self,
        bench: &'static Bench,
        input: &Input,
        places: &[(Side, Roofs)],
        options: &Options,
    ) -> Result<()> {
        let mut works: Vec<(Side, Roofs, Box<dyn Work>)> = Vec::new();
        let mut verified = Vec::new();
        for &(place, roofs) in places {
            if is_csr(bench, input) && place == Side::Split {
                continue;
            }
            self.engine.set_policy(place.policy());
            let mut work = self.prepare(bench, input, place)?;
            verified.push(work.verify(self.engine)?);
            if place == Side::Split && !self.clock.settle(self.engine, work.as_mut())? {
                let note = "the search for cuts had not ended when it was timed";
                self.report.notes.push(format!("{}: {note}", bench.name));
            }
            works.push((place, roofs, work));
        }
        if works.is_empty() {
            let remedy = "use --where cpu or device, or --format sell";
            return Err(Error::input("--format csr", "csr is not split", remedy));
        }
        let timings = self.clock.time(self.engine, &mut works)?;
        for (((place, _, work), timing), verified) in works.iter().zip(&timings).zip(verified) {
            let result = self.result(bench, input, *place, work.as_ref(), timing, verified);
            if *place == Side::Split
                && result.split_ratio > 0.9
                && self.engine.node.memory == MemoryKind::Discrete
            {
                self.report.notes.push(format!(
                    "{}: nearly all rows are on the device: it has memory of its own, far faster \
                     than the CPU's, and what both sides read would be copied",
                    bench.name
                ));
            }
            self.report.results.push(result);
        }
        self.gain(bench, input, options, &mut works)?;
        for (place, _, work) in &mut works {
            if *place == Side::Split && options.exhaustive {
                self.engine.set_policy(place.policy());
                let found = exhaustive(self.clock, self.engine, bench, work.as_mut())?;
                self.report.tuning.extend(found);
            }
        }
        Ok(())
    }

    fn prepare(&self, bench: &Bench, input: &Input, place: Side) -> Result<Box<dyn Work>> {
        if is_csr(bench, input) {
            return csr::prepare(self.engine, &input.matrix, place);
        }
        (bench.prepare)(self.engine, input)
    }

    fn result(
        &mut self,
        bench: &'static Bench,
        input: &Input,
        place: Side,
        work: &dyn Work,
        timing: &Timing,
        verified: bool,
    ) -> BenchResult {
        let (least, median) = (timing.least(), timing.median());
        if timing.spread() > NOISY {
            let percent = 100.0 * (timing.spread() - 1.0);
            self.report.notes.push(format!(
                "{} on {}: the best call is {percent:.0} % faster than the median one; other work \
                 disturbs the measurement",
                bench.name,
                place.name()
            ));
        }
        let (rows, device_rows) = work.sites().iter().fold((0.0, 0.0), |(all, device), s| {
            let rows = s.stats.calls as f64 * s.rows as f64;
            (all + rows, device + rows * s.ratio())
        });
        let bytes_per_s = match (bench.effective_bytes)(input) {
            Some(bytes) => bytes / median,
            None => timing.rate(|r| r.bytes),
        };
        let subject = work.subject();
        BenchResult {
            kernel: bench.name,
            matrix: subject.map_or(&input.name, |s| &s.matrix).clone(),
            rows: subject.map_or(input.matrix.rows, |s| s.rows),
            nnz: subject.map_or(input.matrix.entries(), |s| s.nnz),
            precision: f64::NAME,
            format: match bench.needs {
                Needs::Rows if subject.is_none() => None,
                Needs::Entries if bench.name == super::spmv::BENCH.name => {
                    Some(input.format.name())
                }
                _ => Some(Format::Sell.name()),
            },
            place: place.name(),
            split_ratio: match place {
                Side::Device => 1.0,
                _ if rows > 0.0 => device_rows / rows,
                _ => 0.0,
            },
            threads: match place {
                Side::Device => 0,
                _ => self.report.threads,
            },
            seconds_min: least,
            seconds_median: median,
            gflop_per_s: timing.rate(|r| r.flops) / 1e9,
            gb_per_s: bytes_per_s / 1e9,
            roofline_fraction: timing.rate(|r| r.least_s),
            joules: timing.joules,
            uncertainty_fraction: timing.uncertainty_fraction,
            verified,
            unit: bench.unit,
        }
    }

    /// The product in the given order beside the one in the order asked for.
    fn gain(
        &mut self,
        bench: &'static Bench,
        input: &Input,
        options: &Options,
        works: &mut Vec<(Side, Roofs, Box<dyn Work>)>,
    ) -> Result<()> {
        let (Some(given), true) = (&input.given, bench.name == super::spmv::BENCH.name) else {
            return Ok(());
        };
        let (place, roofs, _) = works[0];
        self.engine.set_policy(place.policy());
        let given = Input::new(String::new(), Rc::clone(given), input.format);
        let work = self.prepare(bench, &given, place)?;
        let last = works.len();
        works.push((place, roofs, work));
        let timings = self.clock.time(self.engine, works)?;
        works.truncate(last);
        let ratio = timings[last].median() / timings[0].median();
        self.report.notes.push(format!(
            "order {}: spmv on {} is {ratio:.2} times as fast as in the order given",
            options.order.name(),
            place.name()
        ));
        Ok(())
    }
}
