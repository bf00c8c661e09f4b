//! The reductions of calls that the device has done alone, added up there to a number each, so
//! that the host reads them all at once.

use std::cell::RefCell;

use opencl3::kernel::Kernel as ClKernel;
use opencl3::types::cl_device_id;

use super::engine::Engine;
use super::glance::Glance;
use super::lanes::Left;
use super::launch::{Programs, set_args};
use super::site::Site;
use crate::Result;
use crate::kernel::scalars::TOTAL_LANES;
use crate::kernel::total::Total;
use crate::kernel::{MAX_REDUCTIONS, Real, Reduce};
use crate::node::memory::Arg;
use crate::node::{BLOCK, Buffer, Device, MemoryKind, Node};

/// Most that are read at once, of all calls.
pub(super) const MAX_SUMS: usize = 2 * MAX_REDUCTIONS;

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
            at: RefCell::new((Glance::new(d, 2 * MAX_SUMS)?, node.buffer(2 * MAX_SUMS)?)),
        }))
    }
}

impl<T: Real> Totals<T> {
    /// Adds what is left of each of `lists` (see [`Left`]), or takes the largest where `maxima` has
    /// the list's bit.
    fn add(
        &self,
        d: &Device,
        lists: &[Arg],
        left: Left,
        maxima: u32,
    ) -> Result<[Total<T>; MAX_SUMS]> {
        let mut at = self.at.borrow_mut();
        let (glance, sums) = &mut *at;
        let mut args = [sums.split_at(usize::MAX, false)?.0.arg; MAX_SUMS + 1];
        for (k, arg) in args[1..].iter_mut().enumerate() {
            // What no group reads may be any list.
            *arg = lists[k.min(lists.len() - 1)];
        }
        let fail = |code| d.link.error("totals", code);
        let (kernel, queue) = (self.kernel.get(), &d.link.queue);
        queue.order().map_err(fail)?;
        set_args(kernel, 0, &args, &[left.parts, left.rests, maxima]).map_err(fail)?;
        let items = lists.len() * self.group;
        queue.start(kernel, items, self.group).map_err(fail)?;
        let mut all = [Total::ZERO; MAX_SUMS];
        let pairs = glance.read(sums)?.chunks_exact(2);
        for (total, pair) in all[..lists.len()].iter_mut().zip(pairs) {
            let [value, rest] = [pair[0], pair[1]];
            *total = Total { value, rest };
        }
        Ok(all)
    }
}

impl<T: Real> Engine<T> {
    /// The reductions of the calls of `sites` that were started last, one site's after the other's,
    /// where the device has done all rows that count, as many of each, and has memory of its own; by
    /// the operations of [`total`](crate::kernel::scalars::total).
    pub(super) fn totals(
        &self,
        sites: &mut [&mut Site<T>],
    ) -> Result<Option<[Total<T>; MAX_SUMS]>> {
        let (Some(d), Some(totals), Some(first)) = (&self.node.device, &self.totals, sites.first())
        else {
            return Ok(None);
        };
        let counted = first.counted;
        let wholly = |s: &Site<T>| s.cut >= s.counted && s.counted == counted;
        let reduces = |s: &Site<T>| !s.kernel.shape.reduce.is_empty();
        if !sites.iter().all(|s| wholly(s) && reduces(s)) {
            return Ok(None);
        }
        let (mut lists, mut maxima, mut n) = ([Arg::None; MAX_SUMS], 0, 0);
        let mut left = Left::all(counted / BLOCK);
        for site in sites {
            let parts = match self.add_up(site)? {
                true => {
                    left = Left::lanes::<T>();
                    &site.device_lanes
                }
                false => &site.device_partial,
            };
            for (kind, list) in site.kernel.shape.reduce.iter().zip(parts) {
                lists[n] = list.share(usize::MAX, usize::MAX)?.device;
                maxima |= u32::from(*kind == Reduce::Max) << n;
                n += 1;
            }
        }
        totals.add(d, &lists[..n], left, maxima).map(Some)
    }

    /// The same of sums of several calls, of as many rows each, which the device has all done wholly.
    pub(super) fn totals_of(
        &self,
        sums: &[(&Site<T>, usize)],
        lanes: Option<&[Buffer<T>; 3]>,
    ) -> Result<Option<[Total<T>; MAX_SUMS]>> {
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
        let left = self.add_up_three(lanes, lists, blocks)?;
        totals.add(d, lists, left, 0).map(Some)
    }
}
