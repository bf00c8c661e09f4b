//! Searches end, where they should, and no search is waited for that does not go on.

use super::*;
use crate::kernel::dot;
use crate::node::{Config, DeviceChoice};
use crate::split::Operands;

/// A step on a node whose device has memory of its own: sides that take `host_s` and
/// `device_s` for all rows, and copies where both work.
fn step_s(part: usize, [host_s, device_s, copies_s]: [f64; 3]) -> f64 {
    let r = part as f64 / JOINT_PARTS as f64;
    let both = part > 0 && part < JOINT_PARTS;
    (host_s * (1.0 - r)).max(device_s * r) + if both { copies_s } else { 0.0 }
}

/// Settles; the ratio, the steps that it took, and the time above that of the best cut.
fn settle(node: [f64; 3], noise: f64) -> (f64, usize, f64) {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut tuner = joint(Objective::Time);
    let best_s = (0..=JOINT_PARTS)
        .map(|part| step_s(part, node))
        .fold(f64::INFINITY, f64::min);
    let (mut steps, mut excess_s) = (0, 0.0);
    while tuner.tuning() {
        let true_s = step_s(tuner.cut(), node);
        let seconds_s = true_s * (1.0 + noise * (rng.f64() - 0.5));
        tuner.record(Call { seconds_s });
        (steps, excess_s) = (steps + 1, excess_s + true_s - best_s);
        assert!(steps < 1000, "{node:?}: the search does not end");
    }
    (tuner.ratio(), steps, excess_s)
}

#[test]
fn a_device_with_memory_of_its_own_soon_takes_all() {
    // Host and copies from little to much slower than the device.
    for host in [2.0, 5.0, 20.0, 80.0] {
        for copies in [1.0, 4.0, 30.0] {
            for noise in [0.0, 0.1] {
                let node = [host * 5e-3, 5e-3, copies * 5e-3];
                let (ratio, steps, excess_s) = settle(node, noise);
                assert_eq!(ratio, 1.0, "{node:?}, noise {noise}");
                assert!(steps <= 50, "{node:?}, noise {noise}: {steps} steps");
                // What is under way when the budget is spent comes to its end.
                let most_s = JOINT_BUDGET_S + 4.0 * (node[0] + node[2]);
                assert!(excess_s <= most_s, "{node:?}, noise {noise}: {excess_s} s");
            }
        }
    }
}

#[test]
fn a_device_that_is_slow_or_has_cheap_copies_does_not() {
    let (ratio, ..) = settle([5e-3, 50e-3, 10e-3], 0.02);
    assert_eq!(ratio, 0.0);
    // The corner, 4 ms at one half, is better than either end.
    let node = [6e-3, 6e-3, 1e-3];
    let (ratio, ..) = settle(node, 0.02);
    let part = (ratio * JOINT_PARTS as f64).round() as usize;
    assert!(step_s(part, node) <= 1.05 * 4e-3, "{ratio}");
}

#[test]
fn what_steps_no_longer_call_is_not_waited_for() {
    let engine = Engine::<f64>::open(&Config::default(), Policy::Auto).unwrap();
    if engine.node.device.is_none() || engine.joint.is_some() {
        eprintln!("SKIPPED: no device whose sites have cuts of their own");
        return;
    }
    let n = 64 * BLOCK;
    let x = engine.node.buffer_from(&vec![1.0; n]).unwrap();
    let call = |site: &mut Site<f64>| {
        let o = Operands {
            own: &[&x, &x],
            ..Operands::default()
        };
        engine.run(site, o).unwrap();
    };
    let site = |name: &str| engine.site(dot::kernel(), name, n).unwrap();
    let (mut at_the_start, mut each_step) = (site("at the start"), site("each step"));
    call(&mut at_the_start);
    assert!(engine.is_tuning(&[&at_the_start, &each_step]));
    for step in 1..=3 * SELDOM {
        call(&mut each_step);
        engine.step_done(1e-3);
        assert_eq!(engine.is_tuning(&[&at_the_start]), step <= SELDOM, "{step}");
        assert_eq!(engine.is_tuning(&[&each_step]), each_step.is_tuning());
    }
    assert!(at_the_start.is_tuning(), "it would be waited for");
}

#[test]
fn the_split_of_a_board_is_where_a_search_begins() {
    let cpu = Config {
        device: DeviceChoice::None,
        ..Config::default()
    };
    let mut engine = Engine::<f64>::open(&cpu, Policy::Auto).unwrap();
    engine.begin_from(&Bandwidth::default(), Cache::empty(None));
    let place = Place::new("axpy", ["axpy", "", "fp64"], 1000 * BLOCK);
    assert_eq!(engine.tuner(&place).cut(), 0);
    engine.begin_at(0.6);
    assert_eq!(engine.tuner(&place).cut(), 600 * BLOCK);
}
