//! Energy: meters found at run time, sampled in their own thread, attributed to steps and
//! kernels.
//!
//! What is not measured is `None`, never zero; rails that contain each other are never
//! added; a model is always marked as one. Meters deliver integers (micro-joules or
//! micro-watts), and joules are `f64` sums built from them.
//!
//! Adding a meter: its own file with a `discover` function, and one line in
//! `DISCOVERERS` below.

mod choice;
mod counter;
pub mod external;
mod feed;
mod files;
mod hwmon;
mod ina3221;
mod ledger;
mod macsmc;
mod nameplate;
pub mod nvml;
mod odroid;
mod pmic;
mod powers;
mod rapl;
mod recorder;
mod repeat;
mod source;
mod trace;

use std::io;
use std::path::Path;

use crate::{Error, Result};

pub use crate::node::Tree;
pub use choice::{Choice, ESTIMATE, choose};
pub use counter::{Counter, Gap, RAIL_WATTS_MAX};
pub use ledger::{KernelEnergy, Ledger, Totals};
pub use nameplate::Nameplate;
pub use powers::Powers;
pub use recorder::{Recorder, Resolved};
pub use repeat::{Gauge, Goal, Repeated, repeat};
pub use source::{Cost, Energy, PERIOD_S, Source, Supply};
pub use trace::Trace;

/// Every kind of meter, in order of preference where two measure the same thing. The
/// model comes last: it is chosen only when nothing else is.
const DISCOVERERS: &[fn(&Context) -> Found] = &[
    external::discover,
    rapl::discover,
    ina3221::discover,
    odroid::discover,
    pmic::discover,
    macsmc::discover,
    hwmon::discover,
    nvml::discover,
    nameplate::discover,
];

/// Where and with what to look for meters.
#[derive(Clone)]
pub struct Context {
    /// The file system of the file meters; a root other than `/` hides this machine's
    /// libraries too, so that a made tree sees nothing else.
    pub tree: Tree,
    /// Watts of the model that stands in when nothing is measured.
    pub nameplate: Nameplate,
    /// A meter outside the node.
    pub external: Option<external::External>,
}

impl Context {
    /// The files below `root`, no model, no external meter.
    pub fn at(root: &Path) -> Self {
        Self {
            tree: Tree::at(root),
            nameplate: Nameplate::default(),
            external: None,
        }
    }
}

/// What one discoverer found.
#[derive(Default)]
pub struct Found {
    /// Meters that are present.
    pub meters: Vec<Box<dyn Meter>>,
    /// One sentence per thing that the user should know (present but unusable, ...).
    pub notes: Vec<String>,
    /// A meter that the user named does not work.
    pub refused: Option<Error>,
}

/// What a rail's readings count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RailKind {
    /// Momentary power, in micro-watts; energy is its integral over the samples.
    Power,
    /// Energy since some start, in micro-joules.
    Energy {
        /// The counter falls back to zero after this value; `None` if it never does.
        wraps_at_uj: Option<u64>,
    },
}

/// Which part of a node a rail feeds; decides which rails may be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole node: contains every other rail.
    Board,
    /// RAPL's `psys`: contains the CPU packages; whether a graphics card is in it differs
    /// from machine to machine.
    Platform,
    /// One CPU package, or the memory beside it.
    Package,
    /// One supply rail of a board; disjoint from its siblings, inside packages and boards.
    Part,
    /// A graphics card with its own supply.
    Device,
    /// Not a sensor.
    Model,
}

/// One quantity that a meter delivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Rail {
    /// As the sensor calls it, e.g. `package-0` or `VDD_IN`.
    pub name: String,
    /// The rail of the same meter (its index) whose energy includes this one's.
    pub contained_in: Option<usize>,
    /// Power or energy.
    pub kind: RailKind,
    /// What the rail feeds.
    pub scope: Scope,
    /// Smallest step of a reading, in micro-joules or micro-watts.
    pub resolution_micro: u64,
    /// Seconds between two updates of the sensor; `None` if unknown.
    pub update_interval_s: Option<f64>,
}

/// A source of readings, e.g. all RAPL zones of a node.
pub trait Meter: Send {
    /// Short name for the log, e.g. `RAPL`.
    fn name(&self) -> &str;

    /// Its rails; their number and order never change.
    fn rails(&self) -> &[Rail];

    /// Reads one rail: micro-joules or micro-watts, by the rail's kind.
    ///
    /// # Errors
    /// Whatever keeps the reading away; the text says what was found instead.
    fn read(&mut self, rail: usize) -> io::Result<i64>;

    /// What a user can do when a rail is there but cannot be read.
    fn remedy(&self) -> &str;

    /// False for a model.
    fn measured(&self) -> bool {
        true
    }

    /// What happened to it since the last call, for the log.
    fn take_messages(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Finds all meters, starts sampling the chosen rails every [`PERIOD_S`] (less often where
/// reading is slow), and says in log lines what was found, what was chosen and why.
///
/// # Errors
/// [`Error::Input`]: a meter that the user named does not answer.
pub fn open(context: &Context) -> Result<(Source, Vec<String>)> {
    open_with(context, PERIOD_S)
}

/// No meters: another process of this machine reads them.
pub fn none() -> Source {
    let choice = choose(&mut []);
    Source::start(Vec::new(), &choice, PERIOD_S)
}

/// [`open`] with its own sampling period.
///
/// # Errors
/// As [`open`].
pub fn open_with(context: &Context, period_s: f64) -> Result<(Source, Vec<String>)> {
    let (meters, choice) = find(context)?;
    let source = Source::start(meters, &choice, period_s);
    Ok((source, choice.log))
}

/// All meters, and which of their rails to add; the choice's log tells of both.
///
/// # Errors
/// As [`open`].
pub fn find(context: &Context) -> Result<(Vec<Box<dyn Meter>>, Choice)> {
    let mut meters = Vec::new();
    let mut log = Vec::new();
    for discover in DISCOVERERS {
        let found = discover(context);
        if let Some(refused) = found.refused {
            return Err(refused);
        }
        meters.extend(found.meters);
        log.extend(found.notes);
    }
    let mut choice = choose(&mut meters);
    log.append(&mut choice.log);
    choice.log = log;
    Ok((meters, choice))
}
