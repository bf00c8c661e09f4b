//! The tabu search on synthetic landscapes of 2000 points: 98 % of the optimum in 5 % of the
//! exhaustive evaluations, for every position of the optimum and every seed.

use couloir::split::tabu::{Params, Search};

const N: usize = 2000;
const SEEDS: u64 = 200;

/// Searches `cost` from `start`; returns points visited and optimum over found.
fn search(cost: &dyn Fn(f64) -> f64, start: f64, seed: u64) -> (usize, f64) {
    let start = (start * N as f64) as usize;
    let mut s = Search::new(Params {
        seed,
        ..Params::new(N, 1, start)
    });
    let at = |m: usize| cost(m as f64 / N as f64);
    while let Some(m) = s.propose() {
        s.observe(m, at(m));
    }
    let optimum = (0..=N).map(at).fold(f64::INFINITY, f64::min);
    let (_, found) = s.best().expect("points were visited");
    let mut cuts: Vec<usize> = s.visited().iter().map(|v| v.0).collect();
    cuts.sort_unstable();
    cuts.dedup();
    assert_eq!(cuts.len(), s.visited().len(), "a point was visited twice");
    assert!(cuts[0] == 0 && cuts[cuts.len() - 1] == N, "both ends");
    (s.visited().len(), optimum / found)
}

/// Runs a family of landscapes over seeds; asserts the gate on each and prints the worst.
fn gate(name: &str, family: impl Fn(&mut fastrand::Rng) -> Box<dyn Fn(f64) -> f64>) {
    let (mut most, mut worst) = (0, 1.0f64);
    let mut failed = Vec::new();
    for seed in 0..SEEDS {
        let mut rng = fastrand::Rng::with_seed(seed);
        let cost = family(&mut rng);
        let (points, quality) = search(&cost, rng.f64(), seed);
        most = most.max(points);
        worst = worst.min(quality);
        if quality < 0.98 {
            failed.push((seed, quality));
        }
    }
    println!("{name}: at most {most} points, at worst {worst:.4} of the optimum");
    assert!(most <= N / 20, "{name}: {most} points");
    assert!(failed.is_empty(), "{name}: {failed:?}");
}

/// Two sides that balance at `x`, the device with a launch overhead.
fn balanced(x: f64, launch: f64) -> impl Fn(f64) -> f64 {
    move |r| {
        let device = if r > 0.0 { launch + r / x } else { 0.0 };
        device.max((1.0 - r) / (1.0 - x))
    }
}

#[test]
fn convex() {
    gate("convex", |rng| {
        let (x, launch, fixed) = (0.01 + 0.98 * rng.f64(), 0.5 * rng.f64(), 0.1 * rng.f64());
        let cost = balanced(x, launch);
        Box::new(move |r| fixed + cost(r))
    });
}

#[test]
fn sides_that_slow_each_other() {
    gate("interference", |rng| {
        let (x, share) = (0.02 + 0.96 * rng.f64(), 0.5 * rng.f64());
        let cost = balanced(x, 0.05);
        Box::new(move |r| cost(r) + share * 4.0 * r * (1.0 - r))
    });
}

#[test]
fn two_valleys() {
    gate("two valleys", |rng| {
        let a = 0.05 + 0.35 * rng.f64();
        let b = 0.6 + 0.35 * rng.f64();
        let (depth_a, depth_b) = (1.0 + 0.5 * rng.f64(), 1.0 + 0.5 * rng.f64());
        let (slope_a, slope_b) = (2.0 + 3.0 * rng.f64(), 2.0 + 3.0 * rng.f64());
        Box::new(move |r: f64| {
            (depth_a + slope_a * (r - a).abs()).min(depth_b + slope_b * (r - b).abs())
        })
    });
}

#[test]
fn plateau() {
    gate("plateau", |rng| {
        let (x, floor) = (0.1 + 0.8 * rng.f64(), 1.0 + 0.3 * rng.f64());
        let ceiling = floor + 0.3 + rng.f64();
        let cost = balanced(x, 0.02);
        Box::new(move |r| cost(r).clamp(floor, ceiling))
    });
}

#[test]
fn staircase() {
    gate("staircase", |rng| {
        // The device works in waves of a thirtieth of the rows.
        let x = 0.1 + 0.8 * rng.f64();
        Box::new(move |r: f64| ((r * 30.0).ceil() / 30.0 / x).max((1.0 - r) / (1.0 - x)))
    });
}

#[test]
fn the_point_is_held_until_it_is_told_and_other_points_are_ignored() {
    let mut s = Search::new(Params::new(10, 3, 5));
    assert_eq!(s.propose(), Some(6));
    assert_eq!(s.propose(), Some(6));
    s.observe(9, 1.0);
    assert_eq!(s.propose(), Some(6));
    assert!(s.best().is_none());
    s.observe(6, f64::NAN);
    assert_eq!(s.best(), Some((6, f64::INFINITY)));
}

#[test]
fn a_range_that_is_no_multiple_of_the_grain_is_visited_to_its_end() {
    let mut s = Search::new(Params::new(10, 3, 0));
    while let Some(m) = s.propose() {
        assert!(m.is_multiple_of(3) || m == 10);
        s.observe(m, m as f64);
    }
    let mut cuts: Vec<usize> = s.visited().iter().map(|v| v.0).collect();
    cuts.sort_unstable();
    assert_eq!(cuts, [0, 3, 6, 9, 10]);
    assert_eq!(s.best(), Some((0, 0.0)));
}

#[test]
fn tiny_and_crossed_ranges_end() {
    for (lo, hi, grain) in [(0, 0, 1), (0, 1, 0), (7, 3, 2), (3, 3, 8)] {
        let mut s = Search::new(Params {
            lo,
            ..Params::new(hi, grain, 99)
        });
        let mut points = 0;
        while let Some(m) = s.propose() {
            assert!(m <= hi);
            s.observe(m, 1.0);
            points += 1;
        }
        assert_eq!(points, (hi - lo.min(hi)) / grain.max(1) + 1);
    }
}

#[test]
fn the_number_of_points_is_bounded_but_the_ends_are_visited() {
    let mut s = Search::new(Params {
        max_points: 1,
        ..Params::new(N, 1, 700)
    });
    while let Some(m) = s.propose() {
        s.observe(m, 1.0);
    }
    let cuts: Vec<usize> = s.visited().iter().map(|v| v.0).collect();
    assert_eq!(cuts, [700, 0, N]);
}
