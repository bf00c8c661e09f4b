//! OpenCL: loader, drivers, devices.

use super::{board, content, device, finds, platform, scene};
use crate::made::Made;
use couloir::doctor::Status;

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

/// Seen where PoCL and a graphics card's driver are listed: two devices alone, one under mpirun.
#[test]
fn a_list_of_drivers_that_mpirun_cuts_is_found() {
    const TWO: &str = "/opt/own/libown.so:libpocl.so.2";
    let made = Made::new();
    made.write("opt/own/libown.so", "")
        .write("usr/lib/libpocl.so.2", "");
    let mut s = scene(&made);
    s.variable = |name| (name == "OCL_ICD_FILENAMES").then(|| TWO.to_owned());
    // These are drivers, too: no ICD file is missed. One process sees them all.
    content(&s, "icd");
    s.mpi = Some("Open MPI v4.1.4".to_owned());
    let parts = [
        "lists 2 drivers, of which mpirun may hand on only /opt/own/libown.so",
        "mpirun ... env OCL_ICD_FILENAMES=/opt/own/libown.so:libpocl.so.2 couloir",
        "etc/OpenCL/vendors",
    ];
    finds(&s, "icd", Status::Warning, &parts);
    // On a rank they are all there still: the remedy was taken.
    s.variable = |name| match name {
        "OCL_ICD_FILENAMES" => Some(TWO.to_owned()),
        "OMPI_COMM_WORLD_SIZE" => Some("2".to_owned()),
        _ => None,
    };
    content(&s, "icd");
    s.variable = |name| (name == "OCL_ICD_FILENAMES").then(|| "libpocl.so.2".to_owned());
    content(&s, "icd");
    s.variable = |name| (name == "OCL_ICD_FILENAMES").then(|| "/opt/gone.so".to_owned());
    let parts = [
        "OCL_ICD_FILENAMES names /opt/gone.so, which is nowhere",
        "take it out",
    ];
    finds(&s, "icd", Status::Warning, &parts);
}
