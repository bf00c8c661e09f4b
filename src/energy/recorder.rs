//! The chosen rails and their traces: everything of the sampler but thread and clock.

use std::mem;

use super::{Choice, Counter, Meter, Rail, RailKind, Trace};

/// Samples kept per rail: 27 minutes at the default period.
const SAMPLES: usize = 16_384;

/// A rail that fails this many times in a row is lost until it delivers again.
const FAILURES_MAX: u32 = 3;

/// Answer for an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolved {
    /// The samples do not reach its end yet.
    Pending,
    /// Joules, or `None` where a rail was not measured throughout.
    Known(Option<f64>),
}

struct Channel {
    meter: usize,
    rail: usize,
    shown: String,
    about: Rail,
    counter: Counter,
    trace: Trace,
    failures: u32,
}

impl Channel {
    fn is_lost(&self) -> bool {
        self.failures >= FAILURES_MAX
    }
}

/// Reads the chosen rails and answers for intervals of the past.
///
/// A failed reading is left out: the next one bridges it. After three in a row the rail is lost,
/// with a message, and energies that reach beyond its last reading are `None`. Where it comes
/// back, a counter tells what has passed; a power does not, and leaves a gap.
#[derive(Default)]
pub struct Recorder {
    meters: Vec<Box<dyn Meter>>,
    channels: Vec<Channel>,
    messages: Vec<String>,
}

impl Recorder {
    /// A recorder without samples.
    pub fn new(meters: Vec<Box<dyn Meter>>, choice: &Choice) -> Self {
        let channels = choice
            .rails
            .iter()
            .filter_map(|&(meter, rail)| {
                let from = meters.get(meter)?;
                let about = from.rails().get(rail)?.clone();
                Some(Channel {
                    meter,
                    rail,
                    shown: format!("{} {}", from.name(), about.name),
                    counter: Counter::new(about.kind),
                    trace: Trace::new(SAMPLES),
                    about,
                    failures: 0,
                })
            })
            .collect();
        Self {
            meters,
            channels,
            messages: Vec::new(),
        }
    }

    /// Whether there is anything to read.
    pub fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    /// Whether a rail is still being read.
    pub fn is_alive(&self) -> bool {
        self.channels.iter().any(|c| !c.is_lost())
    }

    /// Reads each rail once. A reading is dated to the middle of the call that made it;
    /// `clock` gives seconds.
    pub fn sample(&mut self, mut clock: impl FnMut() -> f64) {
        for channel in &mut self.channels {
            let Some(meter) = self.meters.get_mut(channel.meter) else {
                continue;
            };
            let before_s = clock();
            let reading = meter.read(channel.rail);
            let t_s = 0.5 * (before_s + clock());
            self.messages.extend(meter.take_messages());
            match reading {
                Ok(reading) => {
                    if channel.is_lost() {
                        self.messages
                            .push(format!("energy: {} delivers again", channel.shown));
                        if channel.about.kind == RailKind::Power {
                            channel.counter.forget();
                            channel.trace.mark_gap();
                        }
                    }
                    channel.failures = 0;
                    if let Err(gap) = channel.counter.advance(t_s, reading) {
                        channel.trace.mark_gap();
                        self.messages.push(format!(
                            "energy: {} left a gap: {}; steps in it have no energy",
                            channel.shown, gap.0
                        ));
                    }
                    channel.trace.push(t_s, channel.counter.joules());
                }
                Err(why) => {
                    channel.failures = channel.failures.saturating_add(1);
                    if channel.failures == FAILURES_MAX {
                        self.messages.push(format!(
                            "energy: {} stopped delivering at {:.1} s ({why}); energies from \
                             there on are incomplete and not given until it returns; {}",
                            channel.shown,
                            channel.trace.newest_s().unwrap_or(t_s),
                            meter.remedy()
                        ));
                    }
                }
            }
        }
    }

    /// Joules from `t0_s` to `t1_s`, summed over the rails. `None` without a rail.
    pub fn resolve(&self, t0_s: f64, t1_s: f64) -> Resolved {
        let behind = |c: &&Channel| c.trace.newest_s().is_none_or(|newest| newest < t1_s);
        let mut late = self.channels.iter().filter(behind).peekable();
        if late.peek().is_some() {
            return match late.any(Channel::is_lost) {
                true => Resolved::Known(None),
                false => Resolved::Pending,
            };
        }
        Resolved::Known(self.sum(|c| c.trace.energy_between(t0_s, t1_s)))
    }

    /// Half-width `U` of the error of an energy `E` from `t0_s` to `t1_s`, summed over the rails:
    ///
    /// `U = P min(u + d0 + d1, T) + r + s`, with `T = t1 - t0` and the mean power `P = E / T`.
    ///
    /// - `u`, the sensor's update interval (the sampling period where it is unknown): a reading
    ///   is up to `u` old, at one end more than at the other;
    /// - `d0`, `d1`, the time from either end to the nearest sample: in between the power is
    ///   taken as constant, and it may be anything from nothing to twice that;
    /// - `r`, rounding: two steps of a counter, or one step of a power over all of `T`;
    /// - `s`, of a power that is sampled more rarely than it is updated: two standard errors of
    ///   the mean of `n` intervals, `2 T sigma / sqrt(n)`.
    ///
    /// What the sensor's maker says of its gain is not in it.
    pub fn uncertainty_j(&self, t0_s: f64, t1_s: f64, period_s: f64) -> Option<f64> {
        let seconds = t1_s - t0_s;
        self.sum(|c| {
            let power_w = c.trace.energy_between(t0_s, t1_s)? / seconds.max(f64::MIN_POSITIVE);
            let update_s = c.about.update_interval_s.unwrap_or(period_s);
            let apart_s = c.trace.distance_s(t0_s)? + c.trace.distance_s(t1_s)?;
            let ends_j = power_w.abs() * (update_s + apart_s).min(seconds);
            let resolution = 1e-6 * c.about.resolution_micro as f64;
            Some(match c.about.kind {
                RailKind::Energy { .. } => ends_j + 2.0 * resolution,
                RailKind::Power => {
                    let missed_j = match c.trace.spread(t0_s, t1_s) {
                        Some((n, apart_s, sigma_w)) if apart_s > 1.05 * update_s => {
                            2.0 * seconds * sigma_w / n.sqrt()
                        }
                        _ => 0.0,
                    };
                    ends_j + resolution * seconds + missed_j
                }
            })
        })
    }

    /// Mean watts of the last `window_s` seconds; `None` if a rail is lost or too new.
    pub fn power_w(&self, window_s: f64) -> Option<f64> {
        self.sum(|c| match c.is_lost() {
            true => None,
            false => c.trace.power_w(window_s),
        })
    }

    /// The messages since the last call.
    pub fn take_messages(&mut self) -> Vec<String> {
        mem::take(&mut self.messages)
    }

    fn sum(&self, of: impl Fn(&Channel) -> Option<f64>) -> Option<f64> {
        if self.channels.is_empty() {
            return None;
        }
        self.channels.iter().map(of).sum()
    }
}
