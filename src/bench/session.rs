//! One bench at each of its places: prepared, verified, timed in turns.

use std::rc::Rc;

use super::result::{BenchResult, Report};
use super::roofs::Sides;
use super::run::Options;
use super::timing::{Clock, Timing};
use super::tuning::exhaustive;
use super::{Bench, Format, Input, Needs, Side, Work, csr};
use crate::kernel::Real;
use crate::node::MemoryKind;
use crate::split::Engine;
use crate::{Error, Result};

/// Best over median rate beyond which a line warns of noise.
const NOISY: f64 = 1.15;

/// What a bench is run with.
pub(super) struct Session<'a, 'b> {
    pub engine: &'a mut Engine<f64>,
    pub clock: &'a Clock<'b>,
    pub sides: &'a mut Sides,
    pub report: &'a mut Report,
}

impl Session<'_, '_> {
    /// Prepares, verifies and times `bench` on each of the sides.
    ///
    /// # Errors
    /// [`Error::Input`] where no place suits the format; failures of memory or device.
    pub fn bench(&mut self, bench: &'static Bench, input: &Input, options: &Options) -> Result<()> {
        let mut works: Vec<(Side, Box<dyn Work>)> = Vec::new();
        let mut verified = Vec::new();
        for place in self.sides.sides() {
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
            works.push((place, work));
        }
        if works.is_empty() {
            let remedy = "use --where cpu or device, or --format sell";
            return Err(Error::input("--format csr", "csr is not split", remedy));
        }
        let timings = self.clock.time(self.engine, self.sides, &mut works)?;
        for (((place, work), timing), verified) in works.iter().zip(&timings).zip(verified) {
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
        for (place, work) in &mut works {
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
        works: &mut Vec<(Side, Box<dyn Work>)>,
    ) -> Result<()> {
        let (Some(given), true) = (&input.given, bench.name == super::spmv::BENCH.name) else {
            return Ok(());
        };
        let place = works[0].0;
        self.engine.set_policy(place.policy());
        let given = Input::new(String::new(), Rc::clone(given), input.format);
        let work = self.prepare(bench, &given, place)?;
        let last = works.len();
        works.push((place, work));
        let timings = self.clock.time(self.engine, self.sides, works)?;
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

/// Whether the product is one of compressed sparse rows.
fn is_csr(bench: &Bench, input: &Input) -> bool {
    bench.name == super::spmv::BENCH.name && input.format == Format::Csr
}
