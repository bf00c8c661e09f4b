//! Numbers that calls read, without a copy: those that follow from the answer of a question, where
//! the device goes on without the host (which, when it is told, computes the same), and those that the
//! host gives.

use opencl3::kernel::Kernel as ClKernel;
use opencl3::types::cl_kernel;

use super::asked::Asked;
use super::engine::Engine;
use super::launch::set_args;
use super::totals::{MAX_SUMS, adding_group};
use crate::Result;
use crate::kernel::{Real, guess_least, pcg_first};
use crate::node::Buffer;
use crate::node::memory::Arg;

/// The device's sides of what follows from questions, part of every program in double precision.
pub(super) const SOURCES: [&str; 2] = [guess_least::SOURCE, pcg_first::SOURCE];

// `TOLD_` of `cl/lanes.cl`.
const _: () = assert!(2 * MAX_SUMS == 24);

/// A kernel of one work-item, of a state, the totals of a question, if it follows from one, and values.
pub struct Rule {
    name: &'static str,
    handle: ClKernel,
    /// The same with the totals, and work-items of each of its groups: saves a launch (`couloir bench step --rows
    /// 1000000 --device 1 --where device`, an H200, medians of ten in turns: 543 -> 538 us, of six
    /// before these 552 -> 540).
    with_totals: Option<(ClKernel, usize)>,
}

/// `state <- rule(totals, values)`, behind a question.
pub struct Following<'a, T: Real> {
    /// The rule.
    pub rule: &'a Rule,
    /// What it finds.
    pub state: &'a mut Buffer<T>,
    /// What it is given beside the totals.
    pub values: &'a [T],
}

impl<T: Real> Following<'_, T> {
    /// The kernel that adds the totals up, too, if there is one, and work-items of each of its groups.
    pub(super) fn with_totals(&self) -> Option<(cl_kernel, usize)> {
        let kernel = self.rule.with_totals.as_ref();
        kernel.map(|(kernel, group)| (kernel.get(), *group))
    }
}

impl<T: Real> Engine<T> {
    /// The rule `name`, where a device with memory of its own adds up in double precision; on several
    /// ranks the host has the totals.
    ///
    /// # Errors
    /// The device has no such kernel.
    pub fn rule(&self, name: &'static str) -> Result<Option<Rule>> {
        if T::CL != "double" || self.comm().size() > 1 {
            return Ok(None);
        }
        let mut rule = self.setter(name)?;
        if let (Some(rule), Some(program), Some(d)) = (&mut rule, &self.program, &self.node.device)
            && d.tuning.waits
        {
            let kernel = program.kernel(&format!("{name}_totals_kernel"))?;
            let group = adding_group(d, &kernel);
            rule.with_totals = Some((kernel, group));
        }
        Ok(rule)
    }

    /// The kernel `name` that takes what the host gives, for a device with memory of its own.
    ///
    /// # Errors
    /// The device has no such kernel.
    pub fn setter(&self, name: &'static str) -> Result<Option<Rule>> {
        let (Some(program), Some(_)) = (&self.program, &self.totals) else {
            return Ok(None);
        };
        let handle = program.kernel(&format!("{name}_kernel"))?;
        Ok(Some(Rule {
            name,
            handle,
            with_totals: None,
        }))
    }

    /// Starts what is `following` the question, if it was asked last; returns whether it was.
    ///
    /// # Errors
    /// The device failed.
    pub(super) fn follow(&self, asked: &Asked, following: Following<'_, T>) -> Result<bool> {
        let Following {
            rule,
            state,
            values,
        } = following;
        match self.totals_asked(asked)? {
            Some(totals) => self
                .start_rule(rule, state, &[totals], values)
                .map(|()| true),
            None => Ok(false),
        }
    }

    /// Starts `state <- values`; a launch holds the queue up for less time than a copy.
    ///
    /// # Errors
    /// The device failed.
    pub fn set(&self, setter: &Rule, state: &mut Buffer<T>, values: &[T]) -> Result<()> {
        self.start_rule(setter, state, &[], values)
    }

    fn start_rule(
        &self,
        rule: &Rule,
        state: &mut Buffer<T>,
        totals: &[Arg],
        values: &[T],
    ) -> Result<()> {
        let Some(d) = &self.node.device else {
            return Ok(());
        };
        let state = state.split_at(usize::MAX, false)?.0.arg;
        let (fail, kernel) = (|code| d.link.error(rule.name, code), rule.handle.get());
        d.link.queue.order().map_err(fail)?;
        let index = set_args::<T>(kernel, 0, &[state], &[]).map_err(fail)?;
        set_args(kernel, index, totals, values).map_err(fail)?;
        d.link.queue.start(kernel, 1, 1).map_err(fail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::guess_least::{Known, LENGTH, STEPS, with_new};
    use crate::kernel::pcg_scalars::{self, ALPHA, BOUND, ORIGIN, STOP, WEIGHT};
    use crate::node::{Config, DeviceChoice, MemoryKind, opencl};
    use crate::split::Policy;
    use crate::split::first::tests::{WAITS, sum};

    /// What is known of a solve, and the products of a new step.
    fn random(rng: &mut fastrand::Rng, case: usize) -> (Known, [f64; STEPS]) {
        let mut d = [[0.0; STEPS]; STEPS].map(|row| row.map(|_: f64| rng.f64() - 0.5));
        match case % 6 {
            // Steps along each other, or almost; and none.
            1 => d[2] = d[0].map(|x| -2.0 * x),
            2 => d[1] = std::array::from_fn(|k| d[0][k] + 1e-9 * d[2][k]),
            3 => d[1] = [0.0; STEPS],
            _ => {}
        }
        let dot = |a: [f64; STEPS], b: [f64; STEPS]| a.iter().zip(b).map(|(a, b)| a * b).sum();
        // The last two are too far away for all steps, or two.
        let far = [1.0, 1.0, 1.0, 1.0, 7.0, 20.0][case % 6];
        let t = [2.5, -1.5, 0.75].map(|x: f64| far * (x + rng.f64()));
        let mut gram = d.map(|a| d.map(|b| dot(a, b)));
        if case % 11 == 10 {
            gram[1][1] = f64::NAN;
        }
        let known = Known {
            gram,
            sums: d.map(|a| dot(a, t)),
            squares: [rng.f64(), 1e-3 * rng.f64()],
            bounds: [1e-2, if case % 7 == 6 { 0.1 } else { 0.0 }],
            parallel: 1e6 * f64::EPSILON,
        };
        (
            known,
            std::array::from_fn(|k| gram[0][k] * (1.0 + 0.1 * rng.f64())),
        )
    }

    /// The bits of so many numbers that a rule finds, of totals that are the sums of calls.
    fn followed(
        engine: &Engine<f64>,
        (name, length): (&'static str, usize),
        totals: &[f64],
        values: &[f64],
    ) -> Vec<u64> {
        let rule = engine.rule(name).unwrap().unwrap();
        let one = engine.node.buffer_from(&[1.0]).unwrap();
        let mut sites: Vec<_> = totals
            .iter()
            .map(|&t| sum(engine, &engine.node.buffer_from(&[t]).unwrap(), &one))
            .collect();
        let mut state = engine.node.buffer(length).unwrap();
        let following = Some(Following {
            rule: &rule,
            state: &mut state,
            values,
        });
        let (_, follows) = match &mut sites[..] {
            [a, b, c, d, e] => engine.ask_and_follow([a, b, c, d, e], following),
            [a, b, c, d, e, f, g] => engine.ask_and_follow([a, b, c, d, e, f, g], following),
            [a, b, c, d, e, f, g, h, i, j] => {
                engine.ask_and_follow([a, b, c, d, e, f, g, h, i, j], following)
            }
            _ => panic!("{} totals", totals.len()),
        }
        .unwrap();
        assert!(follows);
        let at_once = rule.with_totals.is_some();
        assert!(at_once || std::env::var_os(WAITS).is_none());
        if at_once {
            let room = engine.totals.as_ref().unwrap().room_is_empty();
            assert_eq!(room, Some(true));
        }
        let state = state.read().unwrap();
        state[..length].iter().map(|x| x.to_bits()).collect()
    }

    /// Engines of devices with memory of their own, and their names.
    fn engines() -> impl Iterator<Item = (Engine<f64>, String)> {
        let devices = opencl::devices().unwrap_or_default().into_iter();
        let discrete = |d: &opencl::DeviceInfo| d.fp64 && d.offers(MemoryKind::Discrete);
        devices.filter(discrete).map(|d| {
            let config = Config {
                device: DeviceChoice::Index(d.index),
                threads: Some(1),
                memory: Some(MemoryKind::Discrete),
                ..Config::default()
            };
            let engine = Engine::open(&config, Policy::Fixed(1.0)).unwrap();
            (engine, d.name)
        })
    }

    /// The first state of a solve, of `|b|^2`, its sum, `|b - A x|^2`, the sum for round-off and `r . r`.
    fn first_state(known: &pcg_first::Known, sums: [f64; 5]) -> Vec<f64> {
        let [bb, sum, rr, counted, now] = sums;
        let rounded = known.round_off * counted;
        let norm = (known.tolerance * bb.sqrt()).max(known.floor);
        let bound = norm * norm;
        let stays = known.mean.is_none_or(|most| sum * sum <= most * bb);
        let grows = bound < known.least && bb > 0.0;
        let ends = rr.sqrt() <= norm || rr <= rounded || !rr.is_finite();
        let mut state = vec![0.0; pcg_scalars::LENGTH];
        if ends || !stays || grows {
            (state[STOP], state[ALPHA]) = (2.0, -1.0);
        }
        state[WEIGHT] = rr / now;
        state[BOUND] = bound.max(rounded).max(known.farthest * rr);
        state[ORIGIN] = known.origin;
        state
    }

    #[test]
    fn a_device_begins_a_solve_with_the_same_bits_as_the_host() {
        for (engine, name) in engines() {
            let mut rng = fastrand::Rng::with_seed(23);
            let (mut goes, mut stops) = (0, 0);
            for case in 0..72 {
                let known = pcg_first::Known {
                    tolerance: 1e-3 * rng.f64(),
                    floor: if case % 5 == 4 { 0.1 } else { 1e-9 },
                    mean: (case % 2 == 1).then_some(1e-12),
                    least: if case % 7 == 6 { 1.0 } else { 1e-290 },
                    round_off: 1e-31 * rng.f64(),
                    farthest: (1e3 * f64::EPSILON).powi(2),
                    origin: case as f64,
                    along: case / 12 % 2 == 1,
                };
                let (bb, rr) = (10.0 * rng.f64(), rng.f64());
                // Of each kind, now and then: a mean, none, a residual of nothing, little, much, round-off, no
                // number, and a right-hand side of nothing or without a number.
                let sums = match case % 12 {
                    1 => [bb, 1e-3, rr, 1.0, 0.5 * rr],
                    2 => [bb, 0.0, 0.0, 1.0, 0.5 * rr],
                    3 => [bb, 1e-9, 1e-9 * known.tolerance.powi(2), 1.0, rr],
                    4 => [bb, 0.0, f64::INFINITY, 1.0, rr],
                    5 => [bb, 0.0, f64::NAN, 1.0, rr],
                    6 => [0.0, 0.0, rr, 1.0, rr],
                    7 => [f64::NAN, 0.0, rr, 1.0, rr],
                    8 => [bb, 0.0, rr, 1e33, rr],
                    _ => [bb, 1e-9, rr, 1.0, 0.5 * rr],
                };
                let mut totals = sums.to_vec();
                if known.along {
                    // Those before it went along are no longer of interest.
                    let [.., rr, _, now] = sums;
                    (totals[2], totals[4]) = (2.0 * rr + 1.0, 3.0 * now + 1.0);
                    totals.extend([rr, now]);
                }
                let rule = (pcg_first::NAME, pcg_scalars::LENGTH);
                let got = followed(&engine, rule, &totals, &known.values());
                let want = first_state(&known, sums);
                let ends = want[STOP] > 0.0;
                let (number, same) = (|bits| f64::from_bits(bits), got.iter().zip(want));
                for (k, (&got, want)) in same.enumerate() {
                    let none = number(got).is_nan() && want.is_nan();
                    let what = format!("{name}, case {case}, {k}: {} {want}", number(got));
                    assert!(got == want.to_bits() || none, "{what}");
                }
                *if ends { &mut stops } else { &mut goes } += 1;
            }
            assert!(goes > 15 && stops > 20, "{goes} and {stops}");
        }
    }

    #[test]
    fn a_device_chooses_the_same_bits_as_the_host() {
        for (engine, name) in engines() {
            let mut rng = fastrand::Rng::with_seed(17);
            let (mut some, mut none) = (0, 0);
            for case in 0..66 {
                let (known, new) = random(&mut rng, case);
                let Known { sums, squares, .. } = known;
                let [bb, tt] = squares;
                let mut totals = [&sums[..], &[bb, 0.0, tt, 0.0]].concat();
                let mut after = known;
                let is_new = case % 2 == 1;
                if is_new {
                    totals.splice(0..0, new);
                    after.gram = with_new(&known.gram, new);
                }
                let rule = (guess_least::NAME, LENGTH);
                let got = followed(&engine, rule, &totals, &known.values(is_new));
                let choice = after.choice();
                let want = guess_least::state(choice).map(f64::to_bits);
                assert_eq!(got, want, "{name}, case {case}: {after:?}");
                *if choice.is_some() {
                    &mut some
                } else {
                    &mut none
                } += 1;
            }
            assert!(some > 20 && none > 5, "{some} and {none}");
        }
    }
}
