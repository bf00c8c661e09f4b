//! `couloir run` with a meter outside the node: a TCP listener plays one.

use std::io::Write;
use std::net::TcpListener;
use std::time::Duration;

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
fn meter(watts: f64) -> String {
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
