//! The roofs of each side, measured in turns with what is held against them: a machine that does other
//! work, too, changes its speed within seconds, and a roof of another moment tells nothing.

use std::time::{Duration, Instant};

use super::Side;
use super::timing::Clock;
use crate::split::{Arrays, Engine, Gauge, Roofs};
use crate::{Error, Result};

/// Time, s, for which roofs hold, at least; and as a multiple of the time that it takes to measure them,
/// so that most of a bench's time is its own.
const HOLDS_S: f64 = 0.5;
const HOLDS_TIMES: f64 = 2.0;
/// Highest over lowest roof of a run beyond which a line tells of it.
const STEADY: f64 = 1.15;

/// The roofs of the sides that are measured, none at first.
#[derive(Default)]
pub(super) struct Sides {
    arrays: Arrays<f64>,
    list: Vec<SideRoofs>,
}

struct SideRoofs {
    side: Side,
    gauge: Gauge<f64>,
    now: Roofs,
    highest: Roofs,
    lowest: Roofs,
    measured: Instant,
    /// Of measuring them again: none before that was done, for the first time compares candidates.
    cost: Duration,
}

impl Sides {
    /// Measures the roofs of `side`, with the share `ratio` of the rows on the device.
    ///
    /// # Errors
    /// As [`Gauge::new`] and [`Gauge::measure`].
    pub fn add(
        &mut self,
        engine: &Engine<f64>,
        side: Side,
        ratio: f64,
        clock: &Clock<'_>,
    ) -> Result<()> {
        let mut gauge = Gauge::new(engine, ratio)?;
        let now = gauge.measure(engine, &mut self.arrays, &|engine| clock.flush(engine))?;
        self.list.push(SideRoofs {
            side,
            gauge,
            now,
            highest: now,
            lowest: now,
            measured: Instant::now(),
            cost: Duration::ZERO,
        });
        Ok(())
    }

    /// The sides, in the order in which they were added.
    pub fn sides(&self) -> Vec<Side> {
        self.list.iter().map(|s| s.side).collect()
    }

    /// The roofs of a side as they are now: measured again unless those known still hold.
    ///
    /// # Errors
    /// The side was not added; as [`Gauge::measure`].
    pub fn now(&mut self, engine: &Engine<f64>, side: Side, clock: &Clock<'_>) -> Result<Roofs> {
        let Some(s) = self.list.iter_mut().find(|s| s.side == side) else {
            return Err(Error::failure(
                format!("the roofs of {} were not measured", side.name()),
                "report this as a defect, with the command",
            ));
        };
        if s.holds() {
            return Ok(s.now);
        }
        let start = Instant::now();
        let flush = |engine: &Engine<f64>| clock.flush(engine);
        s.now = s.gauge.measure(engine, &mut self.arrays, &flush)?;
        (s.highest, s.lowest) = (s.highest.max(s.now), s.lowest.min(s.now));
        (s.measured, s.cost) = (Instant::now(), start.elapsed());
        Ok(s.now)
    }

    /// The highest roofs of each side.
    pub fn highest(&self) -> Vec<(&'static str, Roofs)> {
        let of = |s: &SideRoofs| (s.side.name(), s.highest);
        self.list.iter().map(of).collect()
    }

    /// A line for each side whose roofs changed.
    pub fn notes(&self) -> Vec<String> {
        let changed = |s: &&SideRoofs| s.change() > STEADY;
        let note = |s: &SideRoofs| {
            format!(
                "the roofs of {} changed by a factor of {:.2} while it was measured: each share is of those of \
                 its moment, and the table has the highest",
                s.side.name(),
                s.change()
            )
        };
        self.list.iter().filter(changed).map(note).collect()
    }
}

impl SideRoofs {
    fn holds(&self) -> bool {
        let least_s = HOLDS_S.max(HOLDS_TIMES * self.cost.as_secs_f64());
        self.measured.elapsed().as_secs_f64() < least_s
    }

    /// Largest ratio of the highest to the lowest.
    fn change(&self) -> f64 {
        let (high, low) = (self.highest.rates(), self.lowest.rates());
        let ratios = high.iter().zip(low).map(|(high, low)| high / low);
        ratios.fold(1.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy;
    use crate::node::{Config, DeviceChoice};
    use crate::split::Policy;

    #[test]
    fn roofs_hold_for_a_while_and_are_then_measured_again() {
        let config = Config {
            device: DeviceChoice::None,
            threads: Some(1),
            ..Config::default()
        };
        let engine = Engine::open(&config, Policy::Fixed(0.0)).unwrap();
        let source = energy::none();
        let clock = Clock::new(&source, false, false);
        let mut sides = Sides::default();
        let unknown = sides.now(&engine, Side::Cpu, &clock).unwrap_err();
        assert!(unknown.to_string().contains("roofs of cpu"), "{unknown}");
        sides.add(&engine, Side::Cpu, 0.0, &clock).unwrap();
        let first = sides.now(&engine, Side::Cpu, &clock).unwrap();
        assert!(first.rates().iter().all(|&rate| rate > 0.05), "{first:?}");
        assert!(sides.notes().is_empty());

        // As if they had been higher, long ago.
        let s = &mut sides.list[0];
        (s.highest, s.cost) = (
            Roofs {
                copy_gb_s: 1e6,
                ..first
            },
            Duration::from_millis(700),
        );
        s.measured -= Duration::from_millis(1300);
        assert!(s.holds());
        s.measured -= Duration::from_millis(200);
        assert!(!s.holds());
        let before = s.measured;
        let second = sides.now(&engine, Side::Cpu, &clock).unwrap();
        let s = &sides.list[0];
        assert!(s.measured > before && s.holds() && second == s.now);
        assert_eq!(s.lowest, first.min(second));
        assert_eq!(sides.highest()[0].1.copy_gb_s, 1e6);
        assert!(sides.notes()[0].contains("roofs of cpu changed"));
    }
}
