//! The reductions of calls that the device has done alone, added up there to a number each, so
//! that the host reads them all at once.

use std::cell::{Cell, RefCell};

use opencl3::kernel::Kernel as ClKernel;
use opencl3::types::cl_device_id;

use super::engine::Engine;
use super::first::{LIST_LEFT, SHARES, nothing};
use super::glance::Glance;
use super::lanes::Left;
use super::launch::{Programs, set_args};
use super::rule::Following;
use super::site::Site;
use crate::Result;
use crate::kernel::scalars::TOTAL_LANES;
use crate::kernel::total::Total;
use crate::kernel::{MAX_REDUCTIONS, Real, Reduce};
use crate::node::memory::Arg;
use crate::node::{BLOCK, Buffer, Device, MemoryKind, Node};

/// Most that are read at once, of all calls.
pub(super) const MAX_SUMS: usize = 3 * MAX_REDUCTIONS;

/// The kernel, whose source is `lanes.cl`'s, and where it leaves the numbers.
pub(super) struct Totals<T: Real> {
    kernel: ClKernel,
    /// Work-items for each reduction.
    group: usize,
    /// Where many are added up.
    many: Option<Many<T>>,
    /// Of a question and of the one before; the one that reads is dropped first.
    at: [RefCell<(Glance<T>, Buffer<T>)>; 2],
    /// Questions so far.
    pub(super) turn: Cell<u64>,
}

/// The same by several groups for each reduction, on devices whose groups may wait for earlier ones.
///
/// `couloir bench dot --rows N --device 1 --where device`, an H100, medians of three calls in turns, beside
/// a launch for the lanes and one for their totals: 64M 387 -> 381 us, 134M 751 -> 733.
struct Many<T: Real> {
    kernel: ClKernel,
    /// Work-items of each.
    group: usize,
    /// Where the groups meet.
    room: RefCell<Buffer<T>>,
}

impl<T: Real> Many<T> {
    fn new(node: &Node, device: &Device, program: &Programs) -> Result<Option<Self>> {
        if !device.tuning.waits {
            return Ok(None);
        }
        let kernel = program.kernel("many_totals_kernel")?;
        let mut room = node.buffer(MAX_SUMS * LIST_LEFT)?;
        nothing(&mut room)?;
        Ok(Some(Self {
            group: adding_group(device, &kernel),
            kernel,
            room: RefCell::new(room),
        }))
    }
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
        let at = || -> Result<_> {
            let (glance, sums) = (Glance::new(d, 2 * MAX_SUMS)?, node.buffer(2 * MAX_SUMS)?);
            Ok(RefCell::new((glance, sums)))
        };
        Ok(Some(Self {
            group: adding_group(d, &kernel),
            kernel,
            many: Many::new(node, d, program)?,
            turn: Cell::new(0),
            at: [at()?, at()?],
        }))
    }
}

impl<T: Real> Totals<T> {
    /// Whether nothing is left where groups have met, if any do.
    #[cfg(test)]
    pub(super) fn room_is_empty(&self) -> Option<bool> {
        let room = self.many.as_ref()?.room.borrow();
        let words: &[u32] = bytemuck::cast_slice(room.read().unwrap());
        Some(words.iter().all(|&word| word == super::first::NOTHING))
    }

    /// Starts to add what is left of each of `lists` (see [`Left`]), or to take the largest where
    /// `maxima` has the list's bit, and to read that. Returns whether what is `following` is part of it.
    fn start(
        &self,
        d: &Device,
        lists: &[Arg],
        left: Left,
        maxima: u32,
        following: Option<&mut Following<'_, T>>,
    ) -> Result<bool> {
        let turn = self.turn.get() + 1;
        let mut at = self.of(turn).borrow_mut();
        let (glance, sums) = &mut *at;
        let mut args = [sums.split_at(usize::MAX, false)?.0.arg; MAX_SUMS + 2];
        for (k, arg) in args[1..=MAX_SUMS].iter_mut().enumerate() {
            // What no group reads may be any list.
            *arg = lists[k.min(lists.len() - 1)];
        }
        // What is read of the last question but one is read before this one's kernel.
        glance.wait()?;
        let fail = |code| d.link.error("totals", code);
        let queue = &d.link.queue;
        queue.order().map_err(fail)?;
        let many = self.many.as_ref();
        let at_once = following.and_then(|f| Some((f.with_totals()?, f, many?)));
        let mut follows = false;
        let (kernel, group, groups) = match (many, at_once) {
            (Some(many), _) if left.are_many() => {
                let mut room = many.room.borrow_mut();
                args[MAX_SUMS + 1] = room.split_at(usize::MAX, true)?.0.arg;
                let kernel = many.kernel.get();
                set_args(kernel, 0, &args, &[left.parts, maxima]).map_err(fail)?;
                (kernel, many.group, SHARES * lists.len())
            }
            (_, Some(((kernel, group), f, many))) => {
                let mut room = many.room.borrow_mut();
                args[MAX_SUMS + 1] = room.split_at(usize::MAX, true)?.0.arg;
                let state = f.state.split_at(usize::MAX, false)?.0.arg;
                let index = set_args(kernel, 0, &args, &[left.parts, maxima]).map_err(fail)?;
                set_args(kernel, index, &[state], f.values).map_err(fail)?;
                follows = true;
                (kernel, group, lists.len() + 1)
            }
            _ => {
                let (kernel, counts) = (self.kernel.get(), [left.parts, left.rests, maxima]);
                set_args(kernel, 0, &args[..=MAX_SUMS], &counts).map_err(fail)?;
                (kernel, self.group, lists.len())
            }
        };
        queue.start(kernel, groups * group, group).map_err(fail)?;
        // SAFETY: the sums are the device's alone, dropped after the glance, and changed by the kernel
        // above alone.
        unsafe { glance.start_aside(sums) }?;
        self.turn.set(turn);
        Ok(follows)
    }

    /// Where the numbers of that question are.
    pub(super) fn of(&self, turn: u64) -> &RefCell<(Glance<T>, Buffer<T>)> {
        &self.at[(turn % 2) as usize]
    }

    /// What that question, the last one or the one before, has come to.
    pub(super) fn end(&self, turn: u64) -> Result<[Total<T>; MAX_SUMS]> {
        let mut all = [Total::ZERO; MAX_SUMS];
        let mut at = self.of(turn).borrow_mut();
        for (total, pair) in all.iter_mut().zip(at.0.end()?.chunks_exact(2)) {
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
        match self.ask_of(sites, None)? {
            Some(_) => self.waited_for(),
            None => Ok(None),
        }
    }

    /// What the last question has come to; all before it has then finished, too.
    fn waited_for(&self) -> Result<Option<[Total<T>; MAX_SUMS]>> {
        let all = self
            .totals
            .as_ref()
            .map(|t| t.end(t.turn.get()))
            .transpose()?;
        if let Some(d) = &self.node.device {
            d.link.queue.settled();
        }
        Ok(all)
    }

    /// Begins to tell them, if the device can; and whether it does so with what is `following`.
    pub(super) fn ask_of(
        &self,
        sites: &mut [&mut Site<T>],
        following: Option<&mut Following<'_, T>>,
    ) -> Result<Option<bool>> {
        let (Some(d), Some(totals), Some(first)) = (&self.node.device, &self.totals, sites.first())
        else {
            return Ok(None);
        };
        let counted = first.counted;
        let wholly = |s: &Site<T>| s.cut >= s.counted && s.counted == counted;
        let reduces = |s: &Site<T>| !s.kernel.shape.reduce.is_empty();
        let count: usize = sites.iter().map(|s| s.kernel.shape.reduce.len()).sum();
        if count > MAX_SUMS || !sites.iter().all(|s| wholly(s) && reduces(s)) {
            return Ok(None);
        }
        let (mut lists, mut maxima, mut n) = ([Arg::None; MAX_SUMS], 0, 0);
        let mut left = Left::all(counted / BLOCK);
        for site in sites {
            let parts = match totals.many.is_none() && self.add_up(site)? {
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
        totals
            .start(d, &lists[..n], left, maxima, following)
            .map(Some)
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
        let left = match &totals.many {
            Some(_) => Left::all(blocks),
            None => self.add_up_three(lanes, lists, blocks)?,
        };
        totals.start(d, lists, left, 0, None)?;
        self.waited_for()
    }
}
