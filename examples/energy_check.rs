//! Energy of a known load on an NVIDIA card: its energy counter, as couloir reads it, against the
//! integral of its power. Prints both; ends with code 1 if they differ by more than 2 %.
//!
//! `energy_check [SECONDS [BEFORE]]`, with a load on the card meanwhile, which has so many seconds
//! before to become steady: the card tells a mean of its power over a second or so, the counter not.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use couloir::energy::nvml::{LIBRARY, Nvml};
use couloir::energy::{self, Context};

/// Between two readings of the power; the card updates it every 20 to 100 ms.
const PERIOD: Duration = Duration::from_millis(10);

fn main() -> ExitCode {
    match check() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<bool, Box<dyn std::error::Error>> {
    let argument = |n: usize, default: f64| {
        let given = std::env::args().nth(n);
        given.map_or(Ok(default), |s| s.parse::<f64>())
    };
    let (seconds, before) = (argument(1, 30.0)?, argument(2, 0.0)?);
    let (source, log) = energy::open(&Context::at(Path::new("/")))?;
    log.iter().for_each(|line| println!("{line}"));
    let nvml = Nvml::open(LIBRARY)?;
    let cards = (0..nvml.cards()?).map(|number| nvml.card(number));
    let cards = cards.collect::<Result<Vec<_>, _>>()?;
    let power_w = || -> Result<f64, String> {
        let each = cards.iter().map(|&card| nvml.power_mw(card));
        each.map(|mw| Ok(1e-3 * f64::from(mw?))).sum()
    };
    std::thread::sleep(Duration::from_secs_f64(before.max(0.0)));
    // Reads the counter here, not somewhere before and after.
    let now_s = source.now_s();
    source.interval(now_s, now_s);

    let (t0_s, start) = (source.now_s(), Instant::now());
    let (mut last_s, mut last_w, mut joules) = (0.0, power_w()?, 0.0);
    let (mut least_w, mut most_w) = (last_w, last_w);
    while start.elapsed().as_secs_f64() < seconds {
        std::thread::sleep(PERIOD);
        let (now_s, now_w) = (start.elapsed().as_secs_f64(), power_w()?);
        joules += 0.5 * (now_w + last_w) * (now_s - last_s);
        (last_s, last_w) = (now_s, now_w);
        (least_w, most_w) = (least_w.min(now_w), most_w.max(now_w));
    }
    let counted = source.interval(t0_s, t0_s + last_s);
    let (Some(counter_j), true) = (counted.joules, source.measured()) else {
        return Err("the counter was not read throughout".into());
    };
    let off = counter_j / joules - 1.0;
    println!(
        "{} card(s), {last_s:.1} s, {least_w:.0} to {most_w:.0} W",
        cards.len()
    );
    println!(
        "counter {counter_j:.1} J ± {:.1} J; integral of the power {joules:.1} J; {:+.2} %",
        counted.uncertainty_j.unwrap_or(f64::NAN),
        100.0 * off
    );
    println!(
        "sampling: {} samples, {:.3} % of one core",
        source.cost().samples,
        100.0 * source.sampling_share()
    );
    Ok(off.abs() <= 0.02)
}
