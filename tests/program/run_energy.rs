//! `couloir run` with a meter outside the node: a TCP listener plays one.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::Folder;

/// A cavity of 1460 prisms, on the CPU.
const CAVITY: [&str; 5] = [
    "cases/cavity.toml",
    "--set",
    "mesh.file=tests/data/meshes/cavity_prism_24_22.msh",
    "--device",
    "none",
];

/// A meter of constant power; returns its address. Its thread ends with the test's process.
pub fn meter(watts: f64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            while writeln!(stream, "node;{watts}").is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    });
    format!("tcp:127.0.0.1:{port}")
}

#[test]
fn a_known_load_is_measured_within_two_percent_and_net_of_idle() {
    let folder = Folder::new();
    let address = meter(12.5);
    let more = [
        &CAVITY[..],
        &[
            "--steps",
            "60",
            "--meter",
            &address,
            "--set",
            "energy.column=2",
        ],
        &["--idle-seconds", "0.3"],
    ]
    .concat();
    let report = folder.report(&more);
    let energy = &report["energy"];
    let number = |name: &str| {
        energy[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name}: {energy}"))
    };
    assert_eq!(energy["measured"], true, "{energy}");
    assert!(energy["source"].as_str().unwrap().contains(&address));
    assert!((number("watts_mean") / 12.5 - 1.0).abs() < 0.02);
    assert!((number("idle_watts") / 12.5 - 1.0).abs() < 0.02);
    assert!(number("net_joules_per_step").abs() < 0.02 * number("joules_per_step"));
    assert!((0.0..1.0).contains(&number("uncertainty_fraction")));
    assert!(number("sampling_fraction") <= 0.005, "{energy}");
}

#[test]
fn a_meter_that_is_not_there_ends_the_run_at_its_start() {
    let folder = Folder::new();
    let said = folder.run(&[&CAVITY[..], &["--meter", "tcp:127.0.0.1:1"]].concat());
    assert_eq!(said.code, Some(2));
    assert!(
        said.err.contains("--meter tcp:127.0.0.1:1: "),
        "{}",
        said.err
    );
    assert!(
        said.err.contains("check address, cable and supply"),
        "{}",
        said.err
    );
}

#[test]
fn energy_is_not_minimised_or_benched_without_a_sensor() {
    let folder = Folder::new();
    let report = folder.report(&[&CAVITY[..], &["--steps", "1"]].concat());
    if report["energy"]["measured"] == true {
        // A machine with a sensor: nothing to refuse.
        return;
    }
    for objective in ["energy", "edp"] {
        let said = folder.run(&[&CAVITY[..], &["--objective", objective]].concat());
        assert_eq!(said.code, Some(2), "{}", said.err);
        let place = format!("--objective {objective}: energy cannot be minimised: ");
        assert!(said.err.contains(&place), "{}", said.err);
        assert!(
            said.err.contains("the least energy is the least time")
                || said.err.contains("no energy sensor"),
            "{}",
            said.err
        );
        assert!(
            said.err.contains("run with --objective time"),
            "{}",
            said.err
        );
    }
    let said = folder.run(&[&CAVITY[..], &["--objective", "speed"]].concat());
    assert!(
        said.err.contains("use one of: time, energy, edp"),
        "{}",
        said.err
    );
}

/// The program where /sys/class is a folder of this test: a package that draws 20 W, and a zone
/// that reaches its trip point on the way.
#[test]
fn made_counters_are_measured_and_heat_is_told_with_its_step() {
    let possible = Command::new("unshare").args(["--mount", "true"]).status();
    if !possible.is_ok_and(|s| s.success()) || !Path::new("/sys/class").exists() {
        let text = "SKIPPED: run_energy: /sys/class cannot be replaced without being root\n";
        return std::io::stderr().write_all(text.as_bytes()).unwrap();
    }
    let folder = Folder::new();
    let (package, zone) = ("class/powercap/intel-rapl:0", "class/thermal/thermal_zone0");
    for name in [package, zone] {
        std::fs::create_dir_all(folder.path(name)).unwrap();
    }
    // As the kernel does: readers see the old or the new text.
    let put = |name: &str, text: &str| {
        let new = folder.write("class/new", text);
        std::fs::rename(new, folder.path(name)).unwrap();
    };
    put(&format!("{package}/name"), "package-0\n");
    put(&format!("{package}/max_energy_range_uj"), "262143328850\n");
    put(&format!("{package}/energy_uj"), "1000000\n");
    put(&format!("{zone}/type"), "soc-thermal\n");
    put(&format!("{zone}/temp"), "60000\n");
    put(&format!("{zone}/trip_point_0_type"), "passive\n");
    put(&format!("{zone}/trip_point_0_temp"), "75000\n");

    let json = folder.path("report.json");
    let run = folder.command(
        &[
            &CAVITY[..],
            &["--steps", "6000", "--json", json.to_str().unwrap()],
        ]
        .concat(),
    );
    let mut command = Command::new("unshare");
    let script = "mount --bind \"$0\" /sys/class && exec \"$@\"";
    command.args(["--mount", "sh", "-c", script]);
    command.arg(folder.path("class")).arg(run.get_program());
    command.args(run.get_args()).stdin(Stdio::null());
    command.current_dir(run.get_current_dir().unwrap());
    command.env("XDG_CACHE_HOME", folder.path(""));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        text
    });
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "it does not end"
        );
        let passed = start.elapsed();
        let uj = 1_000_000 + 20 * passed.as_micros();
        put(&format!("{package}/energy_uj"), &format!("{uj}\n"));
        if passed > Duration::from_millis(800) {
            put(&format!("{zone}/temp"), "80000\n");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let text = reader.join().unwrap();
    let report = folder.json("report.json");
    let energy = &report["energy"];
    assert_eq!(energy["measured"], true, "{text}");
    assert_eq!(energy["source"], "RAPL package-0", "{energy}");
    let watts = energy["watts_mean"].as_f64().expect("measured");
    assert!((watts / 20.0 - 1.0).abs() < 0.02, "{energy}");
    let told = text
        .lines()
        .find(|l| l.contains("passive trip point of 75"));
    let told = told.unwrap_or_else(|| panic!("{text}"));
    let step: usize = told
        .strip_prefix("step ")
        .and_then(|rest| rest.split(':').next()?.parse().ok())
        .unwrap_or_else(|| panic!("{told}"));
    assert!((1..=6000).contains(&step), "{told}");
    assert!(told.contains("soc-thermal"), "{told}");
    // Each kernel's energy is measured, too, and the uncertainty is printed.
    assert!(!text.contains('~'), "{text}");
    assert!(text.contains(" ± "), "{text}");
}
