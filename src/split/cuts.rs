//! Where an engine cuts: searches per site, or one for all where memory is discrete.

use std::cell::RefCell;
use std::rc::Rc;

use super::Bandwidth;
use super::cache::{Cache, Entry, Key};
use super::engine::{Engine, Policy};
use super::site::{Place, Site};
use super::tuner::{Call, Objective, Params, Tuner};
use crate::Result;
use crate::cluster::Halo;
use crate::kernel::Real;
use crate::node::{BLOCK, MemoryKind, topology};

/// Time above the best known that the first tuning of one site may spend.
const TUNING_BUDGET_S: f64 = 0.5;

/// The same for the tuning of all sites at once, which sees whole steps: with memory of its own
/// the device takes all or nothing, which the two ends tell, and cuts between are dear.
const JOINT_BUDGET_S: f64 = 1.0;
/// Parts of a cut that all sites share.
const JOINT_PARTS: usize = 128;

impl<T: Real> Engine<T> {
    /// Takes the measured bandwidths and the splits of earlier runs as the start of the search
    /// at sites made from now on.
    pub fn begin_from(&mut self, bandwidth: &Bandwidth, cache: Cache) {
        self.device_share = bandwidth.device_share();
        self.prefetch = bandwidth.prefetch;
        self.cache = cache;
        let discrete = self.node.memory == MemoryKind::Discrete;
        if discrete && self.program.is_some() && self.policy == Policy::Auto {
            let params = Params {
                objective: self.objective,
                first_step: 1.0 / 8.0,
                max_points: 24,
                budget_s: JOINT_BUDGET_S,
                ..Params::default()
            };
            let tuner = Tuner::new(JOINT_PARTS, 1, self.device_share, params);
            self.joint = Some(Rc::new(RefCell::new(tuner)));
        }
        let (cache, joint) = (&self.cache, &self.joint);
        if let Some(single) = &mut self.single {
            single.begin_from(bandwidth, cache.clone());
            if joint.is_some() {
                single.joint.clone_from(joint);
            }
        }
    }

    /// A tuner that starts where an earlier run ended, else at the share that equation 3.4 of the
    /// thesis gives to the device.
    pub(super) fn tuner(&self, site: &Place) -> Tuner {
        let params = Params {
            objective: self.objective,
            budget_s: TUNING_BUDGET_S,
            least_host_rows: site.border,
            ..Params::default()
        };
        match self.cache.get(&self.key(site)) {
            Some(found) => Tuner::new(site.rows, BLOCK, found.ratio, params.near()),
            None => Tuner::new(site.rows, BLOCK, self.device_share, params),
        }
    }

    /// Leaves the rows of `site` from `inner` on to the CPU, which drives the exchange they wait for.
    pub fn keep_border(&self, site: &mut Site<T>, halo: &Halo, inner: usize) {
        if halo.is_empty() || !self.overlap {
            return;
        }
        site.border = site.rows.saturating_sub(inner);
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

    /// Whether a search for cuts goes on, at any of `sites` or for all.
    pub fn is_tuning(&self, sites: &[&Place]) -> bool {
        let joint = self.shared_cut().is_some_and(|t| t.borrow().tuning());
        joint || sites.iter().any(|s| s.is_tuning())
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
