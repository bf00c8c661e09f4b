//! Raspberry Pi 5: the power controller's converters, through the firmware's command.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::feed::Feed;
use super::{Context, Found, Meter, Rail, RailKind, Scope};

/// Total W = FIT_SLOPE sum(V I) + FIT_OFFSET_W: a published fit of one board's input to the sum
/// over its rails (losses of the converters, and what no rail feeds).
const FIT_SLOPE: f64 = 1.1451;
/// See [`FIT_SLOPE`].
const FIT_OFFSET_W: f64 = 0.5879;

/// The command and how long it may take.
const NAME: &str = "vcgencmd";
const PATIENCE: Duration = Duration::from_secs(1);

/// The command may take this part of one core.
const SHARE: f64 = 0.005;
/// Bounds of the time between two calls.
const PERIOD_S: std::ops::Range<f64> = 0.25..2.0;

/// Readings older than this many periods are none.
const STALE_PERIODS: f64 = 3.0;

struct Pmic {
    rail: [Rail; 1],
    feed: Feed,
    age_max_s: f64,
}

impl Meter for Pmic {
    fn name(&self) -> &str {
        "PMIC"
    }

    fn rails(&self) -> &[Rail] {
        &self.rail
    }

    fn read(&mut self, _rail: usize) -> io::Result<i64> {
        self.feed.latest(self.age_max_s)
    }

    fn remedy(&self) -> &str {
        "check `vcgencmd pmic_read_adc`; the user must be in the group video"
    }
}

/// The whole board, from the rails of `vcgencmd pmic_read_adc`; it is called in its own thread.
pub fn discover(context: &Context) -> Found {
    let mut found = Found::default();
    let Some(program) = context.tree.program(NAME) else {
        return found;
    };
    let start = Instant::now();
    match read(&program) {
        Ok(_) => {}
        // Other Raspberry Pis have the command, but not this sensor.
        Err(why) if why.kind() == io::ErrorKind::Unsupported => {
            log::debug!("energy: no power controller here ({why})");
            return found;
        }
        Err(why) => {
            let what = format!("energy: `{NAME} pmic_read_adc` gives no power ({why})");
            found.notes.push(what);
            return found;
        }
    }
    let period_s = (start.elapsed().as_secs_f64() / SHARE).clamp(PERIOD_S.start, PERIOD_S.end);
    let feed = Feed::start(move |inbox| {
        while !inbox.stopping() {
            match read(&program) {
                Ok(watts) => inbox.put((watts * 1e6).round() as i64),
                Err(why) => inbox.fail(why.to_string()),
            }
            inbox.pause(Duration::from_secs_f64(period_s));
        }
    });
    let rail = Rail {
        name: "board (1.1451 sum(VI) + 0.5879 W, a published fit)".into(),
        contained_in: None,
        kind: RailKind::Power,
        scope: Scope::Board,
        resolution_micro: 10_000,
        update_interval_s: Some(period_s),
    };
    match feed {
        Ok(feed) => {
            feed.watch(PATIENCE);
            found.meters.push(Box::new(Pmic {
                rail: [rail],
                feed,
                age_max_s: STALE_PERIODS * period_s + PATIENCE.as_secs_f64(),
            }));
        }
        Err(why) => found
            .notes
            .push(format!("energy: no thread for `{NAME}` ({why})")),
    }
    found
}

/// Calls the command, and ends it where it takes too long.
fn read(program: &Path) -> io::Result<f64> {
    let mut child = Command::new(program)
        .arg("pmic_read_adc")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            // It may end by itself in between; it is reaped in either case.
            let _ = child.kill();
            child.wait()?;
            let what = format!("no answer within {} s", PATIENCE.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut text = String::new();
    if let Some(out) = child.stdout.take() {
        out.take(1 << 14).read_to_string(&mut text)?;
    }
    if !status.success() || text.contains("not registered") {
        let what = format!("it ended with {status}: {}", first_line(&text));
        return Err(io::Error::new(io::ErrorKind::Unsupported, what));
    }
    total_watts(&text).ok_or_else(|| {
        let what = format!("no pair of volts and amperes in {:?}", first_line(&text));
        io::Error::new(io::ErrorKind::InvalidData, what)
    })
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").chars().take(60).collect()
}

/// The fit over all rails that have both a voltage and a current.
///
/// Two formats are in use, `VDD_CORE_A current(7)=1.25A` and `VDD_CORE_A=1.25A`; the unit at
/// the end of a line tells volts from amperes.
fn total_watts(text: &str) -> Option<f64> {
    let mut rails: BTreeMap<&str, [Option<f64>; 2]> = BTreeMap::new();
    for line in text.lines() {
        let Some((left, right)) = line.trim().split_once('=') else {
            continue;
        };
        let name = left.split_whitespace().next().unwrap_or("");
        let stem = name.strip_suffix("_A").or(name.strip_suffix("_V"));
        let (number, kind) = match right.trim() {
            r if r.ends_with('V') => (r.trim_end_matches('V'), 0),
            r => (r.trim_end_matches('A'), 1),
        };
        let number = number.parse().ok().filter(|x: &f64| x.is_finite());
        if let Some(value) = number {
            rails.entry(stem.unwrap_or(name)).or_default()[kind] = Some(value);
        }
    }
    let pairs: Vec<f64> = rails
        .values()
        .filter_map(|[v, a]| Some((*v)? * (*a)?))
        .collect();
    (!pairs.is_empty()).then(|| FIT_SLOPE * pairs.iter().sum::<f64>() + FIT_OFFSET_W)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_give_the_same_power() {
        let long = "   3V7_WL_SW_A current(0)=0.5A\n     VDD_CORE_A current(7)=2.0A\n   \
                    3V7_WL_SW_V volt(8)=3.7V\n     VDD_CORE_V volt(15)=0.75V\n        \
                    EXT5V_V volt(24)=5.1V\n BATT_V volt(25)=0V\n";
        let short = "3V7_WL_SW_V=3.7V\n3V7_WL_SW_A=0.5A\nVDD_CORE_V=0.75V\nVDD_CORE_A=2.0A\n\
                     EXT5V_V=5.1V\nBATT_V=0V\n";
        let want = 1.1451 * (3.7 * 0.5 + 2.0 * 0.75) + 0.5879;
        for text in [long, short] {
            let watts = total_watts(text).expect("rails");
            assert!((watts - want).abs() < 1e-12, "{watts}");
        }
    }

    #[test]
    fn no_pair_is_no_power() {
        for text in ["", "EXT5V_V volt(24)=5.1V", "x", "a=b", "A_A=nanA\nA_V=1V"] {
            assert_eq!(total_watts(text), None, "{text}");
        }
    }
}
