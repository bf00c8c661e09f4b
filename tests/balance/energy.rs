//! Energy and energy-delay product as objectives, on a made node whose sides have different
//! powers and whose sensor is far slower than a call.

use std::cell::Cell;

use couloir::energy::{Energy, Gauge, Goal, Powers};
use couloir::split::tuner::{Call, Objective, Params, Tuner};

const ROWS: usize = 2000 * 256;
const GRAIN: usize = 256;

/// Two sides and what the node draws; a clock that only its work moves.
struct Node {
    /// Seconds for all rows.
    host_s: f64,
    device_s: f64,
    launch_s: f64,
    powers: Powers,
    noise: f64,
    rng: fastrand::Rng,
}

/// A call as it was.
struct Done {
    seconds: f64,
    host_s: f64,
    joules: f64,
}

impl Node {
    fn random(seed: u64, noise: f64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (base_w, host_w, device_w) = (
            1.0 + 4.0 * rng.f64(),
            1.0 + 15.0 * rng.f64(),
            1.0 + 15.0 * rng.f64(),
        );
        Self {
            host_s: 1e-3 * 6f64.powf(rng.f64() - 0.5),
            device_s: 1e-3 * 6f64.powf(rng.f64() - 0.5),
            launch_s: 2e-5 * rng.f64(),
            powers: Powers {
                host_w: base_w + host_w,
                // The waiting CPU spins at half its power.
                device_w: base_w + device_w + 0.5 * host_w,
                both_w: base_w + device_w + host_w,
            },
            noise,
            rng,
        }
    }

    /// The call without noise.
    fn truth(&self, cut: usize) -> Done {
        let r = cut as f64 / ROWS as f64;
        let device_s = match cut {
            0 => 0.0,
            _ => self.launch_s + self.device_s * r,
        };
        let host_s = self.host_s * (1.0 - r);
        let seconds = device_s.max(host_s);
        Done {
            seconds,
            host_s,
            joules: self.powers.joules(seconds, host_s, device_s),
        }
    }

    fn cost(&self, objective: Objective, cut: usize) -> f64 {
        let done = self.truth(cut);
        match objective {
            Objective::Time => done.seconds,
            Objective::Energy(_) => done.joules,
            Objective::Edp(_) => done.joules * done.seconds,
        }
    }

    fn best(&self, objective: Objective) -> (usize, f64) {
        let cuts = (0..=ROWS).step_by(GRAIN);
        let all = cuts.map(|m| (m, self.cost(objective, m)));
        all.reduce(|a, b| if b.1 < a.1 { b } else { a })
            .expect("cuts")
    }

    /// What the tuner settles on: the cost at its cut.
    fn tuned(&mut self, objective: Objective, start: f64, seed: u64) -> (usize, f64) {
        let params = Params {
            objective,
            seed,
            ..Params::default()
        };
        let mut tuner = Tuner::new(ROWS, GRAIN, start, params);
        for _ in 0..5000 {
            if !tuner.tuning() {
                break;
            }
            let done = self.truth(tuner.cut());
            let mut noisy = |x: f64| {
                let normal = (0..12).map(|_| self.rng.f64()).sum::<f64>() - 6.0;
                x * (1.0 + self.noise * normal).max(0.5)
            };
            // Noise of the machine hits both sides of a call alike.
            let factor = noisy(1.0);
            let call = Call {
                seconds_s: done.seconds * factor,
            };
            tuner.record_sides(call, done.host_s * factor);
        }
        assert!(!tuner.tuning(), "the tuning does not end");
        let cut = (tuner.ratio() * ROWS as f64).round() as usize;
        (cut, self.cost(objective, cut))
    }
}

/// A counter that is updated every `interval_s`, beside a clock.
struct Sensor {
    now_s: Cell<f64>,
    drawn_j: Cell<f64>,
    /// The counter's value at its last update, by the time of the reading.
    shown: Cell<(f64, f64)>,
    first: Cell<Option<f64>>,
    interval_s: f64,
}

impl Sensor {
    fn new(interval_s: f64) -> Self {
        Self {
            now_s: Cell::new(0.0),
            drawn_j: Cell::new(0.0),
            shown: Cell::new((0.0, 0.0)),
            first: Cell::new(None),
            interval_s,
        }
    }

    fn pass(&self, seconds: f64, joules: f64) {
        self.now_s.set(self.now_s.get() + seconds);
        self.drawn_j.set(self.drawn_j.get() + joules);
        if self.now_s.get() - self.shown.get().0 >= self.interval_s {
            self.shown.set((self.now_s.get(), self.drawn_j.get()));
        }
    }
}

impl Gauge for Sensor {
    fn now_s(&self) -> f64 {
        // Asked for at the start of a measurement: what the counter shows then.
        self.first
            .set(self.first.get().or(Some(self.shown.get().1)));
        self.now_s.get()
    }

    fn interval(&self, t0_s: f64, t1_s: f64) -> Energy {
        let joules = self.shown.get().1 - self.first.get().unwrap_or(0.0);
        let watts = joules / (t1_s - t0_s);
        Energy {
            joules: Some(joules),
            uncertainty_j: Some(watts * self.interval_s),
        }
    }
}

#[test]
fn the_sides_powers_are_measured_by_a_sensor_that_is_slower_than_a_call() {
    for (seed, interval_s) in [(1, 1e-3), (2, 0.1), (3, 0.264)] {
        let node = Node::random(seed, 0.0);
        let sensor = Sensor::new(interval_s);
        let balance = node.host_s / (node.host_s + node.device_s);
        let goal = Goal::default();
        let mut last = -1.0;
        let (powers, doubt) = Powers::measure(&sensor, &goal, balance, |ratio| {
            if ratio != last {
                sensor.first.set(None);
                last = ratio;
            }
            let done = node.truth((ratio * ROWS as f64 / 256.0).round() as usize * 256);
            sensor.pass(done.seconds, done.joules);
            Ok(())
        })
        .expect("a working meter");
        assert!(doubt <= 0.02, "{doubt}");
        for (got, want) in [
            (powers.host_w, node.powers.host_w),
            (powers.device_w, node.powers.device_w),
            (powers.both_w, node.powers.both_w),
        ] {
            assert!((got / want - 1.0).abs() < 0.03, "{got} W, not {want}");
        }
    }
}

#[test]
fn the_split_found_is_the_optimum_of_each_objective() {
    // Powers that are 2 % off each way make two states 4 % apart look alike.
    for (noise, off, bound) in [(0.0, 0.0, 0.98), (0.02, 0.0, 0.96), (0.02, 0.02, 0.94)] {
        let (mut worst, mut below) = (1.0f64, 0);
        for seed in 0..100 {
            let mut node = Node::random(seed, noise);
            let start = fastrand::Rng::with_seed(seed).f64();
            let seen = Powers {
                host_w: (1.0 + off) * node.powers.host_w,
                device_w: (1.0 - off) * node.powers.device_w,
                both_w: node.powers.both_w,
            };
            for objective in [
                Objective::Time,
                Objective::Energy(seen),
                Objective::Edp(seen),
            ] {
                let (_, found) = node.tuned(objective, start, seed);
                let quality = node.best(objective).1 / found;
                worst = worst.min(quality);
                below += usize::from(quality < 0.98);
            }
        }
        println!("noise {noise}, off {off}: worst {worst:.4}, {below} of 300 below 0.98");
        assert!(worst >= bound, "noise {noise}, off {off}: {worst}");
        assert!(below <= 6, "noise {noise}, off {off}: {below}");
    }
}

#[test]
fn each_objective_has_its_own_optimum() {
    // A fast and hungry CPU beside a frugal device of half its speed: together they are fastest,
    // the device alone takes least energy, and the product is least in between or at an end.
    let powers = Powers {
        host_w: 22.0,
        device_w: 5.0,
        both_w: 25.0,
    };
    let mut node = Node {
        host_s: 1.0e-3,
        device_s: 2.0e-3,
        launch_s: 0.0,
        powers,
        noise: 0.0,
        rng: fastrand::Rng::with_seed(1),
    };
    let (time, _) = node.tuned(Objective::Time, 0.5, 1);
    let (energy, _) = node.tuned(Objective::Energy(powers), 0.5, 1);
    let (edp, _) = node.tuned(Objective::Edp(powers), 0.5, 1);
    assert!(
        (time as f64 / ROWS as f64 - 1.0 / 3.0).abs() < 0.01,
        "{time}"
    );
    assert_eq!(energy, ROWS);
    assert_eq!(node.best(Objective::Energy(powers)).0, ROWS);
    let best = node.best(Objective::Edp(powers));
    assert!(
        node.cost(Objective::Edp(powers), edp) <= best.1 / 0.98,
        "{edp} {best:?}"
    );
}

#[test]
fn a_call_takes_what_its_states_take() {
    let powers = Powers {
        host_w: 10.0,
        device_w: 4.0,
        both_w: 12.0,
    };
    // Both for 1 s, the device for another, and half a second of overhead.
    assert_eq!(powers.joules(2.5, 1.0, 2.0), 12.0 + 4.0 + 5.0);
    // Both for 1 s, the host for another.
    assert_eq!(powers.joules(2.0, 2.0, 1.0), 12.0 + 10.0);
    assert_eq!(powers.joules(3.0, 3.0, 0.0), 30.0);
    assert_eq!(powers.joules(3.0, 0.0, 3.0), 12.0);
    // No time is counted twice, whatever the sides say.
    assert_eq!(powers.joules(1.0, 9.0, 9.0), 12.0);
}
