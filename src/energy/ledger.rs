//! Attribution of energy to steps and kernels.

use std::collections::VecDeque;

use super::{Resolved, Supply};

/// Steps closer to each other than this share their ends: what is too early in one is too late
/// in the other.
const JOINED_S: f64 = 0.01;

/// A finished step whose energy the samples do not reach yet.
struct Pending {
    start_s: f64,
    end_s: f64,
    busy_s: Vec<f64>,
}

/// Time and energy of one kernel, summed over all steps.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelEnergy {
    /// Name as given to [`Ledger::new`]; `other` for what no kernel claims.
    pub name: String,
    /// Seconds busy.
    pub time_s: f64,
    /// Joules; `None` if any step's energy is unknown.
    pub joules: Option<f64>,
    /// Mean power while busy.
    pub watts_mean: Option<f64>,
    /// Joules per step.
    pub joules_per_step: Option<f64>,
    /// Energy-delay product per step: joules per step times the kernel's seconds per step.
    pub edp_js: Option<f64>,
}

/// Energy of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Number of finished steps.
    pub steps: usize,
    /// Steps whose energy is unknown; above zero, all sums are `None`.
    pub steps_unknown: usize,
    /// Joules of the steps whose energy is known: a lower bound for the run.
    pub joules_known: f64,
    /// Half-width of the error of all steps' joules: of each stretch of steps that follow on
    /// each other as the supply says, and stretches added as independent, in quadrature.
    pub uncertainty_j: Option<f64>,
    /// All steps together.
    pub all: KernelEnergy,
    /// Per kernel, in the order of [`Ledger::new`], then `other`.
    pub kernels: Vec<KernelEnergy>,
}

/// Books the seconds that each kernel was busy, and shares out each step's joules:
///
/// `J_k = J_step t_k / t_step`; what no kernel claims is `other`. Should clock jitter make
/// the kernels' sum exceed the step, their sum takes the step's place, so that nothing is
/// shared out twice.
///
/// Booking a call is one addition. The energy of a step is asked for at its end but may
/// come later (a sensor is slower than a step); it is then shared out with a later step.
pub struct Ledger {
    names: Vec<String>,
    start_s: Option<f64>,
    busy_s: Vec<f64>,
    pending: VecDeque<Pending>,
    /// Vectors of finished steps, for reuse.
    spare: Vec<Vec<f64>>,
    /// Beginning and end of steps that follow on each other.
    stretches: Vec<(f64, f64)>,
    kernel_s: Vec<f64>,
    kernel_j: Vec<f64>,
    other_j: f64,
    total_s: f64,
    total_j: f64,
    steps: usize,
    steps_unknown: usize,
}

impl Ledger {
    /// A ledger for kernels 0, 1, ... with these names.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let zeros = vec![0.0; names.len()];
        Self {
            names,
            start_s: None,
            busy_s: zeros.clone(),
            pending: VecDeque::new(),
            spare: Vec::new(),
            stretches: Vec::new(),
            kernel_s: zeros.clone(),
            kernel_j: zeros,
            other_j: 0.0,
            total_s: 0.0,
            total_j: 0.0,
            steps: 0,
            steps_unknown: 0,
        }
    }

    /// A step begins at `t_s` on the source's clock.
    pub fn begin_step(&mut self, t_s: f64) {
        self.start_s = Some(t_s);
        self.busy_s.fill(0.0);
    }

    /// Kernel number `kernel` was busy for `seconds` of the present step. A number that the
    /// ledger does not know counts as `other`.
    #[inline]
    pub fn add(&mut self, kernel: usize, seconds: f64) {
        if let Some(busy_s) = self.busy_s.get_mut(kernel) {
            *busy_s += seconds;
        }
    }

    /// The step ends at `t_s`. Returns its joules for the log line; while the sensor lags
    /// behind, its seconds times the present power. Without a `begin_step` nothing is
    /// booked.
    pub fn end_step(&mut self, t_s: f64, supply: &impl Supply) -> Option<f64> {
        let start_s = self.start_s.take()?;
        match self.stretches.last_mut() {
            Some((_, end_s)) if start_s - *end_s < JOINED_S => *end_s = t_s,
            _ => self.stretches.push((start_s, t_s)),
        }
        let mut busy_s = self.spare.pop().unwrap_or_default();
        busy_s.clear();
        busy_s.extend_from_slice(&self.busy_s);
        self.pending.push_back(Pending {
            start_s,
            end_s: t_s,
            busy_s,
        });
        let resolved = supply.resolve(start_s, t_s);
        self.settle(|t0, t1| supply.resolve(t0, t1));
        match resolved {
            Resolved::Known(joules) => joules,
            Resolved::Pending => supply.power_now().map(|w| w * (t_s - start_s)),
        }
    }

    /// Sums over all finished steps; reads the meters if a step still waits for them.
    pub fn totals(&mut self, supply: &impl Supply) -> Totals {
        self.settle(|t0, t1| Resolved::Known(supply.energy_between(t0, t1)));
        let known = self.steps > 0 && self.steps_unknown == 0;
        let steps = self.steps.max(1) as f64;
        let entry = |name: &str, time_s: f64, joules: f64| {
            let joules = known.then_some(joules);
            KernelEnergy {
                name: name.to_string(),
                time_s,
                joules,
                watts_mean: joules.filter(|_| time_s > 0.0).map(|j| j / time_s),
                joules_per_step: joules.map(|j| j / steps),
                edp_js: joules.map(|j| (j / steps) * (time_s / steps)),
            }
        };
        let mut kernels: Vec<KernelEnergy> = (self.names.iter())
            .zip(self.kernel_s.iter().zip(&self.kernel_j))
            .map(|(name, (&time_s, &joules))| entry(name, time_s, joules))
            .collect();
        let other_s = (self.total_s - self.kernel_s.iter().sum::<f64>()).max(0.0);
        kernels.push(entry("other", other_s, self.other_j));
        let each_j = (self.stretches.iter()).map(|&(t0, t1)| supply.uncertainty_j(t0, t1));
        let variance: Option<f64> = each_j.map(|u| u.map(|u| u * u)).sum();
        Totals {
            uncertainty_j: variance.filter(|_| known).map(f64::sqrt),
            steps: self.steps,
            steps_unknown: self.steps_unknown,
            joules_known: self.total_j,
            all: entry("all", self.total_s, self.total_j),
            kernels,
        }
    }

    /// Shares out the waiting steps in order, up to the first that is still pending.
    fn settle(&mut self, resolve: impl Fn(f64, f64) -> Resolved) {
        while let Some(step) = self.pending.front() {
            let Resolved::Known(joules) = resolve(step.start_s, step.end_s) else {
                return;
            };
            let Some(step) = self.pending.pop_front() else {
                return;
            };
            self.book(&step, joules);
            self.spare.push(step.busy_s);
        }
    }

    fn book(&mut self, step: &Pending, joules: Option<f64>) {
        let seconds = step.end_s - step.start_s;
        let claimed_s: f64 = step.busy_s.iter().sum();
        let shared_s = seconds.max(claimed_s).max(f64::MIN_POSITIVE);
        self.steps += 1;
        self.total_s += seconds;
        for (sum, busy_s) in self.kernel_s.iter_mut().zip(&step.busy_s) {
            *sum += busy_s;
        }
        let Some(joules) = joules else {
            self.steps_unknown += 1;
            return;
        };
        self.total_j += joules;
        self.other_j += joules * (1.0 - claimed_s / shared_s);
        for (sum, busy_s) in self.kernel_j.iter_mut().zip(&step.busy_s) {
            *sum += joules * busy_s / shared_s;
        }
    }
}
