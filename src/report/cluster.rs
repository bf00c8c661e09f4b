//! What several ranks tell together.

use serde::Serialize;

use super::table::seconds;

/// Smallest, mean and largest over ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Of one value per rank; zeros without values.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len();
        if n == 0 {
            return Self::default();
        }
        Self {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean: values.iter().sum::<f64>() / n as f64,
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The ranks of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterReport {
    /// Machines that they ran on.
    pub machines: usize,
    /// Whether exchanges were hidden behind inner rows.
    pub overlap: bool,
    /// Cells that a rank owns.
    pub owned_cells: Spread,
    /// Cells whose values it gets from others.
    pub halo_cells: Spread,
    /// Seconds of a step, mean of the run.
    pub step_s: Spread,
    /// Seconds of a step from the start of each halo exchange to its end, hidden or not.
    pub exchange_s: Spread,
    /// Seconds of a step in reductions over all ranks.
    pub reduce_s: Spread,
    /// Bytes that a rank sends in a step.
    pub sent_bytes: Spread,
    /// Bytes of memory that a rank holds after the start-up.
    pub resident_bytes: Spread,
    /// The most that it held, at the start-up for the most part.
    pub peak_bytes: Spread,
    /// Joules of a step by machine; `null` where any is not known.
    pub machine_joules: Option<Spread>,
}

impl ClusterReport {
    /// A line for the closing table.
    pub fn line(&self, ranks: usize) -> String {
        let times = |s: Spread| {
            let [a, b, c] = [s.min, s.mean, s.max].map(seconds);
            format!("{a} / {b} / {c}")
        };
        format!(
            "{ranks} ranks on {} machine(s), least / mean / most: step {}, exchanges {}, sums {}; \
             {:.0} / {:.0} / {:.0} cells owned, {:.0} / {:.0} / {:.0} in the halo",
            self.machines,
            times(self.step_s),
            times(self.exchange_s),
            times(self.reduce_s),
            self.owned_cells.min,
            self.owned_cells.mean,
            self.owned_cells.max,
            self.halo_cells.min,
            self.halo_cells.mean,
            self.halo_cells.max,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_least_mean_and_most() {
        let spread = Spread::of(&[3.0, 1.0, 5.0]);
        assert_eq!((spread.min, spread.mean, spread.max), (1.0, 3.0, 5.0));
        assert_eq!(Spread::of(&[]), Spread::default());
    }
}
