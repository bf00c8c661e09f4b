//! The loops compute what they should, and their roofs are their own.

use super::*;
use crate::kernel::Rows;
use crate::node::{Config, DeviceChoice, opencl};
use crate::split::Policy;

const N: usize = 37 * BLOCK;

/// Runs one path, in every program, and compares it with the reference.
fn check(engine: &Engine<f64>, kernel: Kernel<f64>, ratio: f64) {
    for loops in engine.stream_programs(ratio).unwrap() {
        check_one(engine, kernel, ratio, Some(&loops));
    }
    if engine.node.device.is_none() {
        check_one(engine, kernel, ratio, None);
    }
}

fn check_one(engine: &Engine<f64>, kernel: Kernel<f64>, ratio: f64, loops: Option<&Loops>) {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut vector = || -> Vec<f64> { (0..N).map(|_| rng.f64() - 0.5).collect() };
    let (mut a, b, c) = (vector(), vector(), vector());
    let mut v = [&a, &b, &c].map(|x| engine.node.buffer_from(x).unwrap());
    let mut site = engine.stream_site(loops, kernel, N).unwrap();
    engine.set_ratio(&mut site, ratio);
    let sum = gauge::call(engine, &mut site, &mut v).unwrap();
    let got = v[0].read().unwrap().to_vec();
    let mut sums = vec![0.0; N / BLOCK];
    let (mut out, mut inout) = (Vec::new(), Vec::new());
    match kernel.shape.inout {
        0 => out = a.clone(),
        _ => inout = a.clone(),
    }
    let mut rows = Rows {
        first: 0,
        n: N,
        out: Default::default(),
        inout: Default::default(),
        partial: Default::default(),
        own: Default::default(),
        repeated: Default::default(),
        gather: Default::default(),
        mats: Default::default(),
        scalars: &[0.5],
        state: &[],
        stream: false,
    };
    (rows.out[0], rows.inout[0], rows.partial[0]) = (&mut out, &mut inout, &mut sums);
    (rows.own[0], rows.own[1]) = (&b, &c);
    (kernel.reference)(&mut rows);
    if kernel.shape.out + kernel.shape.inout > 0 {
        a = if out.is_empty() { inout } else { out };
    }
    assert_eq!(got, a, "{} at {ratio}", kernel.name);
    let total: f64 = sums.iter().sum();
    let expected = if kernel.shape.reduce.is_empty() {
        0.0
    } else {
        total
    };
    assert!(
        (sum - expected).abs() < 1e-9,
        "{}: {sum} {expected}",
        kernel.name
    );
}

#[test]
fn every_path_computes_what_its_reference_does() {
    let none = Config {
        device: DeviceChoice::None,
        threads: Some(3),
        ..Config::default()
    };
    let mut configs = vec![none];
    match opencl::devices() {
        Err(why) => eprintln!("SKIPPED on devices: {why}"),
        Ok(all) => configs.extend(all.iter().filter(|d| d.fp64).map(|d| Config {
            device: DeviceChoice::Index(d.index),
            ..Config::default()
        })),
    }
    for config in configs {
        let engine = Engine::open(&config, Policy::Fixed(0.0)).unwrap();
        for ratio in [0.0, 0.5, 1.0] {
            let with = |base: Kernel<f64>, host| Kernel { host, ..base };
            for host in stream::read::paths() {
                check(&engine, with(stream::read::kernel(), host), ratio);
            }
            for host in stream::copy::paths() {
                check(&engine, with(stream::copy::kernel(), host), ratio);
            }
            for host in stream::triad::paths() {
                check(&engine, with(stream::triad::kernel(), host), ratio);
            }
            for host in dot::paths() {
                check(&engine, with(dot::kernel(), host), ratio);
            }
            for host in axpy::paths() {
                check(&engine, with(axpy::kernel(), host), ratio);
            }
        }
    }
}

#[test]
fn the_least_time_of_each_loop_is_its_own() {
    let roofs = Roofs {
        read_gb_s: 14.0,
        copy_gb_s: 18.0,
        triad_gb_s: 19.0,
        axpy_gb_s: 21.0,
    };
    let gb = |read, written, updated| Traffic {
        read_bytes: read * 1e9,
        written_bytes: written * 1e9,
        updated_bytes: updated * 1e9,
    };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(close(roofs.seconds(&gb(14.0, 0.0, 0.0)), 1.0));
    assert!(close(roofs.seconds(&gb(7.0, 0.0, 7.0)), 1.0));
    assert!(roofs.seconds(&gb(9.0, 9.0, 0.0)) <= 1.0 + 1e-12);
    assert!(close(gb(1.0, 2.0, 3.0).bytes(), 9e9));
}
