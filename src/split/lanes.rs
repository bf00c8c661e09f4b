//! The first part of adding up partial results, on the device: what the host reads is then a few
//! thousand numbers, however many blocks there are.

use opencl3::kernel::Kernel as ClKernel;

use super::engine::Engine;
use super::launch::{Programs, set_args};
use super::site::Site;
use crate::Result;
use crate::kernel::scalars::{TOTAL_LANES, lanes_length};
use crate::kernel::{Real, Reduce};
use crate::node::memory::Arg;
use crate::node::{BLOCK, Buffer, MemoryKind, Node};

/// The device's side, part of every program.
pub(super) const SOURCE: &str = include_str!("../../cl/lanes.cl");

/// Work-items per group: few, so that many cores take part.
const GROUP: usize = 32;
/// Partial results per lane from which reading them all takes longer than another launch.
pub(super) const WORTH_IT: usize = 4;

/// What is left to add up of a list of partial results.
#[derive(Clone, Copy)]
pub(super) struct Left {
    /// Numbers.
    pub parts: u32,
    /// Rests of the first of them, behind as many as there are lanes.
    pub rests: u32,
}

impl Left {
    /// Of so many blocks, all.
    pub fn all(blocks: usize) -> Self {
        let (parts, rests) = (blocks as u32, 0);
        Self { parts, rests }
    }

    /// So many that one group takes longer to read them all than several do to meet.
    pub fn are_many(&self) -> bool {
        self.parts as usize >= WORTH_IT * TOTAL_LANES
    }

    /// Lanes that have taken them.
    pub fn lanes<T: Real>() -> Self {
        let parts = TOTAL_LANES as u32;
        let rests = lanes_length::<T>() as u32 - parts;
        Self { parts, rests }
    }
}

/// The kernels, one for each kind of reduction.
pub(super) struct Lanes {
    sum: ClKernel,
    maximum: ClKernel,
    three: ClKernel,
}

impl Lanes {
    /// The kernels for a device with memory of its own; elsewhere the host reads what is there.
    pub fn new(node: &Node, program: &Programs) -> Result<Option<Self>> {
        if node.memory != MemoryKind::Discrete {
            return Ok(None);
        }
        Ok(Some(Self {
            sum: program.kernel("sum_lanes_kernel")?,
            maximum: program.kernel("maximum_lanes_kernel")?,
            three: program.kernel("three_lanes_kernel")?,
        }))
    }
}

impl<T: Real> Engine<T> {
    /// Buffers for [`Engine::add_up_three`], where the device has memory of its own.
    pub(super) fn three_lanes(&self) -> Result<Option<[Buffer<T>; 3]>> {
        let Some(_) = &self.lanes else {
            return Ok(None);
        };
        let lanes = || self.node.buffer(lanes_length::<T>());
        Ok(Some([lanes()?, lanes()?, lanes()?]))
    }

    /// Starts adding up `blocks` partial results each of three sums by lanes, where that is worth
    /// while, and puts the lanes in their place; returns what is then left of each.
    pub(super) fn add_up_three(
        &self,
        to: Option<&[Buffer<T>; 3]>,
        sums: &mut [Arg],
        blocks: usize,
    ) -> Result<Left> {
        let (Some(d), Some(lanes), Some(to)) = (&self.node.device, &self.lanes, to) else {
            return Ok(Left::all(blocks));
        };
        if sums.len() != to.len() || blocks < WORTH_IT * TOTAL_LANES {
            return Ok(Left::all(blocks));
        }
        let mut args = [Arg::None; 6];
        for (k, b) in to.iter().enumerate() {
            args[k] = b.share(usize::MAX, usize::MAX)?.device;
            args[3 + k] = std::mem::replace(&mut sums[k], args[k]);
        }
        let fail = |code| d.link.error("lanes", code);
        d.link.queue.order().map_err(fail)?;
        let kernel = lanes.three.get();
        set_args(kernel, 0, &args, &[blocks as u32]).map_err(fail)?;
        let queue = &d.link.queue;
        queue.start(kernel, 3 * TOTAL_LANES, GROUP).map_err(fail)?;
        Ok(Left::lanes::<T>())
    }

    /// Starts adding up the partial results of the call of `site` that was started last, where that
    /// is worth while; returns whether it is.
    pub(super) fn add_up(&self, site: &mut Site<T>) -> Result<bool> {
        let blocks = site.cut.min(site.counted) / BLOCK;
        let (Some(d), Some(lanes)) = (&self.node.device, &self.lanes) else {
            return Ok(false);
        };
        if blocks < WORTH_IT * TOTAL_LANES {
            return Ok(false);
        }
        for (k, kind) in site.kernel.shape.reduce.iter().enumerate() {
            let kernel = match kind {
                Reduce::Sum => &lanes.sum,
                Reduce::Max => &lanes.maximum,
            };
            let fail = |code| d.link.error("lanes", code);
            if site.device_lanes.len() <= k {
                site.device_lanes
                    .push(self.node.buffer(lanes_length::<T>())?);
            }
            let to = site.device_lanes[k].split_at(usize::MAX, false)?.0.arg;
            let from = site.device_partial[k].share(usize::MAX, usize::MAX)?.device;
            d.link.queue.order().map_err(fail)?;
            set_args(kernel.get(), 0, &[to, from], &[blocks as u32]).map_err(fail)?;
            let queue = &d.link.queue;
            queue
                .start(kernel.get(), TOTAL_LANES, GROUP)
                .map_err(fail)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::pcg_scalars::{ALPHA, BETA, LENGTH, NEXT, TAKERS};
    use crate::kernel::{dot, kinetic, monitor, pcg_scalars};
    use crate::node::{Config, DeviceChoice, opencl};
    use crate::split::first::tests::{WAITS, sum};
    use crate::split::totals::Totals;
    use crate::split::{Policy, random_case};

    /// The CPU alone, and each device with memory of its own.
    fn configs() -> Vec<Config> {
        let on = |device, memory| Config {
            device,
            threads: Some(2),
            memory,
            ..Config::default()
        };
        let mut configs = vec![on(DeviceChoice::None, None)];
        match opencl::devices() {
            Err(why) => eprintln!("SKIPPED on devices: {why}"),
            Ok(all) => configs.extend(
                all.iter()
                    .filter(|d| d.fp64 && d.offers(MemoryKind::Discrete))
                    .map(|d| on(DeviceChoice::Index(d.index), Some(MemoryKind::Discrete))),
            ),
        }
        configs
    }

    fn many_blocks<T: Real>() {
        // A lane has one part or two, or more than a launch is worth.
        for blocks in [1500, WORTH_IT * TOTAL_LANES + 1500] {
            let rows = blocks * BLOCK - 77;
            for kernel in [dot::kernel(), kinetic::kernel(), monitor::kernel()] {
                let mut first = [None; 2];
                for config in &configs() {
                    let engine = Engine::<T>::open(config, Policy::Fixed(0.5)).unwrap();
                    let waits = std::env::var_os(WAITS).is_some() && engine.totals.is_some();
                    for (first, seed) in first.iter_mut().zip([3, 4]) {
                        let mut case = random_case(&engine.node, kernel, rows, seed).unwrap();
                        for cut in [0.1, 0.9, 1.0] {
                            let got = case.run(&engine, cut).unwrap().reductions;
                            let first = first.get_or_insert(got);
                            let name = kernel.name;
                            assert_eq!(*first, got, "{name}, cut {cut}, {config:?}");
                        }
                        // Groups that meet again are to find nothing of these numbers.
                        let room = engine.totals.as_ref().and_then(Totals::room_is_empty);
                        assert!(room.unwrap_or(!waits), "{config:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_blocks_add_up_to_the_same_bits_wherever_they_are() {
        many_blocks::<f64>();
        many_blocks::<f32>();
    }

    /// State of a solve after the scalars of three sums, computed as `config` says.
    fn state_after<T: Real>(config: &Config, rows: usize) -> Vec<f64> {
        let engine = Engine::<T>::open(config, Policy::Fixed(1.0)).unwrap();
        let vector = |power: f64| {
            let values: Vec<T> = (0..rows)
                .map(|i| T::of((i as f64 + 3.0).powf(power)))
                .collect();
            engine.node.buffer_from(&values).unwrap()
        };
        let (x, y) = (vector(-0.5), vector(-0.52));
        // The least in the middle, as of p . s.
        let sites = [(&x, &x), (&y, &y), (&x, &y)].map(|(a, b)| sum(&engine, a, b));
        let scalars = pcg_scalars::scalars();
        let mut finish = engine.finish(scalars, "scalars").unwrap();
        let mut state = engine.node.buffer(LENGTH).unwrap();
        let sums = [(&sites[0], 0), (&sites[1], 0), (&sites[2], 0)];
        let on_device = engine.reduce(&mut finish, &sums, &mut state).unwrap();
        assert_eq!(on_device, engine.node.device.is_some());
        state.read().unwrap().iter().map(|x| x.f64()).collect()
    }

    /// What `run` gives, wherever it is computed.
    fn same_everywhere(run: impl Fn(&Config) -> Vec<f64>) -> Vec<f64> {
        let mut first = None;
        for config in configs() {
            let got = run(&config);
            let first = first.get_or_insert_with(|| got.clone());
            assert_eq!(*first, got, "{config:?}");
        }
        first.unwrap()
    }

    #[test]
    fn scalars_of_many_blocks_are_the_same_bits_wherever_they_are() {
        // With a launch for the lanes, and without.
        for blocks in [WORTH_IT * TOTAL_LANES + 500, 2 * TOTAL_LANES + 300] {
            let rows = blocks * BLOCK;
            let double = same_everywhere(|config| state_after::<f64>(config, rows));
            let single = same_everywhere(|config| state_after::<f32>(config, rows));
            for at in [ALPHA, BETA, NEXT] {
                let near = (single[at] / double[at] - 1.0).abs();
                assert!(double[at] > 0.0 && near < 1e-5, "{at}: {near:e}");
            }
            assert!(single[TAKERS] > 0.5 && double[TAKERS] == 0.0, "{single:?}");
        }
    }
}
