//! From the sums of calls to the scalars that the next calls read: on the device where all of
//! the calls ran there wholly, so that nobody waits (or within the next call: `first.rs`), else on
//! the host; there, too, are the sums of all ranks added.

use std::cell::RefCell;
use std::time::Instant;

use opencl3::kernel::Kernel as ClKernel;

use super::call::reduction;
use super::engine::Engine;
use super::first::Waiting;
use super::launch::set_args;
use super::site::{Place, Site};
use super::totals::{MAX_SUMS, adding_group};
use crate::Result;
use crate::kernel::scalars::Scalars;
use crate::kernel::total::Total;
use crate::kernel::{MAX_REDUCTIONS, Real, Reduce};
use crate::node::memory::Arg;
use crate::node::pinned::Pinned;
use crate::node::{BLOCK, Buffer};

/// An operation on sums, ready to be called.
pub struct Finish<T: Real> {
    pub(super) scalars: Scalars<T>,
    /// What it costs the host; what a device does is part of the batch it is in.
    place: Place,
    handle: Option<ClKernel>,
    /// Work-items that add the sums.
    group: usize,
    /// The same within the next call, where that is possible.
    pub(super) waiting: Option<Waiting<T>>,
    /// Where many partial results are added up first.
    lanes: Option<[Buffer<T>; 3]>,
    /// From where a device with memory of its own gets what the host has computed.
    slot: Option<RefCell<Pinned>>,
}

impl<T: Real> Finish<T> {
    /// For reports.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// Where the device has the partial results of the k-th reduction of `site`.
pub(super) fn partial<T: Real>(site: &Site<T>, k: usize) -> Result<Arg> {
    let partial = &site.device_partial[k];
    Ok(partial.share(usize::MAX, usize::MAX)?.device)
}

impl<T: Real> Engine<T> {
    /// Whether the device has done all that `sums` are of. The sums of other ranks come to the host.
    pub(super) fn done_by_device(&self, sums: &[(&Site<T>, usize)]) -> bool {
        let wholly = |s: &Site<T>| s.handle.is_some() && s.cut == s.rows;
        self.comm().size() == 1 && sums.iter().all(|(s, _)| wholly(s))
    }

    /// Prepares `scalars`.
    ///
    /// # Errors
    /// The device has no such kernel.
    pub fn finish(&self, scalars: Scalars<T>, label: &str) -> Result<Finish<T>> {
        let names = [scalars.name, "state <- f(sums, state)", T::NAME];
        let mut finish = Finish {
            scalars,
            place: Place::new(label, names, 1),
            handle: None,
            group: 1,
            waiting: None,
            lanes: None,
            slot: None,
        };
        let (Some(program), Some(d)) = (&self.program, &self.node.device) else {
            return Ok(finish);
        };
        if self.carrier.is_some() {
            let bytes = scalars.length * size_of::<T>();
            finish.slot = Some(RefCell::new(Pinned::new(&d.link, bytes)?));
        }
        if T::CL == "double" || d.info.exact_division {
            let kernel = program.kernel(&format!("{}_kernel", scalars.name))?;
            finish.group = adding_group(d, &kernel);
            finish.handle = Some(kernel);
            finish.lanes = self.three_lanes()?;
            finish.waiting = Waiting::new(&self.node, program, &scalars)?;
        }
        Ok(finish)
    }

    /// `state <- f(sums, state)`, the sums those of the last calls of sites of like rows: `(site,
    /// k)` is the k-th reduction of `site`. Returns whether the device does it.
    ///
    /// # Errors
    /// The device failed.
    pub fn reduce(
        &self,
        finish: &mut Finish<T>,
        sums: &[(&Site<T>, usize)],
        state: &mut Buffer<T>,
    ) -> Result<bool> {
        let wholly = self.done_by_device(sums);
        if let (true, Some(d), Some(k)) = (wholly, &self.node.device, &finish.handle) {
            let blocks = sums.first().map_or(0, |(s, _)| s.rows / BLOCK);
            let mut args = [Arg::None; MAX_REDUCTIONS + 1];
            args[0] = state.split_at(usize::MAX, true)?.0.arg;
            for (arg, (site, k)) in args[1..].iter_mut().zip(sums) {
                *arg = partial(site, *k)?;
            }
            let parts = &mut args[1..=sums.len()];
            let left = self.add_up_three(finish.lanes.as_ref(), parts, blocks)?;
            let fail = |code| d.link.error(finish.scalars.name, code);
            d.link.queue.order().map_err(fail)?;
            let counts = [left.parts, left.rests];
            set_args(k.get(), 0, &args[..=sums.len()], &counts).map_err(fail)?;
            let group = finish.group;
            d.link.queue.start(k.get(), group, group).map_err(fail)?;
            return Ok(true);
        }
        let (start, waited_s) = (Instant::now(), self.comm().spent().reduce_s);
        let mut totals = match self.totals_of(sums, finish.lanes.as_ref())? {
            Some(totals) => totals,
            None => {
                let mut totals = [Total::ZERO; MAX_SUMS];
                for (total, (site, k)) in totals.iter_mut().zip(sums) {
                    *total = reduction(site, *k, false)?;
                }
                totals
            }
        };
        let kinds = [Reduce::Sum; MAX_REDUCTIONS];
        self.over_ranks(&kinds[..sums.len()], &mut totals)?;
        let length = finish.scalars.length;
        (finish.scalars.host)(&totals[..sums.len()], &mut state.write()?[..length]);
        if let Some(slot) = &finish.slot {
            let mut slot = slot.borrow_mut();
            slot.wait()?;
            let (to, values) = (slot.at().cast::<T>(), state.share(0, 0)?);
            // SAFETY: both hold `length` numbers, aligned as all of a device's memory, and no copy
            // is under way. The caller's buffer may be dropped while this one is, for OpenCL keeps
            // the memory of commands that have not finished.
            unsafe {
                to.copy_from_nonoverlapping(values.host.as_ptr(), length);
                slot.bring(values.device, length * size_of::<T>())?;
            }
            state.count(length);
            state.brought();
        }
        // The wait for other ranks is no work of the host's.
        let waited_s = self.comm().spent().reduce_s - waited_s;
        let own_s = (start.elapsed().as_secs_f64() - waited_s).max(0.0);
        let parts: usize = sums.iter().map(|(s, _)| s.counted / BLOCK).sum();
        finish.place.stats.call_bytes = (parts * size_of::<T>()) as f64;
        finish.place.stats.call_flops = parts as f64;
        finish.place.stats.add(own_s);
        self.host_s.set(self.host_s.get() + own_s);
        Ok(false)
    }
}
