//! Numbers that calls read, without a copy: those that follow from the answer of a question, where
//! the device goes on without the host (which, when it is told, computes the same), and those that the
//! host gives.

use opencl3::kernel::Kernel as ClKernel;

use super::engine::Engine;
use super::launch::set_args;
use super::totals::Asked;
use crate::Result;
use crate::kernel::{Real, guess_least};
use crate::node::Buffer;
use crate::node::memory::Arg;

/// The device's side of what follows from questions, part of every program in double precision.
pub(super) const SOURCE: &str = guess_least::SOURCE;

/// A kernel of one work-item, of a state, the totals of a question, if it follows from one, and values.
pub struct Rule {
    name: &'static str,
    handle: ClKernel,
}

impl<T: Real> Engine<T> {
    /// The rule `name`, where a device with memory of its own adds up in double precision; on several
    /// ranks the host has the totals.
    ///
    /// # Errors
    /// The device has no such kernel.
    pub fn rule(&self, name: &'static str) -> Result<Option<Rule>> {
        match T::CL == "double" && self.comm().size() == 1 {
            true => self.setter(name),
            false => Ok(None),
        }
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
        Ok(Some(Rule { name, handle }))
    }

    /// Starts `state <- rule(totals, values)` behind the question, which was asked last; returns
    /// whether the device does it.
    ///
    /// # Errors
    /// The device failed.
    pub fn follow(
        &self,
        rule: &Rule,
        asked: &Asked,
        state: &mut Buffer<T>,
        values: &[T],
    ) -> Result<bool> {
        let Some(totals) = self.totals_asked(asked)? else {
            return Ok(false);
        };
        self.start_rule(rule, state, &[totals], values)?;
        Ok(true)
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
    use crate::kernel::guess_least::{self, Known, LENGTH, STEPS, with_new};
    use crate::node::{Config, DeviceChoice, MemoryKind, opencl};
    use crate::split::Policy;
    use crate::split::first::tests::sum;

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

    /// A rule on totals that are the sums of calls.
    fn followed(engine: &Engine<f64>, totals: &[f64], values: &[f64]) -> Vec<u64> {
        let rule = engine.rule(guess_least::NAME).unwrap().unwrap();
        let one = engine.node.buffer_from(&[1.0]).unwrap();
        let mut sites: Vec<_> = totals
            .iter()
            .map(|&t| sum(engine, &engine.node.buffer_from(&[t]).unwrap(), &one))
            .collect();
        let mut state = engine.node.buffer(LENGTH).unwrap();
        let asked = match &mut sites[..] {
            [a, b, c, d, e, f, g] => engine.ask([a, b, c, d, e, f, g]),
            [a, b, c, d, e, f, g, h, i, j] => engine.ask([a, b, c, d, e, f, g, h, i, j]),
            _ => panic!("{} totals", totals.len()),
        };
        assert!(
            engine
                .follow(&rule, &asked.unwrap(), &mut state, values)
                .unwrap()
        );
        let state = state.read().unwrap();
        state[..LENGTH].iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn a_device_chooses_the_same_bits_as_the_host() {
        let devices = opencl::devices().unwrap_or_default();
        let discrete = |d: &&opencl::DeviceInfo| d.fp64 && d.offers(MemoryKind::Discrete);
        for d in devices.iter().filter(discrete) {
            let config = Config {
                device: DeviceChoice::Index(d.index),
                threads: Some(1),
                memory: Some(MemoryKind::Discrete),
                ..Config::default()
            };
            let engine = Engine::<f64>::open(&config, Policy::Fixed(1.0)).unwrap();
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
                let got = followed(&engine, &totals, &known.values(is_new));
                let choice = after.choice();
                let want = guess_least::state(choice).map(f64::to_bits);
                assert_eq!(got, want, "{}, case {case}: {after:?}", d.name);
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
