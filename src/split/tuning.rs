//! One tuning: the search, then a comparison of the points that noise has left tied.

use super::playoff::{BURST, Playoff};
use super::tabu::{self, Search};
use super::trial::Trial;

/// The state of a tuning.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The point being measured.
    pub trial: Trial,
    /// The first of its site, with its own budget?
    pub first: bool,
    /// A re-tuning that has used up its share waits at the best cut.
    pub paused: bool,
    /// Has a cut been suggested?
    suggested: bool,
    /// Time of the present trial above the best mean; below zero while it is better.
    above_s: f64,
    search: Search,
    done: Vec<Trial>,
    /// `None` while the search goes on.
    playoff: Option<Playoff>,
}

impl Tuning {
    /// A tuning at its first point; `None` if the search has no point.
    pub fn new(search: tabu::Params, first: bool) -> Option<Self> {
        let mut search = Search::new(search);
        let trial = Trial::new(search.propose()?);
        Some(Self {
            trial,
            first,
            paused: false,
            suggested: false,
            above_s: 0.0,
            search,
            done: Vec::new(),
            playoff: None,
        })
    }

    /// The trial of the best cut.
    pub fn best(&self) -> Option<&Trial> {
        match &self.playoff {
            Some(playoff) => playoff.best(),
            None => self.done.iter().min_by(Trial::cheaper),
        }
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

    /// Once both ends are known, visits `cut` next.
    pub fn suggest(&mut self, cut: usize) {
        if self.opened() && !std::mem::replace(&mut self.suggested, true) {
            self.search.suggest(cut);
        }
    }

    /// Is the present point measured well enough?
    pub fn trial_over(&self) -> bool {
        match &self.playoff {
            None => self.trial.decided(self.best().map(Trial::cost)),
            Some(_) => self.trial.burst() >= BURST,
        }
    }

    /// Files the present trial and starts the next; false when there is none.
    pub fn next_trial(&mut self) -> bool {
        match &mut self.playoff {
            Some(playoff) => playoff.file(&self.trial),
            None => {
                self.search.observe(self.trial.cut, self.trial.cost());
                self.done.push(self.trial.clone());
                if let Some(cut) = self.search.propose() {
                    self.trial = Trial::new(cut);
                    return true;
                }
                let done = std::mem::take(&mut self.done);
                self.playoff = Some(Playoff::new(done, &self.search, self.first));
            }
        }
        let next = self.playoff.as_mut().and_then(|p| p.next(&self.search));
        let Some(mut trial) = next else {
            return false;
        };
        trial.cool();
        self.trial = trial;
        true
    }
}
