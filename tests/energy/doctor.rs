//! The checks of `couloir doctor` on made trees: each finds what it is for, says the remedy, and
//! is content with what is well.

use std::io::{Error, ErrorKind};
use std::process::{Command, Stdio};

use crate::made::{Made, has};
use couloir::board::Board;
use couloir::doctor::{
    CHECKS, Disk, Finding, Platform, Report, Scene, Seen, Status, examine, examine_one,
};
use couloir::node::Tree;

fn scene(made: &Made) -> Scene {
    Scene::made(Tree::at(&made.0))
}

fn device(name: &str, fp64: bool, fault: Option<&str>) -> Seen {
    Seen {
        index: 0,
        name: name.to_owned(),
        kind: "gpu",
        version: "OpenCL 3.0".to_owned(),
        fp64,
        fault: fault.map(str::to_owned),
    }
}

fn platform(name: &str, devices: Vec<Seen>) -> Platform {
    Platform {
        name: name.to_owned(),
        devices,
    }
}

fn board(name: &str) -> Option<Board> {
    Board::open(name, &Tree::at("/")).expect("a board")
}

/// The one finding of a check.
fn one(scene: &Scene, check: &str) -> Finding {
    let mut found = examine_one(scene, check);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// `check` finds this status first, and says all of `parts` in what it finds or the remedy.
fn finds(scene: &Scene, check: &str, status: Status, parts: &[&str]) {
    let found = examine_one(scene, check);
    let of_status = found.iter().filter(|f| f.status == status);
    let text: Vec<String> = of_status
        .map(|f| format!("{}; {}", f.what, f.remedy.as_deref().unwrap_or("")))
        .collect();
    assert!(!text.is_empty(), "{check}: no {status:?} in {found:?}");
    has(&text.join("\n"), parts);
}

/// `check` finds nothing to mend.
fn content(scene: &Scene, check: &str) {
    let found = examine_one(scene, check);
    assert!(!found.is_empty(), "{check} says nothing");
    for f in found {
        assert_eq!(f.status, Status::Ok, "{f:?}");
        assert_eq!(f.remedy, None, "{f:?}");
    }
}

#[test]
fn every_finding_that_is_not_ok_has_a_remedy() {
    let made = Made::new();
    let found = examine(&scene(&made));
    for f in &found {
        assert_eq!(f.remedy.is_none(), f.status == Status::Ok, "{f:?}");
        assert!(CHECKS.iter().any(|(name, _)| *name == f.check));
    }
    // Nothing at all is known of an empty tree, and that is no problem yet.
    assert!(
        found.iter().all(|f| f.status < Status::Problem),
        "{found:?}"
    );
}

#[test]
fn boards_are_held_against_their_files() {
    let made = Made::new();
    made.write("sys/devices/system/cpu/online", "0-3,6-7\n");
    let mut s = scene(&made);
    finds(
        &s,
        "board",
        Status::Warning,
        &["no board file fits", "--board FILE"],
    );
    s.board = board("odroid-xu3");
    let parts = ["6 cores are online, the board has 8", "cpu*/online"];
    finds(&s, "board", Status::Warning, &parts);
    finds(
        &s,
        "board",
        Status::Warning,
        &["Mali-T628 MP6 is no OpenCL device", "OpenCL 1.2"],
    );
    let parts = ["no sensor of A15, memory, GPU, A7", "INA231", "modprobe"];
    finds(&s, "board", Status::Warning, &parts);

    made.write("sys/devices/system/cpu/online", "0-7\n");
    for rail in ["0040", "0041", "0044"] {
        made.write(
            &format!("sys/bus/i2c/drivers/INA231/3-{rail}/sensor_W"),
            "1.5\n",
        );
    }
    finds(&s, "board", Status::Warning, &["no sensor of A7 "]);
    // As later kernels show it.
    made.write(
        "sys/bus/i2c/devices/1-0045/hwmon/hwmon2/power1_input",
        "1\n",
    );
    s.opencl = Ok(vec![platform("ARM", vec![device("Mali-T628", true, None)])]);
    finds(&s, "board", Status::Warning, &["as 1 device(s) of 2"]);
    s.opencl = Ok(vec![platform(
        "ARM",
        vec![device("Mali-T628", false, None); 2],
    )]);
    finds(
        &s,
        "board",
        Status::Warning,
        &["has double precision, its driver offers none"],
    );
    s.opencl = Ok(vec![platform(
        "ARM",
        vec![device("Mali-T628", true, None); 2],
    )]);
    content(&s, "board");

    s.board = board("raspberry-pi-5");
    finds(
        &s,
        "board",
        Status::Warning,
        &["vcgencmd, which does not run", "group video"],
    );
    s.board = board("ampere-altra");
    finds(&s, "board", Status::Warning, &["no sensor of CPU", "smpro"]);
    made.chip("hwmon0", "smpro_hwmon", &[]);
    made.write("sys/devices/system/cpu/online", "0-79\n");
    content(&s, "board");
}

#[test]
fn icd_files_are_followed_to_their_libraries() {
    let made = Made::new();
    let mut s = scene(&made);
    finds(
        &s,
        "icd",
        Status::Warning,
        &["no driver is registered", "etc/OpenCL/vendors"],
    );
    s.opencl = Err("no OpenCL loader: install libOpenCL.so.1".to_owned());
    finds(
        &s,
        "icd",
        Status::Warning,
        &["no OpenCL loader", "install libOpenCL.so.1"],
    );

    s.opencl = Ok(Vec::new());
    made.write("etc/OpenCL/vendors/mali.icd", "libmali.so.1\n");
    let parts = [
        "mali.icd names libmali.so.1, which is nowhere",
        "install the package",
    ];
    finds(&s, "icd", Status::Problem, &parts);
    made.write("etc/OpenCL/vendors/empty.icd", "\n");
    finds(
        &s,
        "icd",
        Status::Problem,
        &["empty.icd names no library", "or remove it"],
    );
    std::fs::remove_file(made.path("etc/OpenCL/vendors/empty.icd")).unwrap();
    // Where another driver works, the loader passes over it.
    s.opencl = Ok(vec![platform("PoCL", vec![device("cpu", true, None)])]);
    finds(
        &s,
        "icd",
        Status::Warning,
        &["libmali.so.1, which is nowhere"],
    );

    made.write("usr/lib/aarch64-linux-gnu/libmali.so.1", "");
    content(&s, "icd");
    made.write("etc/OpenCL/vendors/own.icd", "/opt/own/libown.so\n");
    finds(
        &s,
        "icd",
        Status::Warning,
        &["own.icd names /opt/own/libown.so"],
    );
    made.write("opt/own/libown.so", "");
    content(&s, "icd");
    made.write("etc/OpenCL/vendors/far.icd", "libfar.so\n");
    made.write("etc/ld.so.conf.d/far.conf", "/opt/far\n");
    made.write("opt/far/libfar.so", "");
    content(&s, "icd");

    s.variable = |name| (name == "OCL_ICD_VENDORS").then(|| "/elsewhere".to_owned());
    finds(
        &s,
        "icd",
        Status::Warning,
        &["no driver is registered", "elsewhere"],
    );
    s.variable = |name| (name == "OCL_ICD_VENDORS").then(|| "libown.so".to_owned());
    content(&s, "icd");
}

/// A graphics card driven by the kernel driver `name`.
fn card(made: &Made, name: &str) {
    let node = made.path("sys/class/drm/renderD128/device");
    std::fs::create_dir_all(&node).unwrap();
    let link = node.join("driver");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(format!("../../bus/drivers/{name}"), link).unwrap();
}

#[test]
fn panthor_and_libmali_exclude_each_other() {
    let mali = "etc/OpenCL/vendors/mali.icd";
    let made = Made::new();
    let mut s = scene(&made);
    content(&s, "mali");
    made.write(mali, "libmali.so.1\n");
    finds(
        &s,
        "mali",
        Status::Problem,
        &["no Mali kernel driver is loaded", "mali_kbase"],
    );
    card(&made, "panthor");
    let parts = [
        "with panthor, but OpenCL's driver is libmali",
        "mesa-opencl-icd",
    ];
    finds(&s, "mali", Status::Problem, &parts);
    std::fs::remove_file(made.path(mali)).unwrap();
    finds(
        &s,
        "mali",
        Status::Warning,
        &["panthor, and rusticl is not installed"],
    );
    made.write("etc/OpenCL/vendors/rusticl.icd", "libRusticlOpenCL.so.1\n");
    finds(
        &s,
        "mali",
        Status::Warning,
        &["export RUSTICL_ENABLE=panfrost"],
    );
    s.variable = |name| (name == "RUSTICL_ENABLE").then(|| "panfrost,v3d".to_owned());
    content(&s, "mali");
    card(&made, "lima");
    finds(
        &s,
        "mali",
        Status::Warning,
        &["lima has no OpenCL", "run on the CPU"],
    );
    made.write("dev/mali0", "");
    finds(
        &s,
        "mali",
        Status::Problem,
        &["both lima and mali_kbase", "blacklist"],
    );

    let made = Made::new();
    made.write("sys/module/mali_kbase/version", "r40\n");
    let s = scene(&made);
    let parts = [
        "libmali is no OpenCL driver yet",
        "tee /etc/OpenCL/vendors/mali.icd",
    ];
    finds(&s, "mali", Status::Problem, &parts);
    made.write(mali, "/usr/lib/libMali.so\n");
    content(&s, "mali");
    // Another maker's card.
    let made = Made::new();
    card(&made, "amdgpu");
    content(&scene(&made), "mali");
}

#[test]
fn devices_are_there_and_right() {
    let made = Made::new();
    let mut s = scene(&made);
    finds(
        &s,
        "devices",
        Status::Warning,
        &["no OpenCL device", "the CPU alone"],
    );
    s.opencl = Err("an OpenCL loader but no driver".to_owned());
    finds(
        &s,
        "devices",
        Status::Warning,
        &["an OpenCL loader but no driver"],
    );
    let good = || platform("PoCL", vec![device("cpu", true, None)]);
    s.opencl = Ok(vec![good()]);
    content(&s, "devices");
    for (name, remedy) in [
        ("rusticl", "RUSTICL_ENABLE=panfrost"),
        ("Clover", "mesa.icd"),
        ("Other", "groups (render, video)"),
    ] {
        s.opencl = Ok(vec![good(), platform(name, Vec::new())]);
        let what = format!("platform {name} has no device");
        finds(&s, "devices", Status::Warning, &[&what, remedy]);
    }
    let single = {
        Ok(vec![platform(
            "ARM",
            vec![device("Mali-G610 r0p0", false, None)],
        )])
    };
    s.opencl = single;
    finds(
        &s,
        "devices",
        Status::Warning,
        &["no double precision", "--precision mixed"],
    );
    // What the board's file says anyway is no warning.
    s.board = board("rk3588");
    content(&s, "devices");
    let fault = "device Mali: kernel axpy miscomputes (relative error 2.0e0); update the driver";
    s.opencl = Ok(vec![platform(
        "ARM",
        vec![device("Mali-G610", false, Some(fault))],
    )]);
    let parts = [
        "device 0: device Mali: kernel axpy miscomputes",
        "; update the driver",
    ];
    finds(&s, "devices", Status::Problem, &parts);
}

#[test]
fn meters_that_may_not_be_read_are_named_with_the_rule() {
    let made = Made::new();
    let mut s = scene(&made);
    finds(
        &s,
        "meters",
        Status::Warning,
        &["no energy meter", "node.nameplate_watts"],
    );
    s.board = board("exynos5250");
    finds(
        &s,
        "meters",
        Status::Warning,
        &["joules are estimated", "nameplate 5 W"],
    );
    made.zone("intel-rapl:0", "package-0", "1000");
    let found = one(&s, "meters");
    assert_eq!(found.status, Status::Ok);
    has(&found.what, &["measured by RAPL package-0"]);

    // As root reads everything, a reader refuses in the system's place.
    s.tree = Tree::with_reader(&made.0, |path| match path.ends_with("energy_uj") {
        true => Err(Error::from(ErrorKind::PermissionDenied)),
        false => std::fs::read_to_string(path),
    });
    let parts = [
        "may not read",
        "intel-rapl:0/energy_uj",
        "sudo chmod a+r",
        "/etc/udev/rules.d/",
        "SUBSYSTEM==\"powercap\"",
    ];
    finds(&s, "meters", Status::Warning, &parts);
}

#[test]
fn governors_and_limits_are_seen() {
    let made = Made::new();
    let s = scene(&made);
    content(&s, "governor");
    let policy = |n: usize, file: &str, text: &str| {
        made.write(
            &format!("sys/devices/system/cpu/cpufreq/policy{n}/{file}"),
            text,
        );
    };
    policy(0, "scaling_governor", "performance\n");
    policy(4, "scaling_governor", "schedutil\n");
    let parts = ["policy4 schedutil", "echo performance | sudo tee"];
    finds(&s, "governor", Status::Warning, &parts);
    policy(4, "scaling_governor", "performance\n");
    content(&s, "governor");
    policy(4, "cpuinfo_max_freq", "2400000\n");
    policy(4, "scaling_max_freq", "1200000\n");
    let parts = ["policy4 to 1200 of 2400 MHz", "nvpmodel"];
    finds(&s, "governor", Status::Warning, &parts);
}

#[test]
fn heat_is_seen() {
    let made = Made::new();
    let mut s = scene(&made);
    content(&s, "thermal");
    let zone = |file: &str, text: &str| {
        made.write(&format!("sys/class/thermal/thermal_zone0/{file}"), text);
    };
    zone("type", "soc-thermal\n");
    zone("temp", "62000\n");
    zone("trip_point_0_type", "passive\n");
    zone("trip_point_0_temp", "85000\n");
    zone("trip_point_1_type", "active\n");
    zone("trip_point_1_temp", "50000\n");
    content(&s, "thermal");
    zone("temp", "78500\n");
    let parts = [
        "soc-thermal: 78.5 degrees, near its passive trip point of 85.0",
        "fan",
    ];
    finds(&s, "thermal", Status::Warning, &parts);
    zone("temp", "90000\n");
    finds(&s, "thermal", Status::Warning, &["above its passive"]);
    zone("temp", "60000\n");
    made.write("sys/class/thermal/cooling_device0/type", "cpufreq-cpu4\n");
    made.write("sys/class/thermal/cooling_device0/cur_state", "0\n");
    content(&s, "thermal");
    made.write("sys/class/thermal/cooling_device0/cur_state", "3\n");
    finds(
        &s,
        "thermal",
        Status::Warning,
        &["cpufreq-cpu4 is slowed down"],
    );
    made.write("sys/class/thermal/cooling_device0/cur_state", "0\n");

    s.program = |_, _| Some("throttled=0x50005\n".to_owned());
    let parts = ["voltage is too low, it throttles", "the maker's supply"];
    finds(&s, "thermal", Status::Problem, &parts);
    s.program = |_, _| Some("throttled=0x20000\n".to_owned());
    finds(
        &s,
        "thermal",
        Status::Warning,
        &["since it was switched on", "capped"],
    );
    s.program = |_, _| Some("throttled=0x0\n".to_owned());
    content(&s, "thermal");
}

#[test]
fn huge_pages_network_and_room_are_seen() {
    let made = Made::new();
    let mut s = scene(&made);
    let pages = "sys/kernel/mm/transparent_hugepage/enabled";
    content(&s, "pages");
    made.write(pages, "always madvise [never]\n");
    finds(
        &s,
        "pages",
        Status::Warning,
        &["are off", "echo madvise | sudo tee /sys"],
    );
    made.write(pages, "always [madvise] never\n");
    content(&s, "pages");

    made.write("sys/class/net/lo/x", "")
        .write("sys/class/net/eth0/x", "");
    content(&s, "network");
    made.write("sys/class/net/docker0/x", "")
        .write("sys/class/net/virbr0/x", "");
    let parts = [
        "docker0, virbr0",
        "--mca btl_tcp_if_exclude lo,docker0,virbr0",
    ];
    finds(&s, "network", Status::Warning, &parts);

    made.write(
        "proc/meminfo",
        "MemTotal: 4000000 kB\nMemAvailable:   100000 kB\n",
    );
    finds(
        &s,
        "space",
        Status::Warning,
        &["memory: 0.1 GB free", "smaller mesh"],
    );
    made.write(
        "proc/meminfo",
        "MemTotal: 4000000 kB\nMemAvailable:   2000000 kB\n",
    );
    s.disk = Some(Disk {
        free_bytes: 50 << 20,
    });
    finds(
        &s,
        "space",
        Status::Problem,
        &["disk: 0.1 GB free", "--out"],
    );
    s.disk = Some(Disk {
        free_bytes: 500 << 20,
    });
    finds(&s, "space", Status::Warning, &["disk: 0.5 GB free"]);
    s.disk = Some(Disk {
        free_bytes: 50 << 30,
    });
    content(&s, "space");
}

#[test]
fn launcher_and_library_are_of_one_mpi() {
    let made = Made::new();
    let mut s = scene(&made);
    content(&s, "mpi");
    s.mpi = Some("Open MPI v4.1.4, package: Debian OpenMPI".to_owned());
    let parts = ["Open MPI 4.1.4, but there is no mpirun", "openmpi-bin"];
    finds(&s, "mpi", Status::Warning, &parts);
    s.program =
        |name, _| (name == "mpirun").then(|| "mpirun (Open MPI) 4.1.2\n\nReport bugs\n".to_owned());
    content(&s, "mpi");
    // Where it is, if PATH says so.
    made.write("opt/mpi/bin/mpirun", "");
    s.variable = |name| (name == "PATH").then(|| "/bin:/opt/mpi/bin".to_owned());
    content(&s, "mpi");
    let found = one(&s, "mpi").what;
    has(&found, &["by Open MPI 4.1.2 (/opt/mpi/bin/mpirun)"]);

    s.program = |name, _| match name {
        "mpirun" => Some("HYDRA build details:\n    Version:  4.0.2\n".to_owned()),
        _ => None,
    };
    let parts = [
        "built with Open MPI 4.1.4, but /opt/mpi/bin/mpirun is MPICH 4.0.2",
        "put the mpirun of Open MPI 4.1.4 first in PATH",
        "believes to be alone",
    ];
    finds(&s, "mpi", Status::Problem, &parts);
    // The right one is there, under another name.
    s.program = |name, _| match name {
        "mpirun" => Some("HYDRA build details:\n    Version:  4.0.2\n".to_owned()),
        "mpirun.openmpi" => Some("mpirun.openmpi (OpenRTE) 4.1.4\n".to_owned()),
        _ => None,
    };
    finds(
        &s,
        "mpi",
        Status::Problem,
        &["start it with mpirun.openmpi"],
    );
    s.mpi = Some("MPICH Version:      4.0.2".to_owned());
    content(&s, "mpi");
    s.program = |_, _| Some("mpirun (Open MPI) 5.0.1".to_owned());
    let parts = ["built with MPICH 4.0.2", "Open MPI 5.0.1"];
    finds(&s, "mpi", Status::Problem, &parts);
    // Another major version of the same.
    s.mpi = Some("Open MPI v4.1.4".to_owned());
    finds(
        &s,
        "mpi",
        Status::Problem,
        &["but /opt/mpi/bin/mpirun is Open MPI 5.0.1"],
    );
}

#[test]
fn a_binary_without_mpi_under_a_launcher_is_a_problem() {
    let made = Made::new();
    let mut s = scene(&made);
    s.variable = |name| (name == "OMPI_COMM_WORLD_SIZE").then(|| "1".to_owned());
    content(&s, "mpi");
    s.variable = |name| (name == "PMI_SIZE").then(|| "4".to_owned());
    let parts = ["as 4 processes, but built without MPI", "--features mpi"];
    finds(&s, "mpi", Status::Problem, &parts);
}

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
