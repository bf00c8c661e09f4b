//! The board and its meters.

use std::io::{Error, ErrorKind};

use super::{board, content, device, finds, one, platform, scene};
use crate::made::{Made, has};
use couloir::doctor::Status;
use couloir::node::Tree;

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
