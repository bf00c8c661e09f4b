//! Every kernel against its reference: on the CPU, on each device, in each kind of memory, split
//! at several cuts, with one and two threads, in each precision, at odd sizes; and bit-identical
//! for every cut and number of threads.

use couloir::kernel::{Real, list};
use couloir::node::opencl::{DeviceInfo, devices};
use couloir::node::{BLOCK, Config, DeviceChoice, MemoryKind};
use couloir::split::{Engine, Policy, random_case};

const SIZES: [usize; 5] = [1, 255, 257, 4 * BLOCK, 7 * BLOCK + 31];
const CUTS: [f64; 5] = [0.0, 0.25, 0.5, 0.9, 1.0];

fn check<T: Real>(configs: &[Config], what: &str) {
    check_at::<T>(configs, what, &SIZES, &CUTS);
}

fn check_at<T: Real>(configs: &[Config], what: &str, sizes: &[usize], cuts: &[f64]) {
    let engines: Vec<Engine<T>> = configs
        .iter()
        .map(|c| Engine::open(c, Policy::Fixed(0.5)).unwrap_or_else(|e| panic!("{what}: {e}")))
        .collect();
    let tolerance = if size_of::<T>() == 8 { 1e-13 } else { 1e-5 };
    for kernel in list::<T>() {
        for (seed, &n) in sizes.iter().enumerate() {
            let mut first = None;
            for (engine, config) in engines.iter().zip(configs) {
                let mut case = random_case(&engine.node, kernel, n, seed as u64).unwrap();
                let expected = case.reference().unwrap();
                for &cut in cuts {
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

/// As on a GPU: one row per work-item, sums by way of local memory.
#[test]
fn kernels_of_one_row_per_work_item() {
    // PoCL 3.1 on 32-bit ARM mixes sums and maxima up in groups of more than one, whether or not it
    // is told to unroll; its devices are not asked to (they add by one), and the self-check refuses
    // one that is.
    let adding = if cfg!(target_arch = "arm") {
        eprintln!("SKIPPED: sums of partial results by groups of 16: miscomputed by PoCL here");
        ""
    } else {
        "adding = 16\n"
    };
    launched(
        "kernels::kernels_of_one_row_per_work_item",
        &format!("vector = 1\nrows = \"vector\"\nahead = true\n{adding}"),
    );
}

/// As on a Mali with registers of 128 bits.
#[test]
fn kernels_of_two_rows_per_instruction() {
    launched(
        "kernels::kernels_of_two_rows_per_instruction",
        "vector = 2\nrows = \"block\"\n",
    );
}

/// Sums by way of local memory, of groups that add up two lists at once.
#[test]
fn kernels_of_four_rows_per_instruction() {
    launched(
        "kernels::kernels_of_four_rows_per_instruction",
        "vector = 4\nrows = \"vector\"\n",
    );
}

/// The same, one list at once.
#[test]
fn kernels_of_eight_rows_per_instruction() {
    launched(
        "kernels::kernels_of_eight_rows_per_instruction",
        "vector = 8\nrows = \"vector\"\n",
    );
}

/// As PoCL with AVX-512, whose masks take the rows by eight; without it, sixteen by single loads.
#[test]
fn kernels_of_sixteen_rows_at_once() {
    if cfg!(not(target_arch = "x86_64")) {
        return eprintln!("SKIPPED: no device on such a processor takes sixteen rows at once");
    }
    launched(
        "kernels::kernels_of_sixteen_rows_at_once",
        "vector = 16\nrows = \"block\"\n",
    );
}

/// Checks the kernels with these launch parameters, which are fixed for a process: the test of that
/// `name` runs itself in another.
fn launched(name: &str, parameters: &str) {
    const FILE: &str = "COULOIR_TUNING";
    if std::env::var_os(FILE).is_some() {
        let mut all = configs(|d| d.fp64);
        all.retain(|c| c.device != DeviceChoice::None && c.memory == Some(MemoryKind::Discrete));
        assert!(!all.is_empty());
        let (sizes, cuts) = ([257, 7 * BLOCK + 31], [0.5, 1.0]);
        check_at::<f64>(&all[..1], &format!("{name}, fp64"), &sizes, &cuts);
        return check_at::<f32>(&all[..1], &format!("{name}, fp32"), &sizes, &cuts);
    }
    let on_device = |c: &Config| c.memory == Some(MemoryKind::Discrete);
    if !configs(|d| d.fp64).iter().any(on_device) {
        return eprintln!("SKIPPED: no device with double precision");
    }
    let file = std::env::temp_dir().join(format!(
        "couloir-{}-{}.toml",
        name.replace("::", "-"),
        std::process::id()
    ));
    let text = format!(
        "[[device]]\nmatch = \"\"\nvector = 1\nrows = \"vector\"\n\
         [[device]]\nmatch = \"software\"\n{parameters}"
    );
    std::fs::write(&file, text).unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(FILE, &file)
        // PoCL's compiler on ARM goes deeper than the 2 MB of a test's thread; the program's own has 8.
        .env("RUST_MIN_STACK", (8 << 20).to_string())
        .output()
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
