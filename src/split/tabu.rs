//! Tabu search for the cut that costs least (thesis section 3.4.2, algorithm 1).
//!
//! The search is pure: it names a point, is told its cost, and names the next. It knows no
//! clock and no device.

use std::collections::{BTreeMap, VecDeque};

/// What a search may do.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Least cut, in blocks.
    pub lo: usize,
    /// Greatest cut, in blocks; always a point, also when it is no multiple of `grain`.
    pub hi: usize,
    /// Distance between neighbouring points, in blocks.
    pub grain: usize,
    /// First point; moved to the nearest one.
    pub start: usize,
    /// First step in points; 0 takes a sixteenth of the range.
    pub step: usize,
    /// Visit `lo` and `hi`, then the cut at which both sides would take equally long if
    /// neither slowed the other. Off for a search near a point already known to be good.
    pub ends: bool,
    /// Descents from other points after the first.
    pub restarts: usize,
    /// Points visited at most.
    pub max_points: usize,
    /// Seed of the restarts.
    pub seed: u64,
}

impl Params {
    /// All of `[0, hi]` from `start`: both ends, three restarts, at most 100 points.
    pub fn new(hi: usize, grain: usize, start: usize) -> Self {
        Self {
            lo: 0,
            hi,
            grain,
            start,
            step: 0,
            ends: true,
            restarts: 3,
            max_points: 100,
            seed: 1,
        }
    }
}

/// The state of a search.
#[derive(Clone, Debug)]
pub struct Search {
    params: Params,
    /// Points are numbered `0..=last`.
    last: usize,
    step: usize,
    /// Points to visit before any descent.
    openers: VecDeque<usize>,
    /// The ends are known and the balanced point has been named.
    balanced: bool,
    /// Last in, first out: the latest improvement is followed first.
    candidates: Vec<usize>,
    tabu: BTreeMap<usize, f64>,
    /// Best point of the present descent.
    incumbent: Option<(usize, f64)>,
    pending: Option<usize>,
    restarts_left: usize,
    rng: fastrand::Rng,
    visited: Vec<(usize, f64)>,
}

impl Search {
    /// A search that has visited nothing. A `grain` of 0 counts as 1, `lo > hi` as `lo = hi`.
    pub fn new(params: Params) -> Self {
        let grain = params.grain.max(1);
        let lo = params.lo.min(params.hi);
        let last = (params.hi - lo).div_ceil(grain);
        let start = (params.start.clamp(lo, params.hi) - lo + grain / 2) / grain;
        let mut openers = VecDeque::from([start.min(last)]);
        if params.ends {
            openers.extend([0, last]);
        }
        let mut search = Self {
            last,
            step: 0,
            openers,
            balanced: !params.ends,
            candidates: Vec::new(),
            tabu: BTreeMap::new(),
            incumbent: None,
            pending: None,
            restarts_left: params.restarts,
            rng: fastrand::Rng::with_seed(params.seed),
            visited: Vec::new(),
            params: Params {
                grain,
                lo,
                ..params
            },
        };
        search.step = search.first_step();
        search
    }

    /// The point to evaluate; the same until its cost is told, `None` when the search is over.
    /// The ends are named even when `max_points` is smaller than their number.
    pub fn propose(&mut self) -> Option<usize> {
        if self.pending.is_none() {
            self.pending = self.choose();
        }
        self.pending.map(|k| self.cut(k))
    }

    /// Tells the cost of the point that [`propose`](Self::propose) named. Costs that are not
    /// numbers count as infinite; points that were not asked for are ignored.
    pub fn observe(&mut self, m: usize, cost: f64) {
        let Some(k) = self.pending.take_if(|k| self.params.cut(*k) == m) else {
            return;
        };
        let cost = if cost.is_nan() { f64::INFINITY } else { cost };
        self.tabu.insert(k, cost);
        self.visited.push((m, cost));
        let from = self.incumbent;
        if from.is_none_or(|(_, best)| cost < best) {
            self.incumbent = Some((k, cost));
            if self.openers.is_empty() && self.balanced {
                self.push_neighbours(k, from.is_some_and(|(before, _)| before > k));
            }
        }
    }

    /// The cheapest point visited; of equals the first.
    pub fn best(&self) -> Option<(usize, f64)> {
        let points = self.visited.iter().copied();
        points.reduce(|a, b| if b.1 < a.1 { b } else { a })
    }

    /// Every point visited, in order, with its cost.
    pub fn visited(&self) -> &[(usize, f64)] {
        &self.visited
    }

    /// The point nearest to `x` blocks.
    pub fn nearest(&self, x: f64) -> usize {
        let k = (x - self.params.lo as f64) / self.params.grain as f64;
        self.cut((k.round() as usize).min(self.last))
    }

    /// The greatest point.
    pub fn most(&self) -> usize {
        self.params.hi
    }

    /// Visits the point nearest to `cut` before the search goes on.
    pub fn suggest(&mut self, cut: usize) {
        let k = (cut.saturating_sub(self.params.lo) + self.params.grain / 2) / self.params.grain;
        self.openers.push_back(k.min(self.last));
    }

    /// Have a first point and, if asked for, both ends been visited?
    pub fn opened(&self) -> bool {
        let ends = [0, self.last].iter().all(|k| self.tabu.contains_key(k));
        !self.visited.is_empty() && (ends || !self.params.ends)
    }

    fn choose(&mut self) -> Option<usize> {
        loop {
            if let Some(k) = self.openers.pop_front() {
                if self.tabu.contains_key(&k) {
                    continue;
                }
                return Some(k);
            }
            if self.visited.len() >= self.params.max_points || self.tabu.len() > self.last {
                return None;
            }
            if !self.balanced {
                self.balanced = true;
                self.openers.extend(self.balance());
                continue;
            }
            if let Some(k) = self.candidates.pop() {
                if self.tabu.contains_key(&k) {
                    continue;
                }
                return Some(k);
            }
            if !self.narrow() && !self.restart() {
                return None;
            }
        }
    }

    /// Halves the step around the incumbent; false when the step is 1 already.
    fn narrow(&mut self) -> bool {
        let Some((k, _)) = self.incumbent else {
            return false;
        };
        if self.step == 0 {
            return false;
        }
        self.push_neighbours(k, false);
        // The present step is tried first: after the openers nobody has tried it yet.
        if self.candidates.is_empty() {
            self.step /= 2;
        }
        true
    }

    /// Starts a descent in the middle half of the widest gap between visited points.
    fn restart(&mut self) -> bool {
        if self.restarts_left == 0 {
            return false;
        }
        self.restarts_left -= 1;
        let after = self.tabu.keys().copied().skip(1).chain([self.last]);
        let Some((a, b)) = self
            .tabu
            .keys()
            .copied()
            .zip(after)
            .max_by_key(|(a, b)| b - a)
        else {
            return false;
        };
        let quarter = (b - a) / 4;
        self.openers
            .push_back(self.rng.usize(a + quarter..=b - quarter));
        self.incumbent = None;
        self.step = self.first_step();
        true
    }

    /// The point at which `T_lo (1 - x) = T_hi x`: equation 3.4 of the thesis with measured
    /// speeds in place of bandwidths.
    fn balance(&self) -> Option<usize> {
        let (host, device) = (*self.tabu.get(&0)?, *self.tabu.get(&self.last)?);
        let x = host / (host + device);
        x.is_finite()
            .then(|| (x * self.last as f64).round() as usize)
    }

    fn first_step(&self) -> usize {
        match self.params.step {
            0 => (self.last / 16).max(1),
            step => step.min(self.last.max(1)),
        }
    }

    /// Puts `k +- step` on the stack, that which goes on `downwards` (or upwards) on top.
    fn push_neighbours(&mut self, k: usize, downwards: bool) {
        let down = k.checked_sub(self.step);
        let up = k.checked_add(self.step).filter(|&k| k <= self.last);
        let pair = if downwards { [up, down] } else { [down, up] };
        let fresh = pair.into_iter().flatten();
        self.candidates
            .extend(fresh.filter(|k| !self.tabu.contains_key(k)));
    }

    fn cut(&self, k: usize) -> usize {
        self.params.cut(k)
    }
}

impl Params {
    fn cut(&self, k: usize) -> usize {
        (self.lo + k * self.grain).min(self.hi)
    }
}
