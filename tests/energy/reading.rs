//! Energy without files, threads or clocks: counters, traces and recorder.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use couloir::energy::{
    self, Choice, Counter, Meter, RAIL_WATTS_MAX, Rail, RailKind, Recorder, Resolved, Scope,
    Source, Trace,
};

const FREE: RailKind = RailKind::Energy { wraps_at_uj: None };

fn wrapping(range_uj: u64) -> RailKind {
    RailKind::Energy {
        wraps_at_uj: Some(range_uj),
    }
}

fn close(got: Option<f64>, want: f64) {
    let got = got.expect("a known energy");
    assert!(
        (got - want).abs() <= 1e-9 * want.abs().max(1.0),
        "{got} != {want}"
    );
}

#[test]
fn counter_adds_over_a_wrap() {
    let mut c = Counter::new(wrapping(262_143_328_850));
    c.advance(0.0, 262_143_000_000).unwrap();
    c.advance(0.1, 671_150).unwrap();
    close(Some(c.joules()), 1.0);
    c.advance(0.2, 10_671_150).unwrap();
    close(Some(c.joules()), 11.0);
}

#[test]
fn counter_refuses_a_pause_that_could_hide_several_wraps() {
    let range_uj = 262_143_328_850;
    let bound_s = 1e-6 * range_uj as f64 / RAIL_WATTS_MAX;
    let mut c = Counter::new(wrapping(range_uj));
    c.advance(0.0, 0).unwrap();
    c.advance(0.99 * bound_s, 5_000_000).unwrap();
    let gap = c.advance(2.1 * bound_s, 9_000_000).unwrap_err();
    assert!(
        gap.0.contains("may wrap more than once in 52 s"),
        "{}",
        gap.0
    );
    c.advance(2.1 * bound_s + 0.1, 10_000_000).unwrap();
    close(Some(c.joules()), 6.0);
}

#[test]
fn counter_tells_a_reset_from_a_wrap() {
    let mut c = Counter::new(wrapping(262_143_328_850));
    c.advance(0.0, 100_000_000_000).unwrap();
    let gap = c.advance(0.1, 5).unwrap_err();
    assert!(gap.0.contains("jumped by 162143 J in 0.100 s"), "{}", gap.0);

    let mut c = Counter::new(FREE);
    c.advance(0.0, 100).unwrap();
    assert!(c.advance(0.1, 5).unwrap_err().0.contains("went backwards"));
    assert!(c.advance(0.2, -5).unwrap_err().0.contains("negative"));
    assert_eq!(c.joules(), 0.0);
}

#[test]
fn counter_above_its_own_range_is_no_wrap() {
    let mut c = Counter::new(wrapping(1000));
    c.advance(0.0, 2000).unwrap();
    assert!(
        c.advance(0.001, 5)
            .unwrap_err()
            .0
            .contains("went backwards")
    );
}

#[test]
fn power_is_integrated_by_trapezoids() {
    let mut c = Counter::new(RailKind::Power);
    // P = 3 W + 2 W/s t, exact for the rule.
    for i in 0..=10 {
        let t = 0.1 * f64::from(i * i);
        c.advance(t, (3e6 + 2e6 * t).round() as i64).unwrap();
    }
    close(Some(c.joules()), 3.0 * 10.0 + 10.0 * 10.0);
}

#[test]
fn integer_counting_keeps_micro_joules_in_long_runs() {
    let mut c = Counter::new(FREE);
    let start = 7_000_000_000_000;
    for i in 0..=1_000_000_i64 {
        c.advance(0.001 * i as f64, start + 3 * i).unwrap();
    }
    assert_eq!(c.joules(), 3.0);
}

#[test]
fn trace_interpolates_and_knows_its_ends() {
    let mut t = Trace::new(100);
    for i in 0..=10 {
        t.push(f64::from(i), 5.0 * f64::from(i * i));
    }
    close(t.energy_between(2.0, 3.0), 25.0);
    close(t.energy_between(2.5, 2.75), 0.25 * 25.0);
    close(t.energy_between(1.5, 3.5), 7.5 + 25.0 + 17.5);
    close(t.energy_between(0.0, 10.0), 500.0);
    close(t.energy_between(4.0, 4.0), 0.0);
    assert_eq!(t.energy_between(-0.1, 1.0), None);
    assert_eq!(t.energy_between(9.0, 10.1), None);
    assert_eq!(t.energy_between(3.0, 2.0), None);
    close(t.power_w(1.0), 95.0);
    close(t.power_w(2.0), 90.0);
    close(t.power_w(1e9), 50.0);
}

#[test]
fn a_long_trace_is_bounded_and_keeps_its_sums() {
    let mut t = Trace::new(64);
    for i in 0..1_000 {
        t.push(f64::from(i), 5.0 * f64::from(i));
        if i == 30 {
            t.mark_gap();
        }
    }
    // The gap has grown over its neighbours, which were thinned out, but not that far.
    close(t.energy_between(900.0, 999.0), 5.0 * 99.0);
    close(t.energy_between(990.5, 991.25), 5.0 * 0.75);
    assert_eq!(t.energy_between(0.0, 999.0), None, "the gap is kept");
}

#[test]
fn a_trace_knows_the_distance_to_its_samples_and_their_spread() {
    let mut t = Trace::new(100);
    assert_eq!(t.distance_s(0.0), None);
    for (at, joules) in [(0.0, 0.0), (1.0, 2.0), (2.0, 8.0), (3.0, 10.0), (4.0, 16.0)] {
        t.push(at, joules);
    }
    close(t.distance_s(1.25), 0.25);
    close(t.distance_s(1.75), 0.25);
    close(t.distance_s(4.0), 0.0);
    close(t.distance_s(6.0), 2.0);
    let (n, apart_s, sigma_w) = t.spread(0.0, 4.0).expect("four intervals");
    assert_eq!((n, apart_s), (4.0, 1.0));
    close(Some(sigma_w), (16.0f64 / 3.0).sqrt());
    assert_eq!(t.spread(0.5, 1.5), None);
}

#[test]
fn trace_gives_nothing_across_a_gap() {
    let mut t = Trace::new(100);
    for (at, joules) in [(0.0, 0.0), (1.0, 10.0)] {
        t.push(at, joules);
    }
    t.mark_gap();
    t.push(5.0, 10.0);
    t.push(6.0, 20.0);
    close(t.energy_between(0.0, 1.0), 10.0);
    close(t.energy_between(5.0, 6.0), 10.0);
    for (t0, t1) in [(0.5, 5.5), (1.0, 5.0), (2.0, 3.0), (0.5, 1.1), (4.9, 5.1)] {
        assert_eq!(t.energy_between(t0, t1), None, "{t0} to {t1}");
    }
    close(t.power_w(100.0), 10.0);
}

/// Rails whose readings a test sets; `None` fails.
struct Synthetic {
    rails: Vec<Rail>,
    readings: Vec<fn(f64) -> Option<i64>>,
    at: Arc<Mutex<f64>>,
}

impl Meter for Synthetic {
    fn name(&self) -> &str {
        "synthetic"
    }
    fn rails(&self) -> &[Rail] {
        &self.rails
    }
    fn read(&mut self, rail: usize) -> io::Result<i64> {
        let t = *self.at.lock().unwrap();
        self.readings[rail](t).ok_or_else(|| io::Error::other("unplugged"))
    }
    fn remedy(&self) -> &str {
        "plug it in"
    }
}

fn recorder(readings: Vec<fn(f64) -> Option<i64>>, kind: RailKind) -> (Recorder, impl Fn(f64)) {
    let at = Arc::new(Mutex::new(0.0));
    let rails = (0..readings.len()).map(|i| Rail {
        name: format!("rail {i}"),
        contained_in: None,
        kind,
        scope: Scope::Part,
        resolution_micro: 1000,
        update_interval_s: Some(0.01),
    });
    let choice = Choice {
        rails: (0..readings.len()).map(|i| (0, i)).collect(),
        ..Choice::default()
    };
    let meter = Synthetic {
        rails: rails.collect(),
        readings,
        at: at.clone(),
    };
    let recorder = Recorder::new(vec![Box::new(meter)], &choice);
    (recorder, move |t| *at.lock().unwrap() = t)
}

#[test]
fn recorder_adds_rails_and_waits_for_samples() {
    let (mut r, set) = recorder(
        vec![|t| Some((4e6 * t) as i64), |t| Some((6e6 * t) as i64)],
        FREE,
    );
    for i in 0..=10 {
        let t = 0.1 * f64::from(i);
        set(t);
        r.sample(|| t);
    }
    let Resolved::Known(joules) = r.resolve(0.25, 0.75) else {
        panic!("samples reach to 1 s")
    };
    close(joules, 5.0);
    assert_eq!(r.resolve(0.5, 1.01), Resolved::Pending);
    close(r.power_w(0.5), 10.0);
    // Per rail: 10 ms at its power, and two steps of 1 mJ.
    close(r.uncertainty_j(0.0, 1.0, 0.1), 0.04 + 0.06 + 2.0 * 0.002);
}

#[test]
fn lost_rail_makes_energy_unknown_from_there_on() {
    let (mut r, set) = recorder(
        vec![|t| (t < 0.55).then_some((4e6 * t) as i64), |t| {
            Some((6e6 * t) as i64)
        }],
        FREE,
    );
    for i in 0..=10 {
        let t = 0.1 * f64::from(i);
        set(t);
        r.sample(|| t);
    }
    let Resolved::Known(joules) = r.resolve(0.0, 0.5) else {
        panic!("before the loss")
    };
    close(joules, 5.0);
    assert_eq!(r.resolve(0.4, 0.6), Resolved::Known(None));
    assert_eq!(r.resolve(0.8, 0.9), Resolved::Known(None));
    assert_eq!(r.power_w(0.5), None);
    assert!(r.is_alive());
    let messages = r.take_messages();
    assert_eq!(messages.len(), 1);
    for part in [
        "synthetic rail 0 stopped delivering at 0.5 s",
        "unplugged",
        "plug it in",
    ] {
        assert!(messages[0].contains(part), "{}", messages[0]);
    }
}

#[test]
fn one_failed_reading_is_bridged() {
    let (mut r, set) = recorder(
        vec![|t| ((t - 0.5).abs() > 0.01).then_some((4e6 * t) as i64)],
        FREE,
    );
    for i in 0..=10 {
        let t = 0.1 * f64::from(i);
        set(t);
        r.sample(|| t);
    }
    let Resolved::Known(joules) = r.resolve(0.0, 1.0) else {
        panic!("samples reach to 1 s")
    };
    close(joules, 4.0);
    assert!(r.take_messages().is_empty());
}

/// A meter that takes 10 ms to read.
struct Slow([Rail; 1]);

impl Meter for Slow {
    fn name(&self) -> &str {
        "slow"
    }
    fn rails(&self) -> &[Rail] {
        &self.0
    }
    fn read(&mut self, _rail: usize) -> io::Result<i64> {
        std::thread::sleep(Duration::from_millis(10));
        Ok(1)
    }
    fn remedy(&self) -> &str {
        "wait"
    }
}

#[test]
fn slow_meters_are_read_less_often() {
    let rail = Rail {
        name: "rail".into(),
        contained_in: None,
        kind: RailKind::Power,
        scope: Scope::Board,
        resolution_micro: 1,
        update_interval_s: None,
    };
    let mut meters: Vec<Box<dyn Meter>> = vec![Box::new(Slow([rail]))];
    let choice = energy::choose(&mut meters);
    let source = Source::start(meters, &choice, 0.02);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(
        source.cost().samples,
        1,
        "the first; the next is due after 1 s"
    );
}
