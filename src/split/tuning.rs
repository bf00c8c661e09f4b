//! One tuning: the search, then a comparison of the points that noise has left tied.

use std::collections::VecDeque;

use super::tabu::{self, Search};
use super::trial::Trial;

/// Points that noise cannot tell apart are measured again, this many of them...
const CONTENDERS: usize = 6;

/// ...no two closer than this part of the smaller share, whose times differ by less than it...
const NEAR: usize = 64;

/// ...until each has this many samples.
const FINAL_SAMPLES: usize = 30;

/// The state of a tuning.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The point being measured.
    pub trial: Trial,
    /// The first of its site, with its own budget?
    pub first: bool,
    /// A re-tuning that has used up its share waits at the best cut.
    pub paused: bool,
    /// Time of the present trial above the best mean; below zero while it is better.
    above_s: f64,
    search: Search,
    rows: usize,
    done: Vec<Trial>,
    /// Contenders still to be measured again; `None` while the search goes on.
    playoff: Option<VecDeque<Trial>>,
    /// Best cut and cost of the search, once it is over.
    found: Option<Trial>,
}

impl Tuning {
    /// A tuning at its first point; `None` if the search has no point.
    pub fn new(rows: usize, search: tabu::Params, first: bool) -> Option<Self> {
        let mut search = Search::new(search);
        let trial = Trial::new(search.propose()?);
        Some(Self {
            trial,
            first,
            paused: false,
            above_s: 0.0,
            search,
            rows,
            done: Vec::new(),
            playoff: None,
            found: None,
        })
    }

    /// The trial of the best cut.
    pub fn best(&self) -> Option<&Trial> {
        let cheaper = |a: &&Trial, b: &&Trial| a.cost().total_cmp(&b.cost());
        self.done.iter().min_by(cheaper).or(self.found.as_ref())
    }

    /// Adds a call to the present trial.
    pub fn add(&mut self, seconds_s: f64, value: f64) {
        if let Some(mean) = self.best().map(Trial::mean) {
            // The share, not the difference: `value` need not be a time.
            self.above_s += seconds_s * (1.0 - mean / value);
        }
        self.trial.add(value);
    }

    /// What the present trial has cost above the best, asked for once, at its end.
    pub fn take_excess_s(&mut self) -> f64 {
        let above_s = std::mem::take(&mut self.above_s);
        if above_s.is_finite() {
            above_s.max(0.0)
        } else {
            0.0
        }
    }

    /// Have the start and, in a first tuning, both ends been measured?
    pub fn opened(&self) -> bool {
        self.search.opened()
    }

    /// Is the present point measured well enough?
    pub fn trial_over(&self) -> bool {
        match &self.playoff {
            None => self.trial.decided(self.best().map(Trial::cost)),
            Some(_) => self.trial.len() >= FINAL_SAMPLES,
        }
    }

    /// Files the present trial and starts the next; false when there is none.
    pub fn next_trial(&mut self) -> bool {
        if self.playoff.is_none() {
            self.search.observe(self.trial.cut, self.trial.cost());
            self.done.push(self.trial.clone());
            if let Some(cut) = self.search.propose() {
                self.trial = Trial::new(cut);
                return true;
            }
            self.found = self.best().cloned();
            self.playoff = Some(self.contenders());
        } else {
            self.done.push(self.trial.clone());
        }
        let Some(mut trial) = self.playoff.as_mut().and_then(VecDeque::pop_front) else {
            return false;
        };
        trial.cool();
        self.trial = trial;
        true
    }

    /// The trials that noise cannot tell from the best; none if the best stands alone.
    ///
    /// All others are forgotten: what lost must not win by the luck of few samples.
    fn contenders(&mut self) -> VecDeque<Trial> {
        let mut trials = std::mem::take(&mut self.done);
        trials.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
        let Some((cost, error)) = trials.first().map(|b| (b.cost(), b.error())) else {
            return VecDeque::new();
        };
        let mut contenders: VecDeque<Trial> = VecDeque::new();
        for t in trials.into_iter().filter(|t| t.tied(cost, error)) {
            let apart = t.cut.min(self.rows.saturating_sub(t.cut)) / NEAR;
            let near = |c: &Trial| c.cut.abs_diff(t.cut) < apart;
            if contenders.len() < CONTENDERS && !contenders.iter().any(near) {
                contenders.push_back(t);
            }
        }
        if contenders.len() < 2 {
            contenders.clear();
        }
        contenders
    }
}
