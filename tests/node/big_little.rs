//! Cores that are not equal: clusters found in made trees, work in proportion to speed, and
//! results that do not depend on it.

use std::rc::Rc;
use std::time::Duration;

use crate::made::Made;
use couloir::kernel::list;
use couloir::node::topology::{Cluster, clusters_of, online_cores};
use couloir::node::{BLOCK, Config, DeviceChoice, Pool, Shares, Tree, topology};
use couloir::split::{Engine, Policy, random_case};

/// What the kernel says of core `n`: capacity, MIDR, highest kHz; what is empty is not said.
fn core(made: &Made, n: usize, capacity: &str, midr: &str, khz: &str) {
    let folder = format!("sys/devices/system/cpu/cpu{n}");
    for (file, text) in [
        ("cpu_capacity", capacity),
        ("regs/identification/midr_el1", midr),
        ("cpufreq/cpuinfo_max_freq", khz),
    ] {
        if !text.is_empty() {
            made.write(&format!("{folder}/{file}"), &format!("{text}\n"));
        }
    }
}

fn found(made: &Made, cores: &[usize]) -> Vec<Cluster> {
    clusters_of(&Tree::at(&made.0), cores)
}

fn numbers(clusters: &[Cluster]) -> Vec<&[usize]> {
    clusters.iter().map(|c| c.cores.as_slice()).collect()
}

#[test]
fn big_cores_come_first() {
    // An RK3588: little cores first, and two pairs of big ones with a hair between them.
    let made = Made::new();
    made.write("sys/devices/system/cpu/online", "0-7\n");
    for n in 0..4 {
        core(&made, n, "414", "0x00000000412fd050", "1800000");
    }
    for n in 4..8 {
        let khz = if n < 6 { "2352000" } else { "2400000" };
        core(&made, n, "1024", "0x00000000414fd0b0", khz);
    }
    let cores = online_cores(&Tree::at(&made.0));
    assert_eq!(cores, [0, 1, 2, 3, 4, 5, 6, 7]);
    let clusters = found(&made, &cores);
    assert_eq!(numbers(&clusters), [&[4, 5, 6, 7], &[0, 1, 2, 3]]);
    assert_eq!(clusters[0].part, Some(0xd0b));
    assert_eq!(clusters[1].part, Some(0xd05));
    assert_eq!(clusters[1].capacity, Some(414));
    assert_eq!(
        clusters[0].to_string(),
        "cores 4 5 6 7 (part 0xd0b, 2352 MHz, capacity 1024)"
    );
    // A process that was given some of them.
    assert_eq!(numbers(&found(&made, &[1, 4, 6])), [&[4, 6][..], &[1]]);
}

#[test]
fn parts_of_cpuinfo_and_frequencies_tell_clusters_apart() {
    // 32-bit kernels have neither capacity nor MIDR.
    let made = Made::new();
    let mut text = String::from("Hardware : ODROID-XU4\n");
    for n in 0..8 {
        let part = if n < 4 { "0xc07" } else { "0xc0f" };
        text += &format!("processor\t: {n}\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n");
        core(&made, n, "", "", if n < 4 { "1400000" } else { "2000000" });
    }
    made.write("proc/cpuinfo", &text);
    let cores: Vec<usize> = (0..8).collect();
    let clusters = found(&made, &cores);
    assert_eq!(numbers(&clusters), [&[4, 5, 6, 7], &[0, 1, 2, 3]]);
    assert_eq!(clusters[0].part, Some(0xc0f));

    // Equal parts, one of them clocked higher.
    let made = Made::new();
    core(&made, 0, "", "", "2000000");
    core(&made, 1, "", "", "3000000");
    assert_eq!(numbers(&found(&made, &[0, 1])), [[1], [0]]);
}

#[test]
fn equal_cores_are_one_cluster() {
    // Preferred cores of a desktop differ a little.
    let made = Made::new();
    for (n, khz) in ["5050000", "5000000", "4900000"].into_iter().enumerate() {
        core(&made, n, "", "", khz);
    }
    assert_eq!(numbers(&found(&made, &[0, 1, 2])), [[0, 1, 2]]);
    // Nothing is said at all.
    let bare = Made::new();
    assert_eq!(numbers(&found(&bare, &[0, 3])), [[0, 3]]);
    assert_eq!(
        bare.0.exists().then(|| online_cores(&Tree::at(&bare.0))),
        Some(vec![])
    );
    // Nonsense is not believed.
    made.write("sys/devices/system/cpu/cpu1/cpu_capacity", "fast\n")
        .write(
            "sys/devices/system/cpu/cpu1/regs/identification/midr_el1",
            "0x\n",
        );
    assert_eq!(numbers(&found(&made, &[0, 1, 2])), [[0, 1, 2]]);
}

/// Each of the three tells clusters apart where the others are silent or equal.
#[test]
fn capacity_or_midr_alone_tell_clusters_apart() {
    let made = Made::new();
    for n in 0..4 {
        core(&made, n, if n < 2 { "430" } else { "1024" }, "", "");
    }
    let clusters = found(&made, &[0, 1, 2, 3]);
    assert_eq!(numbers(&clusters), [[2, 3], [0, 1]]);
    assert_eq!(clusters[1].capacity, Some(430));

    // An Exynos 5422 under a 64-bit kernel's eyes: A7 and A15 of one frequency.
    let made = Made::new();
    for (n, midr) in ["0x410fc073", "0x412fc0f3", "0x410fc073"]
        .into_iter()
        .enumerate()
    {
        core(&made, n, "", midr, "1400000");
    }
    let clusters = found(&made, &[0, 1, 2]);
    assert_eq!(numbers(&clusters), [&[0, 2][..], &[1]]);
    assert_eq!(clusters[0].part, Some(0xc07));
    assert_eq!(clusters[1].part, Some(0xc0f));
}

fn parts(shares: &Shares, threads: usize, n: usize) -> Vec<usize> {
    let mut next = 3;
    let mut lengths = Vec::new();
    for t in 0..threads {
        let part = shares.part(t, 3..3 + n);
        assert_eq!(part.start, next, "contiguous");
        next = part.end;
        lengths.push(part.len());
    }
    assert_eq!(next, 3 + n, "all of it");
    lengths
}

#[test]
fn parts_are_in_proportion_to_speed() {
    let shares = Shares::weighted(&[0, 0, 1, 1], &[1.0, 0.25]);
    assert_eq!(parts(&shares, 4, 1000), [400, 400, 100, 100]);
    for n in [0, 1, 2, 3, 7, 1001, 1 << 30] {
        let lengths = parts(&shares, 4, n);
        let fast = n as f64 * 0.4;
        assert!(
            (lengths[0] as f64 - fast).abs() <= 1.0 + 1e-3 * fast,
            "{lengths:?}"
        );
    }
    let even = Shares::even(&[0, 0, 0]);
    for n in [0, 1, 2, 3, 8, 1000] {
        for length in parts(&even, 3, n) {
            assert!((n / 3..=n / 3 + 1).contains(&length));
        }
    }
    assert!(shares.uneven() && !even.uneven());
}

/// Calls on cores that need `per_block` nanoseconds for a block, with what `noise` adds.
fn calls(
    shares: &mut Shares,
    per_block: &[u64],
    n: usize,
    count: u64,
    noise: impl Fn(u64, usize) -> u64,
) {
    for call in 0..count {
        for (t, ns) in per_block.iter().enumerate() {
            let blocks = shares.part(t, 0..n).len();
            let time = blocks as u64 * ns + noise(call, t);
            if blocks > 0 {
                shares.book(t, blocks, Duration::from_nanos(time));
            }
        }
        shares.call_done();
    }
}

#[test]
fn shares_find_the_speeds_and_keep_them() {
    // Two fast cores, two that take four times as long, and interruptions of some calls.
    let mut shares = Shares::even(&[0, 0, 1, 1]);
    let noise = |call: u64, t: usize| if call % 5 == t as u64 { 3_000_000 } else { 0 };
    calls(&mut shares, &[500, 500, 2000, 2000], 1000, 160, noise);
    assert!(
        (shares.weights()[1] - 0.25).abs() < 0.02,
        "{:?}",
        shares.weights()
    );
    let settled = shares.weights().to_vec();
    // Half a percent more or less is noise.
    calls(&mut shares, &[500, 500, 2010, 2010], 1000, 160, noise);
    assert_eq!(shares.weights(), settled, "within the dead band");
    // The fast cluster throttles: the slow one gets more.
    calls(&mut shares, &[2000, 2000, 2000, 2000], 1000, 160, noise);
    assert!(
        (shares.weights()[1] - 1.0).abs() < 0.05,
        "{:?}",
        shares.weights()
    );
    // Equal cores are left alone, whatever is booked.
    let mut even = Shares::even(&[0, 0]);
    calls(&mut even, &[1, 1000], 100, 64, |_, _| 0);
    assert_eq!(parts(&even, 2, 100), [50, 50]);
}

#[test]
fn a_slower_thread_gets_less_to_do() {
    let mut pool = Pool::new(2, topology::allowed_cores());
    pool.pretend(&[0, 1], &[1.0, 4.0]);
    pool.measure_speeds();
    let weight = pool.shares().weights()[1];
    // Others use the machine, too: far from even is what counts.
    assert!((0.05..0.7).contains(&weight), "{weight}");
    let mut shares = pool.shares().anew();
    let work = |blocks: std::ops::Range<usize>| {
        let mut x = 1.0f64;
        for i in 0..200 * blocks.len() {
            x = x * 0.999 + i as f64;
        }
        std::hint::black_box(x);
    };
    for _ in 0..320 {
        pool.deal(&shares, 0..500, &work);
        shares.call_done();
    }
    let share = shares.share(1);
    assert!(
        (0.1..0.35).contains(&share),
        "{share} of the work, 0.2 is right"
    );
}

/// Whatever the cores' speeds, a kernel computes the same bits.
#[test]
fn results_do_not_depend_on_the_speeds() {
    let config = Config {
        device: DeviceChoice::None,
        memory: None,
        threads: Some(3),
        ..Config::default()
    };
    let open = || Engine::<f64>::open(&config, Policy::Fixed(0.0)).unwrap();
    let even = open();
    let mut uneven = open();
    let pool = Rc::get_mut(&mut uneven.node.pool).expect("nobody else has it");
    pool.pretend(&[0, 1, 2], &[1.0, 6.0, 2.0]);
    pool.measure_speeds();
    let weights = uneven.node.pool.shares().weights();
    assert!(weights[1] < weights[0], "{weights:?}");
    let n = 21 * BLOCK + 31;
    for kernel in list() {
        let mut case = random_case(&even.node, kernel, n, 7).unwrap();
        let expected = case.run(&even, 0.0).unwrap();
        let got = case.run(&uneven, 0.0).unwrap();
        assert_eq!(expected, got, "{}", kernel.name);
    }
}
