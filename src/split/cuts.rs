//! Where an engine cuts: searches per site, or one for all where memory is discrete.

use std::cell::RefCell;
use std::rc::Rc;

use super::Bandwidth;
use super::border::Border;
use super::cache::{Cache, Entry, Key};
use super::engine::{Engine, Policy};
use super::site::{Place, Site};
use super::tuner::{Call, Objective, Params, Tuner};
use crate::Result;
use crate::cluster::Halo;
use crate::kernel::Real;
use crate::node::{BLOCK, MemoryKind, topology};
use crate::sparse::Sell;

/// Time above the best known that the first tuning of one site may spend.
const TUNING_BUDGET_S: f64 = 0.5;

/// The same for the tuning of all sites at once, which sees whole steps: with memory of its own
/// the device takes all or nothing, which the two ends tell, and cuts between are dear.
const JOINT_BUDGET_S: f64 = 1.0;
/// Parts of a cut that all sites share.
const JOINT_PARTS: usize = 128;
/// A site that is called in fewer than one of so many steps is not waited for.
const SELDOM: u64 = 4;

/// A tuner of the cut that all sites share. It begins with all rows on the device: any other
/// share but none copies vectors at every call. Between the ends there is one valley at most,
/// around their balance, which is visited in any case.
fn joint(objective: Objective) -> Tuner {
    let params = Params {
        objective,
        first_step: 1.0 / 8.0,
        max_points: 24,
        restarts: 0,
        budget_s: JOINT_BUDGET_S,
        ..Params::default()
    };
    Tuner::new(JOINT_PARTS, 1, 1.0, params)
}

impl<T: Real> Engine<T> {
    /// Takes the measured bandwidths and the splits of earlier runs as the start of the search
    /// at sites made from now on.
    pub fn begin_from(&mut self, bandwidth: &Bandwidth, cache: Cache) {
        self.device_share = bandwidth.device_share();
        self.prefetch = bandwidth.prefetch;
        self.cache = cache;
        let discrete = self.node.memory == MemoryKind::Discrete;
        if discrete && self.program.is_some() && self.policy == Policy::Auto {
            self.joint = Some(Rc::new(RefCell::new(joint(self.objective))));
        }
        let (cache, joint) = (&self.cache, &self.joint);
        if let Some(single) = &mut self.single {
            single.begin_from(bandwidth, cache.clone());
            if joint.is_some() {
                single.joint.clone_from(joint);
            }
        }
    }

    /// Begins the search at sites made from now on at this share of the rows on the device, unless
    /// an earlier run's end is known, or all sites share one cut.
    pub fn begin_at(&mut self, device_share: f64) {
        self.device_share = device_share;
        if let Some(single) = &mut self.single {
            single.begin_at(device_share);
        }
    }

    /// A tuner that starts where an earlier run ended, else at the share that the board's file or
    /// equation 3.4 of the thesis gives to the device.
    pub(super) fn tuner(&self, site: &Place) -> Tuner {
        let params = Params {
            objective: self.objective,
            budget_s: TUNING_BUDGET_S,
            least_host_rows: site.waiting,
            ..Params::default()
        };
        match self.cache.get(&self.key(site)) {
            Some(found) => Tuner::new(site.rows, BLOCK, found.ratio, params.near()),
            None => Tuner::new(site.rows, BLOCK, self.device_share, params),
        }
    }

    /// Leaves the rows of `site` that wait for `halo` in products with `matrix` to the CPU, which
    /// drives the exchange.
    pub fn keep_border(&self, site: &mut Site<T>, halo: &Halo, matrix: &Sell<T>) {
        if halo.is_empty() || !self.overlap {
            return;
        }
        site.waiting = site.rows.saturating_sub(matrix.inner_rows());
        if matches!(
            self.node.memory,
            MemoryKind::ZeroCopy | MemoryKind::Discrete
        ) {
            site.border = Border::new(matrix, site.kernel.shape.gather);
        }
        if self.program.is_some() && self.policy == Policy::Auto && self.joint.is_none() {
            site.tuner = self.tuner(site);
        }
    }

    /// Rows of the next call of `site` that the device takes.
    pub(super) fn cut(&self, site: &Site<T>) -> usize {
        match &self.joint {
            Some(joint) if self.policy == Policy::Auto => {
                let (blocks, part) = (site.rows / BLOCK, joint.borrow().cut());
                (blocks * part + JOINT_PARTS / 2) / JOINT_PARTS * BLOCK
            }
            _ => site.tuner.cut(),
        }
    }

    /// Tells what a whole step cost: where memory is discrete, all sites share one cut, which is
    /// tuned by it.
    pub fn step_done(&self, seconds_s: f64) {
        self.steps.set(self.steps.get() + 1);
        let single_s = self.single.as_ref().map_or(0.0, |s| s.host_s.take());
        let host_s = self.host_s.take() + single_s;
        if let Some(joint) = self.shared_cut() {
            joint.borrow_mut().record_sides(Call { seconds_s }, host_s);
        }
    }

    /// What cuts minimise.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// The tuner of the cut that all sites share, where they do.
    pub fn joint_tuner(&self) -> Option<Tuner> {
        self.shared_cut().map(|t| t.borrow().clone())
    }

    /// The cut of all sites that see the device: of both precisions if both do.
    fn shared_cut(&self) -> Option<&RefCell<Tuner>> {
        let single = || self.single.as_ref().and_then(|s| s.joint.as_deref());
        self.joint.as_deref().or_else(single)
    }

    /// Whether cuts are being tried, at any of `sites` or for all; a search that waits tries none.
    /// Sites that have not been called where others have may never be, or not again: a mean that no right-hand
    /// side has, and what is asked at the start alone.
    pub fn is_tuning(&self, sites: &[&Place]) -> bool {
        self.any_tuner(sites, Tuner::searching)
    }

    /// The same of first searches: those that begin anew, for calls take another time than before, cost
    /// little, and where neighbours are at work one goes on at nearly any time.
    pub fn is_untuned(&self, sites: &[&Place]) -> bool {
        self.any_tuner(sites, Tuner::untuned)
    }

    fn any_tuner(&self, sites: &[&Place], holds: fn(&Tuner) -> bool) -> bool {
        let joint = self.shared_cut().is_some_and(|t| holds(&t.borrow()));
        let begun = sites.iter().any(|s| s.stats.calls > 0);
        let often = |s: &Place| SELDOM * s.stats.calls >= self.steps.get().max(1);
        let counts = |s: &Place| !begun || often(s);
        joint || sites.iter().any(|s| holds(s.tuner()) && counts(s))
    }

    /// Share of the rows of `site` that the device takes.
    pub fn ratio(&self, site: &Place) -> f64 {
        if let (true, Some(single)) = (site.precision != T::NAME, &self.single) {
            return single.ratio(site);
        }
        match &self.joint {
            Some(joint) if self.policy == Policy::Auto => joint.borrow().ratio(),
            _ => site.ratio(),
        }
    }

    fn key(&self, site: &Place) -> Key {
        let device = self.node.device.as_ref().map(|d| &d.info);
        Key {
            board: topology::host_name(),
            device: device.map_or_else(String::new, |i| format!("{} {}", i.name, i.driver)),
            kernel: site.name.to_string(),
            label: site.label.clone(),
            rows: site.rows,
            precision: site.precision.to_string(),
            threads: self.node.pool.threads(),
            objective: self.objective.name().to_string(),
        }
    }

    /// Keeps the cuts on which `sites` have settled for later runs.
    ///
    /// # Errors
    /// The cache file cannot be written.
    pub fn remember(&mut self, sites: &[&Place]) -> Result<()> {
        if let Some(single) = &mut self.single {
            single.remember(sites)?;
        }
        if self.program.is_none() || self.policy != Policy::Auto || self.joint.is_some() {
            return Ok(());
        }
        for site in sites
            .iter()
            .filter(|s| s.precision == T::NAME && !s.is_tuning())
        {
            if let Some(seconds_s) = site.tuner.settled() {
                self.cache.put(Entry {
                    key: self.key(site),
                    ratio: site.ratio(),
                    seconds_s,
                });
            }
        }
        self.cache.save()
    }

    /// Cuts `site` at the multiple of the block nearest to `ratio`, for good.
    pub fn set_ratio(&self, site: &mut Site<T>, ratio: f64) {
        site.tuner = Tuner::fixed(site.rows, BLOCK, ratio);
    }
}

#[cfg(test)]
mod tests;
