//! Calls: waited for, or only started.

use std::time::Instant;

use super::asked::Asked;
use super::call::reductions;
use super::engine::{Engine, Operands};
use super::site::Site;
use super::totals::MAX_SUMS;
use crate::kernel::total::Total;
use crate::kernel::{MAX_REDUCTIONS, Real, Reduce};
use crate::{Error, Result};

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
        let sums = self.own_reductions(&mut [site])?;
        if !ahead {
            self.settle()?;
            site.measured(start.elapsed().as_secs_f64(), host_s);
        }
        let [all] = self.of_all_ranks([site], sums)?;
        Ok(all)
    }

    /// The reductions of the last calls of `sites`, which were [posted](Engine::post) and not called
    /// since: as [`Engine::run`] would have returned them, but that a device is waited for once, and
    /// those of all ranks travel in one message.
    ///
    /// # Errors
    /// As [`Engine::run`]; [`crate::Error::Failure`] for more than twelve reductions.
    pub fn reductions<const N: usize>(
        &self,
        mut sites: [&mut Site<T>; N],
    ) -> Result<[[T; MAX_REDUCTIONS]; N]> {
        let sums = self.own_reductions(&mut sites)?;
        self.of_all_ranks(sites, sums)
    }

    /// The same of a question [asked](Engine::ask) before, of the same `sites`.
    ///
    /// # Errors
    /// As [`Engine::reductions`].
    pub fn told<const N: usize>(
        &self,
        asked: Asked,
        mut sites: [&mut Site<T>; N],
    ) -> Result<[[T; MAX_REDUCTIONS]; N]> {
        let sums = match self.answer(&asked)? {
            Some(sums) => sums,
            None => self.own_reductions(&mut sites)?,
        };
        self.of_all_ranks(sites, sums)
    }

    /// Those of all ranks, site by site; unused ones are 0.
    fn of_all_ranks<const N: usize>(
        &self,
        sites: [&mut Site<T>; N],
        mut sums: [Total<T>; MAX_SUMS],
    ) -> Result<[[T; MAX_REDUCTIONS]; N]> {
        let lists = sites.map(|s| s.kernel.shape.reduce);
        let (mut kinds, mut n) = ([Reduce::Sum; MAX_SUMS], 0);
        for kind in lists.into_iter().flatten() {
            (kinds[n], n) = (*kind, n + 1);
        }
        self.over_ranks(&kinds[..n], &mut sums[..n])?;
        let mut rest = &sums[..n];
        Ok(lists.map(|list| {
            let (own, others) = rest.split_at(list.len());
            rest = others;
            std::array::from_fn(|k| own.get(k).map_or(T::ZERO, |sum| sum.value))
        }))
    }

    /// Those of this rank, one site's after the other's.
    fn own_reductions(&self, sites: &mut [&mut Site<T>]) -> Result<[Total<T>; MAX_SUMS]> {
        let count: usize = sites.iter().map(|s| s.kernel.shape.reduce.len()).sum();
        if count > MAX_SUMS {
            return Err(Error::failure(
                format!("{count} reductions are asked for at once, not {MAX_SUMS} at most"),
                "report this as a defect",
            ));
        }
        if let Some(totals) = self.totals(sites)? {
            return Ok(totals);
        }
        let (mut all, mut n) = ([Total::ZERO; MAX_SUMS], 0);
        for site in sites {
            let own = match self.totals(&mut [site])? {
                Some(totals) => std::array::from_fn(|k| totals[k]),
                None => {
                    let added = self.add_up(site)?;
                    reductions(site, added)?
                }
            };
            for sum in &own[..site.kernel.shape.reduce.len()] {
                (all[n], n) = (*sum, n + 1);
            }
        }
        Ok(all)
    }

    /// Combines values of all ranks, each as its kind says, in one message.
    pub(super) fn over_ranks(&self, kinds: &[Reduce], values: &mut [Total<T>]) -> Result<()> {
        if self.comm().size() == 1 || kinds.is_empty() {
            return Ok(());
        }
        let (mut sums, mut largest) = ([0.0; MAX_SUMS], [0.0; MAX_SUMS]);
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

    /// Does the device do the next call alone?
    pub fn is_the_devices(&self, site: &Site<T>) -> bool {
        site.handle.is_some() && self.cut(site) == site.rows
    }

    /// And is it one that nobody measures?
    pub fn runs_unwatched(&self, site: &Site<T>) -> bool {
        self.is_the_devices(site) && !site.to_be_measured()
    }

    /// And does it wait for no message?
    fn runs_ahead(&self, site: &Site<T>, o: &Operands<'_, '_, T>) -> bool {
        let carried = o.halo.is_none() || self.carrier.is_some();
        carried && self.runs_unwatched(site)
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
            Some(d) if ahead => site.put_down(&d.link.queue, 1),
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
