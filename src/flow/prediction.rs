//! What a time step costs on more nodes than there are (thesis figure 3.9): the kernels are measured
//! on the part of the mesh that one of so many nodes gets, beside neighbours that are not there; a
//! model of the network adds what their messages take.
//!
//! `T(P) = A + k B(P) + x l + s / w + k (o(h) + max(0, t(h) - o(h) - W)) + (k + r) t_sum(P)`
//!
//! with the step's own work A and that of each of its k iterations, B; exchanges x of s bytes in all
//! that nothing hides, and r sums beside those of the iterations; the h bytes that an iteration
//! sends while inner rows take W, of which the processor itself is busy for o(h); where an iteration
//! has two exchanges, of half of them each, the bracket counts for each.
//!
//! All ranks wait for the slowest at each sum. The p ranks that measure do so, too, and what counts
//! of each iteration is the longest of them, b. More nodes are as many such groups, m = P / p, so
//! B(P) is the mean of the longest of m times, each drawn from those that were measured:
//! `B(P) = sum_i b_i ((i / n)^m - ((i - 1) / n)^m)` over n times in ascending order. The iterations
//! are those of the whole mesh: Jacobi's preconditioner needs as many on any number of ranks, and so
//! do two colours.

mod measure;

pub use measure::measure;

use crate::cluster::network::Network;

/// What one node does in a step; times are of the slowest rank that measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// Nodes.
    pub nodes: usize,
    /// Cells of all, and of this node.
    pub cells: usize,
    /// See `cells`.
    pub owned: usize,
    /// Work of a step without its iterations, s.
    pub rest_s: f64,
    /// Work of an iteration of the pressure solve, s: of the slowest node in each.
    pub iteration_s: f64,
    /// Of it the wait for the slowest.
    pub wait_s: f64,
    /// Iterations of a step.
    pub iterations: f64,
    /// Time of inner rows, behind which an iteration's exchange is hidden, s.
    pub window_s: f64,
    /// Bytes that an iteration sends.
    pub iteration_bytes: f64,
    /// Exchanges that they go in: one, or two of rows that have two colours.
    pub iteration_exchanges: usize,
    /// Further exchanges of a step, and their bytes.
    pub rest_exchanges: f64,
    /// See `rest_exchanges`.
    pub rest_bytes: f64,
    /// Sums over all ranks of a step beside one per iteration.
    pub rest_sums: f64,
    /// A step of the case itself, where as many ranks measured as there are nodes, s.
    pub run_s: Option<f64>,
}

/// A predicted step.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Prediction {
    /// Nodes.
    pub nodes: usize,
    /// Cells of a node.
    pub cells: usize,
    /// A step.
    pub step_s: f64,
    /// The same as it was measured, where these nodes are there and this is their network.
    pub measured_s: Option<f64>,
    /// Of it in kernels and between them, in waits for the slowest node, in exchanges that are not
    /// hidden, and in sums over all nodes.
    pub kernels_s: f64,
    /// See `kernels_s`.
    pub waits_s: f64,
    /// See `kernels_s`.
    pub exchange_s: f64,
    /// See `kernels_s`.
    pub sums_s: f64,
    /// Share of the iterations' exchanges that is hidden; `null` on one node.
    pub hidden_share: Option<f64>,
    /// Time of one node over that of these.
    pub speedup: f64,
    /// Speed-up per node.
    pub efficiency: f64,
}

impl Part {
    /// A step of `iterations` iterations over `network`, beside one of `alone_s` on one node.
    fn predict(&self, network: &Network, iterations: f64, alone_s: Option<f64>) -> Prediction {
        let waits_s = iterations * self.wait_s;
        let kernels_s = self.rest_s + iterations * self.iteration_s - waits_s;
        let exchanges = self.iteration_exchanges.max(1) as f64;
        let one_s = network.exchange_s(self.iteration_bytes / exchanges);
        let busy_s = network.busy_s(self.iteration_bytes / exchanges).min(one_s);
        let seen_s = busy_s + (one_s - busy_s - self.window_s).max(0.0);
        let (mut exchange_s, mut sums_s) = (0.0, 0.0);
        if self.nodes > 1 {
            exchange_s = self.rest_exchanges * network.latency_s
                + self.rest_bytes / network.bandwidth_bytes_s
                + iterations * exchanges * seen_s;
            sums_s = (iterations + self.rest_sums) * network.reduce_s(self.nodes);
        }
        let step_s = kernels_s + waits_s + exchange_s + sums_s;
        let speedup = alone_s.unwrap_or(step_s) / step_s;
        Prediction {
            nodes: self.nodes,
            cells: self.owned,
            step_s,
            measured_s: None,
            kernels_s,
            waits_s,
            exchange_s,
            sums_s,
            hidden_share: (self.nodes > 1).then(|| 1.0 - seen_s / one_s),
            speedup,
            efficiency: speedup / self.nodes as f64,
        }
    }
}

/// Predictions for all `parts`, the first of which is one node, by its iterations; beside what was
/// measured if this is the network it was measured on.
pub fn predict(parts: &[Part], network: &Network, is_this: bool) -> Vec<Prediction> {
    let Some(alone) = parts.first() else {
        return Vec::new();
    };
    let alone_s = alone.predict(network, alone.iterations, None).step_s;
    let each = parts.iter();
    each.map(|p| Prediction {
        measured_s: p.run_s.filter(|_| is_this),
        ..p.predict(network, alone.iterations, Some(alone_s))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_its_kernels_and_what_is_not_hidden() {
        let alone = Part {
            nodes: 1,
            owned: 1000,
            rest_s: 1e-3,
            iteration_s: 1e-4,
            iterations: 100.0,
            ..Part::default()
        };
        let four = Part {
            nodes: 4,
            owned: 250,
            rest_s: 0.25e-3,
            iteration_s: 0.25e-4,
            iterations: 7.0,
            window_s: 1e-5,
            iteration_bytes: 1e3,
            rest_exchanges: 4.0,
            rest_bytes: 8e3,
            rest_sums: 5.0,
            run_s: Some(1.0),
            ..Part::default()
        };
        // t(h) = 2 us + 1 us, all hidden; sums take 2 doublings.
        let quick = Network::plain(2e-6, 1e9);
        let all = predict(&[alone, four], &quick, false);
        assert!((all[0].step_s - 11e-3).abs() < 1e-15 && all[0].efficiency == 1.0);
        assert_eq!(
            (all[1].hidden_share, all[0].hidden_share),
            (Some(1.0), None)
        );
        let want = 0.25e-3 + 100.0 * 0.25e-4 + 4.0 * 2e-6 + 8e-6 + 105.0 * 4e-6;
        assert!((all[1].step_s - want).abs() < 1e-15, "{:?}", all[1]);
        assert!((all[1].efficiency - 11e-3 / want / 4.0).abs() < 1e-12);
        // t(h) = 50 us, of which 10 are hidden.
        let slow = Network::plain(40e-6, 1e8);
        let seen = predict(&[alone, four], &slow, true)[1];
        assert!((seen.hidden_share.expect("four nodes") - 0.2).abs() < 1e-12);
        assert_eq!((seen.measured_s, all[1].measured_s), (Some(1.0), None));
        let want = 4.0 * 40e-6 + 80e-6 + 100.0 * 40e-6;
        assert!((seen.exchange_s - want).abs() < 1e-12, "{seen:?}");
        // Two of 45 us, of which 10 are hidden each.
        let colours = Part {
            iteration_exchanges: 2,
            ..four
        };
        let seen = predict(&[alone, colours], &slow, true)[1];
        assert!((seen.hidden_share.expect("four nodes") - 10.0 / 45.0).abs() < 1e-12);
        let want = want + 100.0 * 30e-6;
        assert!((seen.exchange_s - want).abs() < 1e-12, "{seen:?}");
        // Of the quick one's 3 us the processor does 1 us itself, and waits 2 us for a slower node.
        let busy = Network {
            busy_s: 0.5e-6,
            busy_per_byte_s: 0.5e-9,
            ..quick
        };
        let waits = Part {
            iteration_s: four.iteration_s + 2e-6,
            wait_s: 2e-6,
            ..four
        };
        let third = predict(&[alone, waits], &busy, false)[1];
        assert!((third.step_s - all[1].step_s - 300e-6).abs() < 1e-12);
        assert!((third.waits_s - 200e-6).abs() < 1e-12);
        assert!((third.kernels_s - all[1].kernels_s).abs() < 1e-12);
    }
}
