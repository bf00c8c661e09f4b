//! The first part of adding up partial results, on the device: what the host reads is then a few
//! thousand numbers, however many blocks there are.

use opencl3::kernel::Kernel as ClKernel;

use super::engine::Engine;
use super::launch::{Programs, set_args};
use super::site::Site;
use crate::Result;
use crate::kernel::scalars::TOTAL_LANES;
use crate::kernel::{Real, Reduce};
use crate::node::memory::Arg;
use crate::node::{BLOCK, Buffer, MemoryKind, Node};

/// The device's side, part of every program.
pub(super) const SOURCE: &str = include_str!("../../cl/lanes.cl");

/// Work-items per group: few, so that many cores take part.
const GROUP: usize = 32;
/// Partial results per lane from which reading them all takes longer than another launch.
const WORTH_IT: usize = 4;

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
        let lanes = || self.node.buffer(TOTAL_LANES);
        Ok(Some([lanes()?, lanes()?, lanes()?]))
    }

    /// Starts adding up `blocks` partial results each of three sums by lanes, where that is worth
    /// while, and puts the lanes in their place; returns the number of parts that are then left.
    pub(super) fn add_up_three(
        &self,
        to: Option<&[Buffer<T>; 3]>,
        sums: &mut [Arg],
        blocks: usize,
    ) -> Result<usize> {
        let (Some(d), Some(lanes), Some(to)) = (&self.node.device, &self.lanes, to) else {
            return Ok(blocks);
        };
        if sums.len() != to.len() || blocks < WORTH_IT * TOTAL_LANES {
            return Ok(blocks);
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
        Ok(TOTAL_LANES)
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
                site.device_lanes.push(self.node.buffer(TOTAL_LANES)?);
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
    use crate::kernel::{dot, kinetic, pcg_scalars};
    use crate::node::{Config, DeviceChoice, opencl};
    use crate::split::{Operands, Policy, random_case};

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

    #[test]
    fn many_blocks_add_up_to_the_same_bits_wherever_they_are() {
        // A lane has one part or two, or more than a launch is worth.
        for blocks in [1500, WORTH_IT * TOTAL_LANES + 1500] {
            let rows = blocks * BLOCK - 77;
            for kernel in [dot::kernel(), kinetic::kernel()] {
                let mut first = None;
                for config in &configs() {
                    let engine = Engine::<f64>::open(config, Policy::Fixed(0.5)).unwrap();
                    let mut case = random_case(&engine.node, kernel, rows, 3).unwrap();
                    for cut in [0.1, 0.9, 1.0] {
                        let got = case.run(&engine, cut).unwrap().reductions;
                        let first = first.get_or_insert(got);
                        let name = kernel.name;
                        assert_eq!(*first, got, "{name}, cut {cut}, {config:?}");
                    }
                }
            }
        }
    }

    /// State of a solve after the scalars of three equal sums, computed as `config` says.
    fn state_after(config: &Config, rows: usize) -> Vec<f64> {
        let engine = Engine::<f64>::open(config, Policy::Fixed(1.0)).unwrap();
        let values: Vec<f64> = (0..rows).map(|i| 1.0 / (i as f64 + 3.0)).collect();
        let x = engine.node.buffer_from(&values).unwrap();
        let mut site = engine.site(dot::kernel(), "sum", rows).unwrap();
        let operands = Operands {
            own: &[&x, &x],
            ..Operands::default()
        };
        engine.run(&mut site, operands).unwrap();
        let scalars = pcg_scalars::scalars();
        let mut finish = engine.finish(scalars, "scalars").unwrap();
        let mut state = engine.node.buffer(scalars.length).unwrap();
        let sums = [(&site, 0), (&site, 0), (&site, 0)];
        let on_device = engine.reduce(&mut finish, &sums, &mut state).unwrap();
        assert_eq!(on_device, engine.node.device.is_some());
        state.read().unwrap().to_vec()
    }

    #[test]
    fn scalars_of_many_blocks_are_the_same_bits_wherever_they_are() {
        let rows = (WORTH_IT * TOTAL_LANES + 500) * BLOCK;
        let mut first = None;
        for config in configs() {
            let got = state_after(&config, rows);
            assert!(got.iter().any(|&x| x != 0.0));
            let first = first.get_or_insert_with(|| got.clone());
            assert_eq!(*first, got, "{config:?}");
        }
    }
}
