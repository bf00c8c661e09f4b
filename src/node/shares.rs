//! `part(t) = n w_t / sum w`: what each thread takes of a range of blocks, by measured speed.
//!
//! Where all cores are equal, parts are equal and nothing is measured. Where they are not (a
//! big.LITTLE chip), the weight of a cluster is the speed of its threads, seen in the calls
//! themselves: how much faster a big core is depends on the kernel.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Calls between two looks at the speeds.
const WINDOW: u32 = 16;
/// Weights that are off from the speeds by less stay as they are.
const DEAD_BAND: f64 = 0.03;
/// Weight of the fastest cluster.
const FULL: f64 = 1024.0;

/// The shares of a pool's threads in the rows of one kernel.
#[derive(Debug)]
pub struct Shares {
    /// Cluster of each thread.
    cluster: Vec<usize>,
    /// Weight of each cluster.
    weight: Vec<f64>,
    /// Sums of the threads' weights: 0, w_0, w_0 + w_1, ..
    ends: Vec<u64>,
    /// Least time per block of each thread since the last look, in units of 1/1024 ns.
    least: Vec<AtomicU64>,
    calls: u32,
}

impl Shares {
    /// Equal shares of threads, thread `t` in cluster `cluster[t]`, numbered from 0.
    pub fn even(cluster: &[usize]) -> Self {
        let clusters = cluster.iter().max().map_or(1, |most| most + 1);
        Self::weighted(cluster, &vec![1.0; clusters])
    }

    /// Shares of threads, thread `t` in cluster `cluster[t]`, whose speed is `weight[cluster[t]]`.
    pub fn weighted(cluster: &[usize], weight: &[f64]) -> Self {
        let mut shares = Self {
            cluster: cluster.to_vec(),
            weight: weight.to_vec(),
            ends: Vec::new(),
            least: cluster.iter().map(|_| AtomicU64::new(u64::MAX)).collect(),
            calls: 0,
        };
        shares.sum();
        shares
    }

    /// Shares with these weights that have not seen a call.
    pub fn anew(&self) -> Self {
        Self::weighted(&self.cluster, &self.weight)
    }

    /// Speed of a thread of each cluster, the fastest 1.
    pub fn weights(&self) -> &[f64] {
        &self.weight
    }

    /// Takes the speeds booked since the last look as they are.
    pub fn adopt(&mut self) {
        if let Some(speed) = self.speeds() {
            self.weight = speed;
            self.sum();
        }
    }

    /// The part of `range` that thread `t` takes: contiguous, in proportion to its weight.
    pub fn part(&self, t: usize, range: Range<usize>) -> Range<usize> {
        let all = self.ends[self.ends.len() - 1] as u128;
        let end = |t: usize| (range.len() as u128 * self.ends[t] as u128 / all) as usize;
        range.start + end(t)..range.start + end(t + 1)
    }

    /// Whether there are cores of different kinds, whose times count.
    pub fn uneven(&self) -> bool {
        self.weight.len() > 1
    }

    /// Share of thread `t`, 0 to 1.
    pub fn share(&self, t: usize) -> f64 {
        let all = self.ends[self.ends.len() - 1];
        (self.ends[t + 1] - self.ends[t]) as f64 / all as f64
    }

    /// Thread `t` took `time` for `blocks` blocks.
    pub fn book(&self, t: usize, blocks: usize, time: Duration) {
        let per_block = 1024 * time.as_nanos() / blocks.max(1) as u128;
        self.least[t].fetch_min(per_block.min(1 << 62) as u64, Ordering::Relaxed);
    }

    /// Counts a call; once in a while, moves the weights halfway (on a scale of ratios) to the
    /// speeds seen. The least time of several calls counts, since what disturbs a thread only
    /// ever slows it.
    pub fn call_done(&mut self) {
        if !self.uneven() {
            return;
        }
        self.calls += 1;
        if !self.calls.is_multiple_of(WINDOW) {
            return;
        }
        let Some(speed) = self.speeds() else { return };
        let off = |(speed, weight): (&f64, &f64)| (speed / weight - 1.0).abs();
        if speed.iter().zip(&self.weight).map(off).fold(0.0, f64::max) <= DEAD_BAND {
            return;
        }
        for (w, s) in self.weight.iter_mut().zip(&speed) {
            *w = (*w * s).sqrt();
        }
        let fastest = self.weight.iter().fold(0.0f64, |a, &b| a.max(b));
        self.weight.iter_mut().for_each(|w| *w /= fastest);
        self.sum();
    }

    /// Blocks per time of each cluster's threads, the fastest 1; none if a cluster has not been
    /// seen at work.
    fn speeds(&mut self) -> Option<Vec<f64>> {
        let mut time = vec![(0.0, 0); self.weight.len()];
        for (least, &c) in self.least.iter_mut().zip(&self.cluster) {
            let per_block = std::mem::replace(least.get_mut(), u64::MAX);
            if per_block != u64::MAX {
                time[c].0 += per_block as f64;
                time[c].1 += 1;
            }
        }
        let speed: Vec<f64> = time.iter().map(|&(t, n)| f64::from(n) / t).collect();
        let fastest = speed.iter().fold(0.0f64, |a, &b| a.max(b));
        let known = speed.iter().all(|s| s.is_finite() && *s > 0.0);
        known.then(|| speed.iter().map(|s| s / fastest).collect())
    }

    fn sum(&mut self) {
        let fastest = self.weight.iter().fold(0.0f64, |a, &b| a.max(b));
        self.ends.clear();
        self.ends.push(0);
        let mut sum = 0;
        for &c in &self.cluster {
            // Equal weights give the equal parts of a division without weights.
            sum += ((FULL * self.weight[c] / fastest).round() as u64).max(1);
            self.ends.push(sum);
        }
    }
}
