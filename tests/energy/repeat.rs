//! Repeating short work until its energy is known, over a made clock and a made sensor.

use std::cell::Cell;

use couloir::Error;
use couloir::energy::{Energy, Gauge, Goal, repeat};

/// A counter that is updated every `interval_s`; the load draws `watts`, and it is read `looks`
/// times.
struct Made {
    now_s: Cell<f64>,
    looks: Cell<u32>,
    interval_s: f64,
    watts: f64,
    measured: bool,
}

impl Made {
    fn new(interval_s: f64, watts: f64) -> Self {
        Self {
            now_s: Cell::new(12.345_678),
            looks: Cell::new(0),
            interval_s,
            watts,
            measured: true,
        }
    }

    fn work(&self, seconds: f64) -> couloir::Result<()> {
        self.now_s.set(self.now_s.get() + seconds);
        Ok(())
    }

    fn counter_j(&self, t_s: f64) -> f64 {
        self.watts * (t_s / self.interval_s).floor() * self.interval_s
    }
}

impl Gauge for Made {
    fn now_s(&self) -> f64 {
        self.now_s.get()
    }

    fn interval(&self, t0_s: f64, t1_s: f64) -> Energy {
        self.looks.set(self.looks.get() + 1);
        let joules = self.counter_j(t1_s) - self.counter_j(t0_s);
        let uncertainty_j = Some(self.watts * self.interval_s).filter(|_| self.measured);
        Energy {
            joules: Some(joules),
            uncertainty_j,
        }
    }
}

#[test]
fn short_calls_are_repeated_until_two_percent_and_the_truth_is_within() {
    for (interval_s, call_s) in [
        (0.1, 13e-6),
        (0.1, 0.7e-3),
        (0.26, 2e-3),
        (1e-3, 5e-3),
        (0.1, 9.0),
    ] {
        let made = Made::new(interval_s, 7.5);
        let got = repeat(&made, &Goal::default(), || made.work(call_s)).unwrap();
        let (want, joules) = (7.5 * call_s, got.joules.expect("measured"));
        let fraction = got.uncertainty_fraction.expect("measured");
        println!(
            "{interval_s} {call_s}: {} calls, {} looks, {fraction:.4}",
            got.calls,
            made.looks.get()
        );
        assert!(fraction <= 0.02);
        assert!(
            (joules / want - 1.0).abs() <= fraction,
            "{joules} {want} {fraction}"
        );
        assert!((got.seconds / call_s - 1.0).abs() < 1e-6);
        // No more than twice what is needed, and few looks.
        let needed = (50.0 * interval_s / call_s).ceil();
        assert!(
            got.calls as f64 <= 2.0 * needed + 2.0,
            "{} {needed}",
            got.calls
        );
        assert!(made.looks.get() < 40, "{}", made.looks.get());
    }
}

#[test]
fn it_ends_at_the_limit_with_what_was_reached() {
    let made = Made::new(1.0, 7.5);
    let goal = Goal {
        seconds_max: 10.0,
        ..Goal::default()
    };
    let got = repeat(&made, &goal, || made.work(0.01)).unwrap();
    let fraction = got.uncertainty_fraction.expect("measured");
    assert!((0.05..0.2).contains(&fraction), "{fraction}");
    assert!((9.9..10.2).contains(&(got.calls as f64 * 0.01)));
}

#[test]
fn a_model_ends_it_and_a_failure_is_passed_on() {
    let mut made = Made::new(0.1, 7.5);
    made.measured = false;
    let got = repeat(&made, &Goal::default(), || made.work(0.5)).unwrap();
    assert_eq!((got.calls, got.uncertainty_fraction), (1, None));

    let mut calls = 0;
    let failed = repeat(&made, &Goal::default(), || {
        calls += 1;
        match calls {
            3 => Err(Error::failure("the device is gone", "plug it in")),
            _ => made.work(1e-9),
        }
    });
    assert!(failed.is_err() || calls == 2);
}
