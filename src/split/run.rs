//! Calls: waited for, or only started.

use std::time::Instant;

use super::call::reductions;
use super::engine::{Engine, Operands};
use super::site::Site;
use crate::Result;
use crate::kernel::total::Total;
use crate::kernel::{MAX_REDUCTIONS, Real, Reduce};

impl<T: Real> Engine<T> {
    /// Calls the kernel of `site` and returns its reductions (unused ones are 0). Where a device
    /// with memory of its own does all rows and the cut is settled, what was started before is
    /// waited for only with them; times are as for [`Engine::post`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device fails; [`crate::Error::Failure`] when operands do not fit the
    /// kernel's shape.
    pub fn run(&self, site: &mut Site<T>, o: Operands<'_, '_, T>) -> Result<[T; MAX_REDUCTIONS]> {
        let sums = self.totals.is_some() && !site.kernel.shape.reduce.is_empty();
        let ahead = sums && self.runs_ahead(site, &o);
        let (start, host_s) = self.start(site, o, ahead)?;
        let mut reductions = match self.totals(site)? {
            Some(totals) => totals,
            None => {
                let added = self.add_up(site)?;
                reductions(site, added)?
            }
        };
        if !ahead {
            self.settle()?;
            site.measured(start.elapsed().as_secs_f64(), host_s);
        }
        self.over_ranks(site.kernel.shape.reduce, &mut reductions)?;
        Ok(reductions.map(|total| total.value))
    }

    /// Combines values of all ranks, each as its kind says, in one message.
    pub(super) fn over_ranks(&self, kinds: &[Reduce], values: &mut [Total<T>]) -> Result<()> {
        if self.comm().size() == 1 || kinds.is_empty() {
            return Ok(());
        }
        let (mut sums, mut largest) = ([0.0; MAX_REDUCTIONS], [0.0; MAX_REDUCTIONS]);
        for (k, kind) in kinds.iter().enumerate() {
            match kind {
                Reduce::Sum => sums[k] = values[k].f64(),
                Reduce::Max => largest[k] = values[k].f64(),
            }
        }
        self.comm().combine(&mut sums, &mut largest)?;
        for (k, kind) in kinds.iter().enumerate() {
            values[k] = Total::of(match kind {
                Reduce::Sum => sums[k],
                Reduce::Max => largest[k],
            });
        }
        Ok(())
    }

    /// Calls the kernel of `site`. Where the device does all rows and the cut is settled this
    /// returns at once: whatever is called next comes after it, and what the host reads waits for
    /// it. Some of these calls are waited for, to be measured; the others' time is that of the
    /// batch in which they ran, in the ratio of the measured ones.
    ///
    /// # Errors
    /// As [`Engine::run`]; a call before may be the one that failed.
    pub fn post(&self, site: &mut Site<T>, o: Operands<'_, '_, T>) -> Result<()> {
        let ahead = self.runs_ahead(site, &o);
        let (start, host_s) = self.start(site, o, ahead)?;
        if !ahead {
            self.settle()?;
            site.measured(start.elapsed().as_secs_f64(), host_s);
        }
        Ok(())
    }

    /// Is the next call one that nobody measures?
    fn runs_ahead(&self, site: &Site<T>, o: &Operands<'_, '_, T>) -> bool {
        let wholly = site.handle.is_some() && self.cut(site) == site.rows;
        let carried = o.halo.is_none() || self.carrier.is_some();
        wholly && carried && !site.to_be_measured()
    }

    /// Starts a call and does the host's part: its beginning, and the time that part took. One that
    /// is not measured is put down.
    fn start(
        &self,
        site: &mut Site<T>,
        o: Operands<'_, '_, T>,
        ahead: bool,
    ) -> Result<(Instant, f64)> {
        let start = if ahead {
            Instant::now()
        } else {
            self.measure()?
        };
        self.dispatch(site, o)?;
        let host_s = start.elapsed().as_secs_f64();
        match &self.node.device {
            Some(d) if ahead => site.put_down(&d.link.queue),
            _ => self.host_s.set(self.host_s.get() + host_s),
        }
        Ok((start, host_s))
    }

    /// Returns when the device has finished, with the time.
    pub(super) fn measure(&self) -> Result<Instant> {
        self.settle()?;
        Ok(Instant::now())
    }

    /// Returns when the device has finished.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when a call failed.
    pub fn settle(&self) -> Result<()> {
        let Some(d) = &self.node.device else {
            return Ok(());
        };
        let settled = d.link.queue.settle();
        settled.map_err(|code| d.link.error("a kernel", code))
    }
}
