//! The reductions of a call that the device has done alone, added up there to a number each, so
//! that the host reads them all at once.

use std::cell::RefCell;

use opencl3::kernel::Kernel as ClKernel;
use opencl3::types::cl_device_id;

use super::engine::Engine;
use super::glance::Glance;
use super::launch::{Programs, set_args};
use super::site::Site;
use crate::Result;
use crate::kernel::scalars::TOTAL_LANES;
use crate::kernel::{MAX_REDUCTIONS, Real, Reduce};
use crate::node::memory::Arg;
use crate::node::{BLOCK, Buffer, Device, MemoryKind, Node};

/// The kernel, whose source is `lanes.cl`'s, and where it leaves the numbers.
pub(super) struct Totals<T: Real> {
    kernel: ClKernel,
    /// Work-items for each reduction.
    group: usize,
    /// The one that reads is dropped first.
    at: RefCell<(Glance<T>, Buffer<T>)>,
}

/// Work-items of `kernel` that add numbers together. A software device's work-item is a loop; a
/// real device's group adds side by side.
pub(super) fn adding_group(device: &Device, kernel: &ClKernel) -> usize {
    if let Some(group) = device.tuning.adding {
        return group;
    }
    if device.info.software {
        return 1;
    }
    let most = kernel.get_work_group_size(device.info.id as cl_device_id);
    most.unwrap_or(1).clamp(1, TOTAL_LANES)
}

impl<T: Real> Totals<T> {
    /// For a device with memory of its own; elsewhere the host reads what is there.
    pub fn new(node: &Node, program: &Programs) -> Result<Option<Self>> {
        let (Some(d), MemoryKind::Discrete) = (&node.device, node.memory) else {
            return Ok(None);
        };
        let kernel = program.kernel("totals_kernel")?;
        Ok(Some(Self {
            group: adding_group(d, &kernel),
            kernel,
            at: RefCell::new((
                Glance::new(d, MAX_REDUCTIONS)?,
                node.buffer(MAX_REDUCTIONS)?,
            )),
        }))
    }
}

impl<T: Real> Totals<T> {
    /// Adds `count` parts of each of `lists`, or takes the largest where `maxima` has the list's bit.
    fn add(
        &self,
        d: &Device,
        lists: &[Arg],
        count: usize,
        maxima: u32,
    ) -> Result<[T; MAX_REDUCTIONS]> {
        let mut at = self.at.borrow_mut();
        let (glance, sums) = &mut *at;
        let mut args = [sums.split_at(usize::MAX, false)?.0.arg; MAX_REDUCTIONS + 1];
        for (k, arg) in args[1..].iter_mut().enumerate() {
            // What no group reads may be any list.
            *arg = lists[k.min(lists.len() - 1)];
        }
        let fail = |code| d.link.error("totals", code);
        let (kernel, queue) = (self.kernel.get(), &d.link.queue);
        queue.order().map_err(fail)?;
        set_args(kernel, 0, &args, &[count as u32, maxima]).map_err(fail)?;
        let items = lists.len() * self.group;
        queue.start(kernel, items, self.group).map_err(fail)?;
        let mut all = [T::ZERO; MAX_REDUCTIONS];
        all[..lists.len()].copy_from_slice(&glance.read(sums)?[..lists.len()]);
        Ok(all)
    }
}

impl<T: Real> Engine<T> {
    /// The reductions of the call of `site` that was started last, where the device has done all
    /// rows that count and has memory of its own; by the operations of
    /// [`total`](crate::kernel::scalars::total).
    pub(super) fn totals(&self, site: &mut Site<T>) -> Result<Option<[T; MAX_REDUCTIONS]>> {
        let kinds = site.kernel.shape.reduce;
        let (Some(d), Some(totals)) = (&self.node.device, &self.totals) else {
            return Ok(None);
        };
        if kinds.is_empty() || site.cut < site.counted {
            return Ok(None);
        }
        let (parts, count) = match self.add_up(site)? {
            true => (&site.device_lanes, TOTAL_LANES),
            false => (&site.device_partial, site.counted / BLOCK),
        };
        let mut lists = [Arg::None; MAX_REDUCTIONS];
        for (arg, list) in lists.iter_mut().zip(parts) {
            *arg = list.share(usize::MAX, usize::MAX)?.device;
        }
        let bit = |(k, kind): (usize, &Reduce)| u32::from(*kind == Reduce::Max) << k;
        let maxima: u32 = kinds.iter().enumerate().map(bit).sum();
        totals
            .add(d, &lists[..kinds.len()], count, maxima)
            .map(Some)
    }

    /// The same of sums of several calls, of as many rows each, which the device has all done wholly.
    pub(super) fn totals_of(
        &self,
        sums: &[(&Site<T>, usize)],
        lanes: Option<&[Buffer<T>; 3]>,
    ) -> Result<Option<[T; MAX_REDUCTIONS]>> {
        let (Some(d), Some(totals)) = (&self.node.device, &self.totals) else {
            return Ok(None);
        };
        let wholly = |s: &Site<T>| s.handle.is_some() && s.cut == s.rows && s.counted == s.rows;
        if sums.is_empty() || !sums.iter().all(|(s, _)| wholly(s)) {
            return Ok(None);
        }
        let mut lists = [Arg::None; MAX_REDUCTIONS];
        for (arg, (site, k)) in lists.iter_mut().zip(sums) {
            *arg = site.device_partial[*k]
                .share(usize::MAX, usize::MAX)?
                .device;
        }
        let (lists, blocks) = (&mut lists[..sums.len()], sums[0].0.rows / BLOCK);
        let count = self.add_up_three(lanes, lists, blocks)?;
        totals.add(d, lists, count, 0).map(Some)
    }
}
