//! A place in the algorithm where a kernel is called: its cut and its statistics.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use opencl3::kernel::Kernel as ClKernel;

use super::border::Border;
use super::tuner::{Call, Tuner};
use crate::Result;
use crate::kernel::{Kernel, Real};
use crate::node::queue::{Account, Queue};
use crate::node::{BLOCK, Buffer, Node, Shares, Tuning, padded};

/// Bytes that a call must move, every operand once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Read and not written.
    pub read_bytes: f64,
    /// Written and not read.
    pub written_bytes: f64,
    /// Read, and written at the same place: bytes of the operand, which moves twice.
    pub updated_bytes: f64,
}

impl Traffic {
    /// All that moves.
    pub fn bytes(&self) -> f64 {
        self.read_bytes + self.written_bytes + 2.0 * self.updated_bytes
    }
}

/// What the calls of one site cost.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Calls so far.
    pub calls: u64,
    /// Time of those that were waited for; see [`Place::seconds_s`].
    pub seconds_s: f64,
    /// Least memory traffic of one call (every operand once).
    pub call_bytes: f64,
    /// The same by reads and writes.
    pub call_traffic: Traffic,
    /// What all calls so far left alone of that.
    pub spared: Traffic,
    /// Floating-point operations of one call.
    pub call_flops: f64,
}

impl Stats {
    /// Adds a call.
    pub fn add(&mut self, seconds_s: f64) {
        self.calls += 1;
        self.seconds_s += seconds_s;
    }

    /// Least memory traffic of all calls so far.
    pub fn bytes(&self) -> f64 {
        self.calls as f64 * self.call_bytes - self.spared.bytes()
    }
}

/// What reports, caches and searches know of a site, whatever its precision.
#[derive(Debug)]
pub struct Place {
    /// What it is for; unique among a solver's sites.
    pub label: String,
    /// Name of its kernel.
    pub name: &'static str,
    /// Formula of its kernel.
    pub formula: &'static str,
    /// `fp64` or `fp32`.
    pub precision: &'static str,
    /// Rows, in whole blocks.
    pub rows: usize,
    /// Rows, in whole blocks, that count in reductions.
    pub(super) counted: usize,
    /// Rows that wait for a halo: the CPU's.
    pub(super) waiting: usize,
    /// What it cost.
    pub stats: Stats,
    pub(super) tuner: Tuner,
    /// Time of the last call that was waited for.
    last_s: f64,
    measured: u64,
    /// Calls until the work is the same again; and those of such a turn so far, with their time and
    /// the host's.
    turn: u64,
    turned: (u64, f64, f64),
    /// Calls that nobody measured.
    account: Rc<Account>,
}

/// A kernel, the rows it runs on here, and where they are cut.
pub struct Site<T: Real> {
    /// The operation.
    pub kernel: Kernel<T>,
    pub(super) place: Place,
    /// How the CPU's rows are dealt out to threads.
    pub(super) shares: Shares,
    pub(super) handle: Option<ClKernel>,
    /// The same for matrices of long rows, where that differs.
    pub(super) long: Option<ClKernel>,
    /// The form that loads ahead, for matrices of the same slices.
    pub(super) ahead: Option<ClKernel>,
    /// How it is launched, unless as the device's tuning says.
    pub(super) tuning: Option<Tuning>,
    pub(super) device_partial: Vec<Buffer<T>>,
    /// The same added up by lanes, once that was worth while.
    pub(super) device_lanes: Vec<Buffer<T>>,
    pub(super) host_partial: Vec<Vec<T>>,
    /// Where the rows that wait for a halo find what they read.
    pub(super) border: Border<T>,
    /// Rows of the last call that the device took.
    pub(super) cut: usize,
}

/// Calls that are waited for at first, and one in how many later: enough to see a drift. A wait costs
/// a graphics card some 40 us, so there are not more in so many seconds of calls.
const FIRST: u64 = 3;
const ONE_IN: f64 = 256.0;
const SPACING_S: f64 = 0.02;
const LEAST_OFTEN: f64 = 16384.0;

impl<T: Real> Site<T> {
    pub(super) fn new(
        node: &Node,
        kernel: Kernel<T>,
        label: &str,
        rows: usize,
        handle: Option<ClKernel>,
    ) -> Result<Self> {
        let rows = padded(rows.max(1));
        let reductions = kernel.shape.reduce.len();
        let device_partial = if handle.is_some() { reductions } else { 0 };
        Ok(Self {
            place: Place::new(label, [kernel.name, kernel.formula, T::NAME], rows),
            shares: node.pool.shares().anew(),
            handle,
            long: None,
            ahead: None,
            tuning: None,
            device_partial: (0..device_partial)
                .map(|_| node.buffer(rows / BLOCK))
                .collect::<Result<_>>()?,
            device_lanes: Vec::new(),
            host_partial: vec![vec![T::ZERO; rows / BLOCK]; reductions],
            border: Border::none(),
            kernel,
            cut: 0,
        })
    }
}

impl<T: Real> Deref for Site<T> {
    type Target = Place;
    fn deref(&self) -> &Place {
        &self.place
    }
}

impl<T: Real> DerefMut for Site<T> {
    fn deref_mut(&mut self) -> &mut Place {
        &mut self.place
    }
}

impl Place {
    /// For calls on `rows` rows of the kernel of that name, formula and precision.
    pub(super) fn new(
        label: &str,
        [name, formula, precision]: [&'static str; 3],
        rows: usize,
    ) -> Self {
        Self {
            label: label.to_string(),
            name,
            formula,
            precision,
            rows,
            counted: rows,
            waiting: 0,
            stats: Stats::default(),
            tuner: Tuner::fixed(rows, BLOCK, 0.0),
            last_s: 0.0,
            measured: 0,
            turn: 1,
            turned: (0, 0.0, 0.0),
            account: Rc::default(),
        }
    }

    /// Is the next call to be measured, though the device does it alone?
    pub fn to_be_measured(&self) -> bool {
        let first = self.measured < FIRST * self.turn;
        self.tuner.tuning() || first || self.stats.calls % self.one_in() < self.turn
    }

    fn one_in(&self) -> u64 {
        let one_in = (SPACING_S / self.last_s).clamp(ONE_IN, LEAST_OFTEN) as u64;
        one_in.next_power_of_two()
    }

    /// How many calls from the next on are not to be measured.
    pub fn unmeasured(&self) -> u64 {
        if self.to_be_measured() {
            return 0;
        }
        let one_in = self.one_in();
        one_in - self.stats.calls % one_in
    }

    /// Says that calls take turns at so many kinds of work: one of each makes a measurement.
    pub fn takes_turns(&mut self, kinds: u64) {
        self.turn = kinds.max(1);
    }

    /// Notes a call that was waited for, and the time until the host's part was done.
    pub(super) fn measured(&mut self, seconds_s: f64, host_s: f64) {
        self.measured += 1;
        self.stats.add(seconds_s);
        let (calls, all_s, all_host_s) = self.turned;
        self.turned = (calls + 1, all_s + seconds_s, all_host_s + host_s);
        if self.turned.0 < self.turn {
            return;
        }
        let (calls, all_s, all_host_s) = std::mem::take(&mut self.turned);
        let mean = |s: f64| s / calls as f64;
        let seconds_s = mean(all_s);
        self.last_s = seconds_s;
        self.tuner
            .record_sides(Call { seconds_s }, mean(all_host_s));
    }

    /// Notes so many calls that nobody measures.
    pub(super) fn put_down(&mut self, queue: &Queue, calls: u64) {
        queue.put_down(&self.account, calls as f64 * self.last_s);
        self.stats.calls += calls;
    }

    /// Takes back calls that were started and found nothing to do, but not their time: what was done
    /// per second is that of the others.
    pub fn did_nothing(&mut self, calls: u64) {
        self.stats.calls = self.stats.calls.saturating_sub(calls);
    }

    /// Takes back what calls have not moved of what a call moves.
    pub fn spared(&mut self, traffic: Traffic) {
        let all = &mut self.stats.spared;
        all.read_bytes += traffic.read_bytes;
        all.written_bytes += traffic.written_bytes;
        all.updated_bytes += traffic.updated_bytes;
    }

    /// Time of all calls that have finished: measured, or their share of a batch.
    pub fn seconds_s(&self) -> f64 {
        self.stats.seconds_s + self.account.seconds_s()
    }

    /// Leaves rows from `rows` on out of reductions: another process counts them.
    pub fn count_only(&mut self, rows: usize) {
        self.counted = padded(rows.max(1)).min(self.rows);
    }

    /// Whether the tuner tries cuts here.
    pub fn is_tuning(&self) -> bool {
        self.tuner.searching()
    }

    /// Share of the rows that do not wait for a halo.
    pub fn inner_share(&self) -> f64 {
        1.0 - self.waiting as f64 / self.rows as f64
    }

    /// The tuner, for reports.
    pub fn tuner(&self) -> &Tuner {
        &self.tuner
    }

    /// Share of the rows that the device takes at present.
    pub fn ratio(&self) -> f64 {
        self.tuner.ratio()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::tuner::Params;

    #[test]
    fn calls_that_take_turns_are_measured_in_wholes() {
        let mut place = Place::new("site", ["kernel", "", "fp64"], 64 * BLOCK);
        place.takes_turns(2);
        place.tuner = Tuner::new(place.rows, BLOCK, 0.5, Params::default());
        for _ in 0..8 {
            place.measured(1.0, 0.5);
            place.measured(3.0, 0.5);
            assert_eq!(place.last_s, 2.0);
        }
        let costs = place.tuner().visited();
        assert!(!costs.is_empty() && costs.iter().all(|c| c.1 == 2.0));
        assert_eq!(place.stats.seconds_s, 32.0);
        place.tuner = Tuner::fixed(place.rows, BLOCK, 1.0);
        for (calls, measured) in [(255, false), (256, true), (257, true), (258, false)] {
            place.stats.calls = calls;
            assert_eq!(place.to_be_measured(), measured, "{calls}");
        }
        // Calls of 10 us.
        (0..2).for_each(|_| place.measured(1e-5, 0.0));
        for (calls, measured) in [(256, false), (1024, false), (2048, true), (2049, true)] {
            place.stats.calls = calls;
            assert_eq!(place.to_be_measured(), measured, "{calls}");
        }
    }
}
