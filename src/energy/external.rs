//! A power meter outside the node that sends lines of numbers over a serial line or TCP.

mod line;
mod port;

use std::io::{self, Read};
use std::time::Duration;

pub use line::{Column, Unit};
pub use port::Address;

use super::feed::{Feed, Inbox};
use super::{Context, Found, Meter, Rail, RailKind, Scope};
use crate::Error;
use line::{Lines, Parsed};
use port::Port;

/// Time for the first two lines: the slowest meters send one per second.
const FIRST_LINES: Duration = Duration::from_millis(3500);

/// A reading is stale after this many of its intervals, but not before `STALE_MIN_S`.
const STALE_INTERVALS: f64 = 3.0;
const STALE_MIN_S: f64 = 2.0;

/// Between two attempts to connect.
const RETRY: Duration = Duration::from_secs(1);

/// Lines without the number in a row after which the user is told.
const GARBAGE_MAX: u32 = 5;

/// Where the meter is and what its lines mean.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    /// Serial line or host.
    pub address: Address,
    /// The column of the number.
    pub column: Column,
    /// Its unit: power, or energy since some start.
    pub unit: Unit,
    /// Where the user named it, for messages.
    pub place: String,
}

struct Outside {
    name: String,
    rail: [Rail; 1],
    feed: Feed,
    age_max_s: f64,
}

impl Meter for Outside {
    fn name(&self) -> &str {
        "meter"
    }

    fn rails(&self) -> &[Rail] {
        &self.rail
    }

    fn read(&mut self, _rail: usize) -> io::Result<i64> {
        self.feed.latest(self.age_max_s)
    }

    fn remedy(&self) -> &str {
        "check its cable, its supply and energy.meter"
    }

    fn take_messages(&mut self) -> Vec<String> {
        let messages = self.feed.take_messages().into_iter();
        messages
            .map(|m| format!("energy: {}: {m}", self.name))
            .collect()
    }
}

/// The meter that the user named. It feeds the whole node, so nothing else is added to it; one
/// that does not answer is an error, since the user asked for it.
pub fn discover(context: &Context) -> Found {
    let mut found = Found::default();
    let Some(external) = context.external.clone() else {
        return found;
    };
    match open(external.clone()) {
        Ok(meter) => found.meters.push(Box::new(meter)),
        Err(what) => {
            let remedy = "check address, cable and supply; the lines must hold energy.column";
            found.refused = Some(Error::input(external.place, what, remedy));
        }
    }
    found
}

fn open(external: External) -> Result<Outside, String> {
    let (name, kind) = (external.address.to_string(), external.unit.kind());
    let first = Port::open(&external.address).map_err(|why| format!("{name}: {why}"))?;
    let resolution_micro = external.unit.micro().ceil().clamp(1.0, 1e4) as u64;
    let feed = Feed::start(move |inbox| serve(&external, first, inbox))
        .map_err(|why| format!("no thread to read it ({why})"))?;
    let times = feed.watch(FIRST_LINES);
    let [a, b] = times[..] else {
        let why = match feed.why_not().as_str() {
            "" => "nothing arrives".to_string(),
            why => why.to_string(),
        };
        let (got, wait_s) = (times.len(), FIRST_LINES.as_secs_f64());
        return Err(format!(
            "{got} reading(s) in {wait_s} s, 2 are needed ({why})"
        ));
    };
    let interval_s = (b - a).as_secs_f64().max(1e-3);
    let rail = Rail {
        name: name.clone(),
        contained_in: None,
        kind,
        scope: Scope::Board,
        resolution_micro,
        update_interval_s: Some(interval_s),
    };
    Ok(Outside {
        name,
        rail: [rail],
        feed,
        age_max_s: (STALE_INTERVALS * interval_s).max(STALE_MIN_S),
    })
}

/// Reads lines until the meter is dropped; connects again where the line breaks.
fn serve(external: &External, first: Port, inbox: &Inbox) {
    let mut port = Some(first);
    while !inbox.stopping() {
        let opened = match port.take() {
            Some(port) => Ok(port),
            None => Port::open(&external.address).inspect(|_| inbox.say("connected again".into())),
        };
        match opened {
            Ok(mut port) => {
                let why = read(external, &mut port, inbox);
                if inbox.stopping() {
                    return;
                }
                inbox.fail(&why);
                inbox.say(format!("{why}; trying to connect again every second"));
            }
            Err(why) => inbox.fail(format!("it cannot be opened again: {why}")),
        }
        inbox.pause(RETRY);
    }
}

/// Delivers the numbers of a connection; returns why it ended.
fn read(external: &External, port: &mut Port, inbox: &Inbox) -> String {
    let mut lines = Lines::new(&external.column, external.unit);
    let mut garbage = 0;
    let mut bytes = [0; 512];
    while !inbox.stopping() {
        let n = match port.ready() {
            Ok(false) => continue,
            Ok(true) => port.read(&mut bytes),
            Err(why) => Err(why),
        };
        let got = match n {
            Ok(0) => return "the connection was closed".to_string(),
            Ok(n) => bytes.get(..n).unwrap_or(&[]),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            Err(why) => return format!("the connection is lost ({why})"),
        };
        lines.add(got, |parsed| match parsed {
            Parsed::Reading(micro) => {
                garbage = 0;
                inbox.fail("");
                inbox.put(micro);
            }
            Parsed::Header => {}
            Parsed::Garbage { line, found } => {
                garbage += 1;
                let column = &external.column;
                // Of a meter that sends a line per second the first few are all that is waited for.
                if garbage > 1 {
                    inbox.fail(format!("{found} in column {column} of {line:?}"));
                }
                if garbage == GARBAGE_MAX {
                    inbox.say(format!(
                        "{GARBAGE_MAX} lines with {found} in column {column}, the last {line:?}; \
                         such lines are skipped"
                    ));
                }
            }
        });
    }
    String::new()
}

impl Unit {
    fn kind(self) -> RailKind {
        match self.is_energy() {
            true => RailKind::Energy { wraps_at_uj: None },
            false => RailKind::Power,
        }
    }
}
