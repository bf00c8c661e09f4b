//! Clocks, heat, memory, network, disk.

use super::{content, finds, scene};
use crate::made::Made;
use couloir::doctor::{Disk, Status};

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
