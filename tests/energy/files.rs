//! File meters on made trees: what is found, and which rails are chosen.

use std::time::Duration;

use crate::made::{Made, PACKAGE, has, joules_during};
use couloir::energy::{Nameplate, Supply};

#[test]
fn two_sockets_without_their_sub_zones() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1000000\n")
        .zone("intel-rapl:0:0", "core", "500000\n")
        .zone("intel-rapl:0:1", "dram", "300000\n")
        .zone("intel-rapl:1", "package-1", "2000000\n")
        .zone("intel-rapl:1:0", "core", "700000\n")
        .zone("intel-rapl-mmio:0", "package-0", "1000000\n")
        .write("sys/class/powercap/intel-rapl/enabled", "1\n");
    let (source, log) = made.open();
    assert_eq!(source.text(), "RAPL package-0 + RAPL package-1");
    assert!(source.measured());
    has(&log, &["packages do not contain each other"]);
    let joules = joules_during(&made, || {
        made.zone("intel-rapl:0", "package-0", "4000000\n")
            .zone("intel-rapl:0:0", "core", "9900000\n")
            .zone("intel-rapl:0:1", "dram", "9300000\n")
            .zone("intel-rapl:1", "package-1", "6000000\n")
            .zone("intel-rapl-mmio:0", "package-0", "4000000\n");
    });
    let joules = joules.unwrap();
    assert!((joules - 7.0).abs() < 1e-9, "{joules}");
}

#[test]
fn wrap_around_in_a_file() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "262143000000\n");
    let joules = joules_during(&made, || {
        made.write(PACKAGE, "2671150\n");
    });
    let joules = joules.unwrap();
    assert!((joules - 3.0).abs() < 1e-9, "{joules}");
}

#[test]
fn platform_rail_contains_the_packages() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1\n")
        .zone("intel-rapl:1", "psys", "1\n");
    let (source, log) = made.open();
    assert_eq!(source.text(), "RAPL psys");
    has(
        &log,
        &["platform rail contains", "left out", "RAPL package-0"],
    );
}

#[test]
fn board_input_is_preferred_to_everything_inside_it() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1\n").chip(
        "hwmon3",
        "ina3221",
        &[
            ("in1_label", "VDD_CPU\n"),
            ("in1_input", "5000\n"),
            ("curr1_input", "300\n"),
            ("in2_label", "VDD_IN\n"),
            ("in2_input", "5000\n"),
            ("curr2_input", "1000\n"),
            ("in3_label", "VDD_SOC\n"),
            ("in3_input", "5000\n"),
            ("curr3_input", "200\n"),
            ("in7_label", "Sum of shunt voltages\n"),
            ("in7_input", "3\n"),
            ("update_interval", "40\n"),
        ],
    );
    let (source, log) = made.open();
    assert_eq!(source.text(), "INA3221 VDD_IN");
    has(
        &log,
        &["board's input contains every other", "RAPL package-0"],
    );
    std::thread::sleep(Duration::from_millis(60));
    let t1 = source.now_s();
    let energy = source.interval(0.02, t1);
    let want = 5.0 * (t1 - 0.02);
    let joules = energy.joules.unwrap();
    assert!(
        (joules - want).abs() < 1e-6 * want,
        "{joules} J, not {want}"
    );
    // 5 W over one update interval of 40 ms, or all of a shorter interval.
    assert!(energy.uncertainty_j.unwrap() >= 5.0 * 0.04_f64.min(t1 - 0.02));
}

#[test]
fn single_rails_are_added_when_no_input_is_known() {
    let made = Made::new();
    for (entry, uw) in [("hwmon0", "1500000\n"), ("hwmon1", "2500000\n")] {
        made.chip(
            entry,
            "ina231",
            &[
                ("power1_input", uw),
                ("in1_input", "900\n"),
                ("curr1_input", "9999\n"),
            ],
        );
    }
    let (source, log) = made.open();
    assert_eq!(source.text(), "hwmon ina231 power1 + hwmon ina231 power1");
    has(&log, &["taken as disjoint"]);
    let t0 = source.now_s();
    std::thread::sleep(Duration::from_millis(20));
    let t1 = source.now_s();
    let watts = source.energy_between(t0, t1).unwrap() / (t1 - t0);
    assert!((watts - 4.0).abs() < 1e-6, "{watts} W");
    assert!((source.power_now().unwrap() - 4.0).abs() < 1e-6);
}

#[test]
fn energy_counters_and_pairs_by_label() {
    let made = Made::new();
    made.chip(
        "hwmon0",
        "ina228",
        &[
            ("energy1_input", "5000000\n"),
            ("power1_input", "77\n"),
            ("power1_label", "VIN\n"),
            ("energy1_label", "VIN\n"),
        ],
    );
    let (source, _) = made.open();
    assert_eq!(source.text(), "hwmon ina228 VIN");
    let joules = joules_during(&made, || {
        made.write("sys/class/hwmon/hwmon0/energy1_input", "7500000\n");
    });
    assert!((joules.unwrap() - 2.5).abs() < 1e-9, "{joules:?}");

    let made = Made::new();
    made.chip(
        "hwmon0",
        "scmi_sensors",
        &[
            ("curr1_label", "cpu\n"),
            ("curr1_input", "2000\n"),
            ("in1_label", "gpu\n"),
            ("in1_input", "1\n"),
            ("in4_label", "cpu\n"),
            ("in4_input", "800\n"),
        ],
    );
    let (source, _) = made.open();
    assert_eq!(source.text(), "hwmon scmi_sensors cpu");
    let t0 = source.now_s();
    source.energy_between(t0, t0 + 1e-9);
    assert!((source.power_now().unwrap() - 1.6).abs() < 1e-6);
}

#[test]
fn sockets_count_once_and_rapl_comes_first() {
    let made = Made::new();
    let amd: [(&str, &str); 4] = [
        ("energy1_label", "Ecore000\n"),
        ("energy1_input", "100\n"),
        ("energy2_label", "Esocket0\n"),
        ("energy2_input", "900\n"),
    ];
    made.chip("hwmon0", "amd_energy", &amd);
    assert_eq!(made.open().0.text(), "hwmon amd_energy Esocket0");
    made.zone("intel-rapl:0", "package-0", "1\n");
    let (source, log) = made.open();
    assert_eq!(source.text(), "RAPL package-0");
    has(&log, &["left out", "Esocket0"]);
}

#[test]
fn chips_that_feed_something_unknown_are_not_counted() {
    let made = Made::new();
    made.chip("hwmon0", "BAT0", &[("power1_input", "9000000\n")])
        .chip("hwmon1", "coretemp", &[("temp1_input", "40000\n")]);
    let (source, log) = made.open();
    assert_eq!(source.text(), "none");
    has(&log, &["hwmon chip BAT0 has power sensors", "not counted"]);
    assert!(!log.contains("coretemp"), "{log}");
}

#[test]
fn without_a_sensor_energy_is_unknown_not_zero() {
    let made = Made::new();
    let (source, log) = made.open();
    has(
        &log,
        &["no usable sensor", "not known", "give the node's watts"],
    );
    assert_eq!((source.text(), source.measured()), ("none", false));
    assert_eq!(source.energy_between(0.0, source.now_s()), None);
    assert_eq!(source.power_now(), None);
    assert_eq!(source.interval(0.0, 0.0).joules, None);
}

#[test]
fn nameplate_stands_in_and_is_marked() {
    let made = Made::new();
    let plate = Nameplate {
        watts_idle: Some(2.0),
        watts_load: Some(5.0),
    };
    let (source, log) = made.open_with(plate);
    has(&log, &["no usable sensor", "5 W", "estimate, not measured"]);
    assert_eq!(source.text(), "nameplate 5 W (estimate, not measured)");
    assert!(!source.measured());
    let t0 = source.now_s();
    std::thread::sleep(Duration::from_millis(10));
    let t1 = source.now_s();
    let energy = source.interval(t0, t1);
    assert!((energy.joules.unwrap() - 5.0 * (t1 - t0)).abs() < 1e-9);
    assert_eq!(energy.uncertainty_j, None);

    made.zone("intel-rapl:0", "package-0", "1\n");
    assert_eq!(made.open_with(plate).0.text(), "RAPL package-0");
}

#[test]
fn impossible_nameplates_are_refused() {
    let made = Made::new();
    for watts in [-5.0, 0.0, f64::NAN, f64::INFINITY] {
        let (source, log) = made.open_with(Nameplate {
            watts_idle: None,
            watts_load: Some(watts),
        });
        has(&log, &["is not a node's power", "give a number above 0"]);
        assert_eq!(source.text(), "none");
    }
}
