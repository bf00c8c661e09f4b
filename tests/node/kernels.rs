//! Every kernel against its reference: on the CPU, on each device, in each kind of memory, split
//! at several cuts, with one and two threads, in each precision, at odd sizes; and bit-identical
//! for every cut and number of threads.

use couloir::kernel::Real;
use couloir::node::opencl::{DeviceInfo, devices};
use couloir::node::{BLOCK, Config, DeviceChoice, MemoryKind};
use couloir::split::{Engine, Policy, random_case};

const SIZES: [usize; 5] = [1, 255, 257, 4 * BLOCK, 7 * BLOCK + 31];
const CUTS: [f64; 5] = [0.0, 0.25, 0.5, 0.9, 1.0];

fn check<T: Real>(configs: &[Config], what: &str) {
    let engines: Vec<Engine<T>> = configs
        .iter()
        .map(|c| Engine::open(c, Policy::Fixed(0.5)).unwrap_or_else(|e| panic!("{what}: {e}")))
        .collect();
    let tolerance = if size_of::<T>() == 8 { 1e-13 } else { 1e-5 };
    for kernel in T::kernels() {
        for (seed, n) in SIZES.into_iter().enumerate() {
            let mut first = None;
            for (engine, config) in engines.iter().zip(configs) {
                let mut case = random_case(&engine.node, kernel, n, seed as u64).unwrap();
                let expected = case.reference().unwrap();
                for cut in CUTS {
                    let got = case.run(engine, cut).unwrap();
                    let place = format!("{what}: {}, {n} rows, cut {cut}, {config:?}", kernel.name);
                    let distance = got.distance(&expected, n as f64);
                    assert!(distance <= tolerance, "{place}: error {distance:.1e}");
                    for v in &got.vectors {
                        assert!(
                            v[n..].iter().all(|&x| x == T::ZERO),
                            "{place}: padding is not zero"
                        );
                    }
                    let first = first.get_or_insert_with(|| got.clone());
                    assert_eq!(first, &got, "{place}: not bit-identical");
                }
            }
        }
    }
}

fn config(device: DeviceChoice, memory: Option<MemoryKind>, threads: usize) -> Config {
    Config {
        device,
        memory,
        threads: Some(threads),
        ..Config::default()
    }
}

/// Configurations of the CPU alone and of every device in every kind of memory it offers.
fn configs(usable: impl Fn(&DeviceInfo) -> bool) -> Vec<Config> {
    let mut all = vec![
        config(DeviceChoice::None, None, 1),
        config(DeviceChoice::None, None, 2),
        config(DeviceChoice::None, None, 3),
    ];
    let found = devices().unwrap_or_else(|why| {
        eprintln!("SKIPPED on devices: {why}");
        Vec::new()
    });
    for d in found.iter().filter(|d| usable(d)) {
        for memory in [MemoryKind::Svm, MemoryKind::ZeroCopy, MemoryKind::Discrete] {
            if !d.offers(memory) {
                continue;
            }
            for threads in [1, 2] {
                all.push(config(DeviceChoice::Index(d.index), Some(memory), threads));
            }
        }
    }
    all
}

#[test]
fn double_precision_on_cpu_and_every_device() {
    let configs = configs(|d| d.fp64);
    eprintln!("{} configurations", configs.len());
    check::<f64>(&configs, "fp64");
}

#[test]
fn single_precision_on_cpu_and_every_device() {
    check::<f32>(&configs(|_| true), "fp32");
}
