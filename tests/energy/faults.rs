//! Sensor files that misbehave, and what sampling costs.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::made::{Made, PACKAGE, has};
use couloir::energy::{self, Context, Nameplate, Supply, Tree};

/// Opens a package whose counter reads as `spoil` leaves it.
fn unreadable(spoil: impl FnOnce(&Path)) -> String {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1\n")
        .zone("intel-rapl:0:0", "core", "1\n");
    let file = made.path(PACKAGE);
    fs::remove_file(&file).unwrap();
    spoil(&file);
    let (source, log) = made.open();
    assert_eq!(source.text(), "none", "a part must not pass for the whole");
    has(
        &log,
        &["RAPL package-0 is present but unreadable", "sudo chmod a+r"],
    );
    log
}

#[test]
fn unreadable_counters_are_named_with_a_remedy() {
    unreadable(|file| fs::create_dir(file).unwrap());
    unreadable(|file| std::os::unix::fs::symlink("/nowhere/at/all", file).unwrap());
    has(
        &unreadable(|f| fs::write(f, "").unwrap()),
        &["the file is empty"],
    );
    has(
        &unreadable(|f| fs::write(f, "12 J\n").unwrap()),
        &["not a whole number: \"12 J\""],
    );
    has(
        &unreadable(|f| fs::write(f, "-17\n").unwrap()),
        &["a negative energy: -17 uJ"],
    );
    has(
        &unreadable(|f| fs::write(f, "9".repeat(30)).unwrap()),
        &["not a whole number"],
    );
    unreadable(|f| fs::write(f, [0xff, 0xfe, 0x00]).unwrap());
}

#[test]
fn refused_permission_is_named_with_a_remedy() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1\n");
    let tree = Tree::with_reader(&made.0, |path| match path.ends_with("energy_uj") {
        true => Err(io::ErrorKind::PermissionDenied.into()),
        false => fs::read_to_string(path),
    });
    let context = Context {
        tree,
        ..Context::at(&made.0)
    };
    let (source, log) = energy::open_with(&context, 3600.0).unwrap();
    assert_eq!(source.text(), "none");
    has(
        &log.join("\n"),
        &[
            "present but unreadable (permission denied)",
            "sudo chmod a+r",
        ],
    );
}

#[test]
fn negative_powers_are_an_offset_or_an_error() {
    for (ma, works) in [("-8\n", true), ("-900\n", false)] {
        let made = Made::new();
        let files = [("in1_input", "5000\n"), ("curr1_input", ma)];
        made.chip("hwmon0", "ina3221", &files);
        let (source, log) = made.open();
        assert_eq!(source.measured(), works);
        assert_eq!(
            log.contains("a negative power: -4500000 uW"),
            !works,
            "{log}"
        );
    }
}

#[test]
fn a_counter_that_disappears_ends_the_energy_with_a_message() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1000000\n").zone(
        "intel-rapl:1",
        "package-1",
        "1000000\n",
    );
    let (source, _) = energy::open_with(&made.context(Nameplate::default()), 0.002).unwrap();
    let t0 = source.now_s();
    assert!(source.energy_between(t0, source.now_s()).is_some());
    let t0 = source.now_s();
    fs::remove_dir_all(made.path("sys/class/powercap/intel-rapl:0")).unwrap();
    let mut messages = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(10);
    while messages.is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
        messages = source.take_messages();
    }
    has(
        &messages.join("\n"),
        &["RAPL package-0 stopped delivering", "not given"],
    );
    assert_eq!(source.energy_between(t0, source.now_s()), None);
    assert_eq!(source.power_now(), None);
    // Coming back does not make the past known.
    made.zone("intel-rapl:0", "package-0", "9000000\n");
    let deadline = Instant::now() + Duration::from_secs(10);
    messages.clear();
    while messages.is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
        messages = source.take_messages();
    }
    has(&messages.join("\n"), &["RAPL package-0 delivers again"]);
    let t1 = source.now_s();
    std::thread::sleep(Duration::from_millis(5));
    let after = source.energy_between(t1, source.now_s());
    assert!(after.is_some(), "known again from here on");
}

#[test]
fn sampling_is_cheap() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1000000\n");
    // Another load may take the processor away during a reading, but not every time.
    let cheap = (0..5).any(|_| {
        let (source, _) = energy::open(&Context::at(&made.0)).unwrap();
        std::thread::sleep(Duration::from_millis(350));
        let cost = source.cost();
        assert!((1..=5).contains(&cost.samples), "{} samples", cost.samples);
        cost.samples > 1 && cost.seconds < 0.005 * source.now_s()
    });
    assert!(cheap, "sampling takes more than 0.5 % of a core");
}

#[test]
fn dropping_a_source_does_not_wait_for_a_sample() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1000000\n");
    let (source, _) = made.open();
    let start = Instant::now();
    drop(source);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn reads_on_demand_stay_within_their_share() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1000000\n");
    let (source, _) = made.open();
    let start = Instant::now();
    let mut asked = 0;
    while start.elapsed() < Duration::from_millis(200) {
        let t = source.now_s();
        let _ = source.resolve(t - 1e-6, t);
        asked += 1;
    }
    let cost = source.cost();
    assert!(
        cost.samples > 1 && asked > 2 * cost.samples,
        "{asked}, {cost:?}"
    );
    // Processor time: what others take of the machine is not the sampler's.
    assert!(cost.cpu_s < 0.05 * source.now_s(), "{cost:?}");
}
