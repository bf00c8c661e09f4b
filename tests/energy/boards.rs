//! Meters of particular boards on made trees.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::made::{Made, has, joules_during};
use couloir::energy::Supply;

/// Watts of the tree's chosen rails.
fn watts(made: &Made) -> f64 {
    joules_during(made, || {}).expect("a known energy")
}

fn close(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-6, "{got} != {want}");
}

const JETSON: &str = "sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon7";

fn jetson(made: &Made, rails: [(&str, &str, &str); 3]) {
    made.write(&format!("{JETSON}/name"), "ina3221\n");
    made.write(&format!("{JETSON}/update_interval"), "5\n");
    for (channel, (label, mv, ma)) in (1..).zip(rails) {
        made.write(&format!("{JETSON}/in{channel}_label"), label)
            .write(&format!("{JETSON}/in{channel}_input"), mv)
            .write(&format!("{JETSON}/curr{channel}_input"), ma)
            .write(&format!("{JETSON}/in{channel}_enable"), "1\n");
    }
    // Shunt voltages and the sum, which are no rails.
    for (file, text) in [
        ("in4_input", "3\n"),
        ("in7_input", "9\n"),
        ("in7_label", "Sum of shunt voltages\n"),
        ("curr4_input", "1500\n"),
    ] {
        made.write(&format!("{JETSON}/{file}"), text);
    }
}

#[test]
fn a_jetsons_input_contains_its_other_rails() {
    let made = Made::new();
    let cpu = ("VDD_CPU_GPU_CV\n", "5000\n", "300\n");
    jetson(
        &made,
        [
            cpu,
            ("VDD_IN\n", "5040\n", "1000\n"),
            ("VDD_SOC\n", "5000\n", "200\n"),
        ],
    );
    let (source, log) = made.open();
    assert_eq!(source.text(), "INA3221 VDD_IN");
    has(&log, &["board's input contains every other"]);
    close(watts(&made), 5.04);
}

#[test]
fn a_jetson_without_an_input_rail_adds_its_connected_channels() {
    let made = Made::new();
    let gpu = ("VDD_GPU_SOC\n", "5000\n", "400\n");
    jetson(
        &made,
        [
            gpu,
            ("NC\n", "5000\n", "9000\n"),
            ("VIN_SYS_5V0\n", "5000\n", "200\n"),
        ],
    );
    let (source, _) = made.open();
    assert_eq!(source.text(), "INA3221 VDD_GPU_SOC + INA3221 VIN_SYS_5V0");
    close(watts(&made), 3.0);
    made.write(&format!("{JETSON}/in3_enable"), "0\n");
    close(watts(&made), 2.0);
}

#[test]
fn the_jetsons_older_kernel_shows_milli_watts() {
    let made = Made::new();
    let folder = "sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0";
    for (n, name, mw) in [
        (0, "POM_5V_IN", "2160"),
        (1, "POM_5V_GPU", "40"),
        (2, "POM_5V_CPU", "500"),
    ] {
        made.write(&format!("{folder}/rail_name_{n}"), name)
            .write(&format!("{folder}/in_power{n}_input"), mw);
    }
    assert_eq!(made.open().0.text(), "INA3221 POM_5V_IN");
    close(watts(&made), 2.16);
}

#[test]
fn an_odroids_sensors_are_switched_on_and_added() {
    let made = Made::new();
    for (address, enable, w) in [
        ("3-0040", "0\n", "2.5\n"),
        ("3-0041", "1\n", "0.25\n"),
        ("3-0044", "0\n", "1.125\n"),
        ("3-0045", "0\n", "0.125\n"),
    ] {
        let folder = format!("sys/bus/i2c/drivers/INA231/{address}");
        made.write(&format!("{folder}/enable"), enable)
            .write(&format!("{folder}/sensor_W"), w)
            .write(&format!("{folder}/update_period"), "263808\n");
    }
    let (source, _) = made.open();
    let all = "INA231 A15 + INA231 memory + INA231 GPU + INA231 A7";
    assert_eq!(source.text(), all);
    close(watts(&made), 4.0);
    let enable = made.path("sys/bus/i2c/drivers/INA231/3-0044/enable");
    assert_eq!(fs::read_to_string(enable).unwrap(), "1\n");
    // A quarter of a second of 4 W at either end at most.
    let t0 = source.now_s();
    std::thread::sleep(Duration::from_millis(400));
    let energy = source.interval(t0, source.now_s());
    let doubt = energy.uncertainty_j.unwrap();
    assert!((4.0 * 0.26..4.0 * 0.36).contains(&doubt), "{doubt}");

    made.write("sys/bus/i2c/drivers/INA231/3-0040/sensor_W", "2.5 W\n");
    let (source, log) = made.open();
    assert!(!source.text().contains("A15"));
    has(
        &log,
        &[
            "INA231 A15 is present but unreadable",
            "not a number: \"2.5 W\"",
            "echo 1 >",
        ],
    );
}

#[test]
fn a_macs_total_contains_its_rails_and_charging_is_no_work() {
    let made = Made::new();
    let chip = [
        ("power1_label", "AC Input Power\n"),
        ("power1_input", "30000000\n"),
        ("power2_label", "Total System Power\n"),
        ("power2_input", "7500000\n"),
        ("power3_label", "3.8 V Rail Power\n"),
        ("power3_input", "2000000\n"),
        ("power4_label", "Battery Power\n"),
        ("power4_input", "-20000000\n"),
    ];
    made.chip("hwmon2", "macsmc_hwmon", &chip);
    let (source, log) = made.open();
    assert_eq!(source.text(), "macsmc Total System Power", "{log}");
    close(watts(&made), 7.5);
}

fn script(made: &Made, text: &str) {
    made.write("usr/bin/vcgencmd", &format!("#!/bin/sh\n{text}\n"));
    let file = made.path("usr/bin/vcgencmd");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_raspberry_pis_rails_give_its_power_by_the_published_fit() {
    let made = Made::new();
    script(
        &made,
        "[ \"$1\" = pmic_read_adc ] || exit 3\n\
         echo '  VDD_CORE_A current(7)=2.0A'\necho '  VDD_CORE_V volt(15)=0.75V'\n\
         echo '  3V3_SYS_A current(1)=0.1A'\necho '  3V3_SYS_V volt(9)=3.3V'\n\
         echo '  EXT5V_V volt(24)=5.1V'",
    );
    let (source, log) = made.open();
    has(&log, &["PMIC board", "a published fit"]);
    let t0 = source.now_s();
    std::thread::sleep(Duration::from_millis(10));
    let t1 = source.now_s();
    let watts = source.energy_between(t0, t1).unwrap() / (t1 - t0);
    close(watts, 1.1451 * (1.5 + 0.33) + 0.5879);
}

#[test]
fn a_command_that_fails_is_named_and_one_that_hangs_holds_nothing_up() {
    let made = Made::new();
    script(&made, "echo VDD_CORE_V=0.75V");
    let (source, log) = made.open();
    assert_eq!(source.text(), "none");
    has(
        &log,
        &[
            "`vcgencmd pmic_read_adc` gives no power",
            "no pair of volts",
        ],
    );

    script(&made, "sleep 20");
    let start = Instant::now();
    let (source, log) = made.open();
    assert_eq!(source.text(), "none");
    has(&log, &["no answer within 1 s"]);
    assert!(start.elapsed() < Duration::from_secs(5));

    // Good at first, then it hangs: reads stay quick.
    let flag = made.path("hang");
    script(
        &made,
        &format!(
            "[ -e {} ] && sleep 20\necho A_V=1V\necho A_A=1A",
            flag.display()
        ),
    );
    let (source, _) = made.open();
    assert!(source.measured());
    fs::write(&flag, "").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    let t = source.now_s();
    source.energy_between(t - 0.1, t);
    assert!(start.elapsed() < Duration::from_millis(300));
    let start = Instant::now();
    drop(source);
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn memory_is_added_on_servers_and_contained_on_client_parts() {
    let made = Made::new();
    made.zone("intel-rapl:0", "package-0", "1\n")
        .zone("intel-rapl:0:0", "dram", "1\n");
    assert_eq!(made.open().0.text(), "RAPL package-0 + RAPL package-0 dram");
    let joules = joules_during(&made, || {
        made.zone("intel-rapl:0", "package-0", "4000001\n").zone(
            "intel-rapl:0:0",
            "dram",
            "1000001\n",
        );
    });
    close(joules.unwrap(), 5.0);
    made.zone("intel-rapl:0:1", "uncore", "1\n");
    assert_eq!(made.open().0.text(), "RAPL package-0");
}
