//! The end of a tuning: the few best cuts are measured in turns until they are told apart.

use std::collections::VecDeque;

use super::corner::{Point, corner};
use super::tabu::Search;
use super::trial::Trial;

/// Samples of one turn. Turns are short, so a slow change of the machine hits all alike.
pub const BURST: usize = 6;

/// Cuts compared at most...
const CONTENDERS: usize = 8;

/// ...of which no two are closer than this part of the smaller share.
const NEAR: usize = 100;

/// Cuts admitted in all before fits bring no more.
const SEEN: usize = 14;

/// A difference below this share of the cost is not worth a measurement.
const WORTH: f64 = 0.01;

/// Standard errors that decide.
const SURE: f64 = 2.5;

/// Samples of a contender at most; in a re-tuning `AGAIN`, as the change is to be met soon.
const MOST: usize = 100;
const AGAIN: usize = 30;

/// Contenders and who is measured next.
#[derive(Clone, Debug)]
pub struct Playoff {
    /// All trials of the tuning, by cut.
    trials: Vec<Trial>,
    /// Cuts of those that may still be the best.
    contenders: Vec<usize>,
    /// Cuts that have been contenders: what lost does not come back.
    seen: Vec<usize>,
    deviation: f64,
    most: usize,
    /// Cuts still to be measured in this round.
    round: VecDeque<usize>,
}

impl Playoff {
    /// A comparison of the cheapest of `trials`, those that noise cannot tell from it, and the
    /// corner fitted to the valley of each. Over at once if the cheapest stands alone.
    pub fn new(trials: Vec<Trial>, search: &Search, first: bool) -> Self {
        let mut order: Vec<(usize, f64)> = trials.iter().map(|t| (t.cut, t.doubt())).collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut playoff = Self {
            deviation: deviation(&trials),
            most: if first { MOST } else { AGAIN },
            trials,
            contenders: Vec::new(),
            seen: Vec::new(),
            round: VecDeque::new(),
        };
        playoff.trials.sort_unstable_by_key(|t| t.cut);
        let best = playoff.trials.iter().min_by(Trial::cheaper).cloned();
        for (cut, _) in order {
            let Some((t, best)) = playoff.trial(cut).cloned().zip(best.as_ref()) else {
                continue;
            };
            if playoff.contenders.len() < CONTENDERS && worth(&t, best, playoff.deviation) {
                playoff.admit(cut, search);
                playoff.fit(cut, search);
            }
        }
        playoff.start_round();
        playoff
    }

    /// The cheapest contender.
    pub fn best(&self) -> Option<&Trial> {
        let trials = self.contenders.iter().filter_map(|&cut| self.trial(cut));
        trials.min_by(Trial::cheaper)
    }

    /// The contender to be measured next; `None` when the best is known.
    pub fn next(&mut self, search: &Search) -> Option<Trial> {
        if self.round.is_empty() {
            self.judge(search);
            self.start_round();
        }
        let cut = self.round.pop_front()?;
        self.trial(cut).cloned()
    }

    /// Takes back what [`next`](Self::next) handed out.
    pub fn file(&mut self, trial: &Trial) {
        if let Some(t) = self.trials.iter_mut().find(|t| t.cut == trial.cut) {
            t.clone_from(trial);
        }
    }

    fn trial(&self, cut: usize) -> Option<&Trial> {
        self.trials.iter().find(|t| t.cut == cut)
    }

    fn start_round(&mut self) {
        if self.contenders.len() > 1 {
            self.round.extend(&self.contenders);
        }
    }

    /// Drops who cannot beat the cheapest by an amount that matters; what the last round has
    /// taught about the corner may bring a new contender.
    fn judge(&mut self, search: &Search) {
        let Some(best) = self.best().cloned() else {
            return;
        };
        let trials = &self.trials;
        self.contenders.retain(|&cut| {
            let t = trials.iter().find(|t| t.cut == cut);
            let open = |t: &Trial| worth(t, &best, self.deviation) && t.len() < self.most;
            cut == best.cut || t.is_some_and(open)
        });
        if self.seen.len() < SEEN {
            self.fit(best.cut, search);
        }
    }

    /// Admits the corner of the valley around `cut`.
    fn fit(&mut self, cut: usize, search: &Search) {
        let point = |t: &Trial| Point {
            x: t.cut as f64,
            cost: t.cost(),
            weight: t.len() as f64,
        };
        let measured = self.trials.iter().filter(|t| t.len() > 0);
        let points: Vec<Point> = measured.map(point).collect();
        let at = points.iter().position(|p| p.x == cut as f64);
        if let Some(x) = at.and_then(|k| corner(&points, k)) {
            self.admit(search.nearest(x), search);
        }
    }

    /// Makes `cut` a contender unless one has been as near as makes no difference.
    fn admit(&mut self, cut: usize, search: &Search) {
        let apart = cut.min(search.most().saturating_sub(cut)) / NEAR;
        if self.seen.iter().any(|c| c.abs_diff(cut) <= apart) {
            return;
        }
        self.seen.push(cut);
        self.contenders.push(cut);
        if let Err(k) = self.trials.binary_search_by_key(&cut, |t| t.cut) {
            self.trials.insert(k, Trial::new(cut));
        }
    }
}

/// Standard deviation of a call as a share of its cost: the median over all trials, as that of
/// a few samples may be small by chance.
fn deviation(trials: &[Trial]) -> f64 {
    let relative = |t: &Trial| t.error() * (t.len() as f64).sqrt() / t.cost();
    let mut all: Vec<f64> = trials.iter().map(relative).collect();
    all.retain(|d| d.is_finite());
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// May `t` be cheaper than `best` by an amount that matters?
fn worth(t: &Trial, best: &Trial, deviation: f64) -> bool {
    let error = |t: &Trial| {
        t.error()
            .max(deviation * t.cost() / (t.len() as f64).sqrt())
    };
    let gain = best.cost() - t.cost() + SURE * error(t).hypot(error(best));
    gain > WORTH * best.cost() || t.cut == best.cut
}
