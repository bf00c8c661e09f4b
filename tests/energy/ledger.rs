//! Attribution of joules to steps and kernels, on a synthetic supply.

use std::time::Instant;

use couloir::energy::{Ledger, Resolved, Supply};

fn close(got: Option<f64>, want: f64) {
    let got = got.expect("a known energy");
    assert!(
        (got - want).abs() <= 1e-9 * want.abs().max(1.0),
        "{got} != {want}"
    );
}

/// A supply of constant power whose samples reach to `reach`.
struct Constant {
    watts: Option<f64>,
    reach: f64,
}

impl Supply for Constant {
    fn resolve(&self, t0: f64, t1: f64) -> Resolved {
        match t1 <= self.reach {
            true => Resolved::Known(self.watts.map(|w| w * (t1 - t0))),
            false => Resolved::Pending,
        }
    }
    fn energy_between(&self, t0: f64, t1: f64) -> Option<f64> {
        self.watts.map(|w| w * (t1 - t0))
    }
    fn power_now(&self) -> Option<f64> {
        self.watts
    }
}

#[test]
fn ledger_shares_out_all_joules_late_or_not() {
    for reach in [f64::INFINITY, 5.0, 0.0] {
        let supply = Constant {
            watts: Some(20.0),
            reach,
        };
        let mut ledger = Ledger::new(["spmv", "axpy"]);
        for step in 0..10 {
            // A second of output between the steps belongs to none of them.
            let t = 3.0 * f64::from(step);
            ledger.begin_step(t);
            for _ in 0..3 {
                ledger.add(0, 0.4);
            }
            ledger.add(1, 0.3);
            ledger.add(77, 5.0);
            close(ledger.end_step(t + 2.0, &supply), 40.0);
        }
        let totals = ledger.totals(&supply);
        assert_eq!((totals.steps, totals.steps_unknown), (10, 0));
        close(totals.all.joules, 400.0);
        close(totals.all.joules_per_step, 40.0);
        close(totals.all.watts_mean, 20.0);
        close(totals.all.edp_js, 80.0);
        let joules: Vec<f64> = totals.kernels.iter().map(|k| k.joules.unwrap()).collect();
        close(Some(joules[0]), 240.0);
        close(Some(joules[1]), 60.0);
        close(Some(joules[2]), 100.0);
        assert_eq!(totals.kernels[2].name, "other");
        close(Some(totals.kernels[2].time_s), 5.0);
        close(totals.kernels[0].edp_js, 24.0 * 1.2);
        assert_eq!(
            ledger.totals(&supply),
            totals,
            "asking twice changes nothing"
        );
    }
}

#[test]
fn ledger_never_shares_out_more_than_the_step() {
    let supply = Constant {
        watts: Some(10.0),
        reach: f64::INFINITY,
    };
    let mut ledger = Ledger::new(["spmv"]);
    ledger.begin_step(0.0);
    ledger.add(0, 1.25);
    ledger.end_step(1.0, &supply);
    let totals = ledger.totals(&supply);
    close(totals.kernels[0].joules, 10.0);
    close(totals.kernels[1].joules, 0.0);
}

#[test]
fn ledger_without_energy_says_so() {
    let supply = Constant {
        watts: None,
        reach: f64::INFINITY,
    };
    let mut ledger = Ledger::new(["spmv"]);
    assert_eq!(ledger.totals(&supply).all.joules, None, "no step yet");
    assert_eq!(ledger.end_step(1.0, &supply), None, "no step begun");
    ledger.begin_step(0.0);
    ledger.add(0, 0.5);
    assert_eq!(ledger.end_step(1.0, &supply), None);
    let totals = ledger.totals(&supply);
    assert_eq!((totals.steps, totals.steps_unknown), (1, 1));
    assert_eq!(totals.all.joules, None);
    assert_eq!(totals.kernels[0].joules, None);
    assert_eq!(totals.kernels[0].time_s, 0.5);
}

#[test]
fn booking_a_call_takes_less_than_a_microsecond() {
    let mut ledger = Ledger::new((0..12).map(|k| format!("kernel {k}")));
    ledger.begin_step(0.0);
    let calls = 1_000_000;
    let start = Instant::now();
    for call in 0..calls {
        ledger.add(std::hint::black_box(call % 12), 1e-6);
    }
    let per_call_ns = start.elapsed().as_nanos() as f64 / calls as f64;
    assert!(per_call_ns < 1000.0, "{per_call_ns} ns per call");
}

/// Constant power with a sensor whose interval is `interval_s`.
struct Sensor {
    watts: f64,
    interval_s: f64,
}

impl Supply for Sensor {
    fn resolve(&self, t0: f64, t1: f64) -> Resolved {
        Resolved::Known(Some(self.watts * (t1 - t0)))
    }
    fn energy_between(&self, t0: f64, t1: f64) -> Option<f64> {
        Some(self.watts * (t1 - t0))
    }
    fn uncertainty_j(&self, t0: f64, t1: f64) -> Option<f64> {
        Some(self.watts * self.interval_s.min(t1 - t0))
    }
    fn power_now(&self) -> Option<f64> {
        Some(self.watts)
    }
}

#[test]
fn steps_in_a_row_share_their_ends_and_stretches_add_in_quadrature() {
    let supply = Sensor {
        watts: 10.0,
        interval_s: 0.1,
    };
    for (pause_s, want) in [(0.0, 1.0), (1e-3, 1.0), (0.5, 4.0)] {
        let mut ledger = Ledger::new(["spmv"]);
        let mut t = 0.0;
        for _ in 0..16 {
            ledger.begin_step(t);
            ledger.end_step(t + 0.5, &supply);
            t += 0.5 + pause_s;
        }
        close(ledger.totals(&supply).uncertainty_j, want);
    }
}
