//! The command itself, and its report.

use std::process::{Command, Stdio};

use super::{board, device, platform, scene};
use crate::made::{Made, has};
use couloir::doctor::{CHECKS, Disk, Report, examine};

/// The program itself beside a launcher that is made up.
#[test]
fn the_command_asks_the_launcher_in_path() {
    use std::os::unix::fs::PermissionsExt;
    let made = Made::new();
    made.write("bin/mpirun", "#!/bin/sh\necho 'mpirun (Open MPI) 99.0.1'\n");
    let launcher = made.path("bin/mpirun");
    std::fs::set_permissions(&launcher, PermissionsExt::from_mode(0o755)).unwrap();
    let file = made.path("report.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_couloir"));
    command.args(["doctor", "--json", file.to_str().unwrap()]);
    // No device: no kernels to compile.
    command.env("OCL_ICD_VENDORS", "/nonexistent");
    command
        .env("PATH", launcher.parent().unwrap())
        .env("PMI_SIZE", "2");
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let part = match couloir::cluster::mpi_library() {
        Some(_) => format!("but {} is Open MPI 99.0.1", launcher.display()),
        None => "started as 2 processes, but built without MPI".to_owned(),
    };
    has(&text, &[&part]);
}

#[test]
fn the_report_is_the_contract() {
    let made = Made::new();
    made.write("sys/devices/system/cpu/online", "0-1\n");
    made.write(
        "proc/meminfo",
        "MemTotal: 4000000 kB\nMemAvailable: 2000000 kB\n",
    );
    let mut s = scene(&made);
    s.board = board("rk3588");
    s.disk = Some(Disk { free_bytes: 5 });
    let gpu = device("Mali-G610", false, Some("wrong"));
    s.opencl = Ok(vec![platform("ARM", vec![gpu])]);
    let json = serde_json::to_value(Report::new(&s, examine(&s))).unwrap();
    let keys: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let names = "architecture board checks clusters cores devices disk_free_bytes host \
                 memory_bytes memory_free_bytes status version";
    assert_eq!(keys.join(" "), names);
    assert_eq!(json["architecture"], std::env::consts::ARCH);
    assert_eq!(json["board"]["id"], "rk3588");
    assert_eq!(json["board"]["target"], "aarch64-unknown-linux-gnu");
    assert_eq!(json["cores"], 2);
    assert_eq!(json["clusters"][0]["cores"], serde_json::json!([0, 1]));
    assert_eq!(json["devices"][0]["passes"], false);
    assert_eq!(json["memory_bytes"], 4_096_000_000u64);
    assert_eq!(json["disk_free_bytes"], 5);
    assert_eq!(json["status"], "problem");
    let first = &json["checks"][0];
    assert_eq!(
        (&first["check"], &first["status"]),
        (&"board".into(), &"ok".into())
    );
    assert!(first["remedy"].is_null());
}

/// The program on this machine: a line per finding or JSON, and an exit code that fits.
#[test]
fn the_command_tells_people_and_machines_the_same() {
    let call = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_couloir"));
        // Not rusticl, which compiles for minutes: the kernels' own test judges it.
        command.arg("doctor").args(args).env("RUSTICL_ENABLE", "");
        command.stdin(Stdio::null());
        command.output().expect("the binary starts")
    };
    let machine = call(&["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&machine.stdout).expect("JSON alone");
    let checks = json["checks"].as_array().expect("a list");
    let code = i32::from(json["status"] == "problem");
    assert_eq!(machine.status.code(), Some(code), "{json}");
    // Drivers may have their say there, too.
    assert!(code == 0 || !machine.stderr.is_empty());

    let made = Made::new();
    let file = made.path("report.json");
    let people = call(&[
        "--json",
        file.to_str().unwrap(),
        "--board",
        "generic-x86_64",
    ]);
    let text = String::from_utf8(people.stdout).unwrap();
    let written: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(written["board"]["id"], "generic-x86_64");
    assert_eq!(
        text.lines().count(),
        written["checks"].as_array().unwrap().len()
    );
    for (name, _) in CHECKS {
        assert!(checks.iter().any(|c| c["check"] == *name), "{name}");
        assert!(
            text.lines().any(|l| l.contains(&format!(" {name} "))),
            "{text}"
        );
    }
    let refused = call(&["--board", "toaster"]);
    assert_eq!(refused.status.code(), Some(2));
}
