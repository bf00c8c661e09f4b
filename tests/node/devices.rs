//! Nodes as they are found: without a loader, without a driver, with devices that cannot do what
//! is asked of them. A run goes on with the CPU wherever it was not told to use a device.

use std::process::{Command, Stdio};
use std::sync::Mutex;

use couloir::node::{BLOCK, Config, DeviceChoice, MemoryKind, Node, Pool, opencl, topology};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::folder::{Folder, refused, said};

const CUBE: [&str; 3] = ["cases/cube.toml", "--steps", "2"];

/// What the environment lacks, and what couloir says of it.
struct Lack {
    name: &'static str,
    set: Vec<(&'static str, String)>,
    says: &'static str,
    remedy: &'static str,
}

/// A library that is not one: the search for the loader ends at it.
fn no_loader(folder: &Folder) -> Lack {
    folder.write("libOpenCL.so.1", "not a library");
    let here = folder.path("").display().to_string();
    Lack {
        name: "no loader",
        set: vec![
            ("LD_LIBRARY_PATH", here),
            ("OPENCL_DYLIB_PATH", "/nonexistent/libOpenCL.so".into()),
        ],
        says: "no OpenCL loader",
        remedy: "ocl-icd-libopencl1",
    }
}

fn has_loader() -> bool {
    match opencl::devices() {
        Err(why) if why.contains("no OpenCL loader") => {
            eprintln!("SKIPPED: {why}");
            false
        }
        _ => true,
    }
}

fn check(folder: &Folder, lack: &Lack) {
    let with = |mut command: Command| {
        command.envs(lack.set.iter().cloned());
        said(&mut command)
    };
    let name = lack.name;
    let mut devices = Command::new(env!("CARGO_BIN_EXE_couloir"));
    devices.arg("devices").stdin(Stdio::null());
    let devices = with(devices);
    assert_eq!(devices.code, Some(0), "{name}: {}", devices.err);
    assert!(devices.out.contains("no OpenCL device"), "{}", devices.out);
    assert!(devices.out.contains(lack.says), "{name}: {}", devices.out);
    assert!(devices.out.contains(lack.remedy), "{name}: {}", devices.out);

    let run = with(folder.command(&CUBE));
    assert_eq!(run.code, Some(0), "{name}: {}", run.err);
    assert!(run.out.contains("device: none"), "{name}: {}", run.out);
    assert!(run.out.contains(lack.says), "{name}: {}", run.out);
    assert!(run.out.contains("on the CPU alone"), "{name}: {}", run.out);

    let asked = with(folder.command(&[&CUBE[..], &["--device", "0"]].concat()));
    let error = refused(asked, 2);
    assert!(error.contains("--device 0"), "{name}: {error}");
    assert!(error.contains(lack.says), "{name}: {error}");
    assert!(error.contains(lack.remedy), "{name}: {error}");
    assert!(error.contains("--device none"), "{name}: {error}");
}

#[test]
fn without_a_loader_the_cpu_goes_on() {
    let folder = Folder::new();
    check(&folder, &no_loader(&folder));
}

#[test]
fn without_a_driver_the_cpu_goes_on() {
    if !has_loader() {
        return;
    }
    let folder = Folder::new();
    let lack = Lack {
        name: "no driver",
        set: vec![("OCL_ICD_VENDORS", "/nonexistent-folder".into())],
        says: "an OpenCL loader but no driver",
        remedy: "pocl-opencl-icd",
    };
    check(&folder, &lack);
}

#[test]
fn a_platform_without_devices_is_no_crash() {
    let icd = "/etc/OpenCL/vendors/rusticl.icd";
    if !has_loader() || !std::path::Path::new(icd).exists() {
        eprintln!("SKIPPED: no rusticl here");
        return;
    }
    let folder = Folder::new();
    let lack = Lack {
        name: "no devices",
        // Rusticl drives nothing that is not named here.
        set: vec![
            ("OCL_ICD_VENDORS", icd.into()),
            ("RUSTICL_ENABLE", "none".into()),
        ],
        says: "1 OpenCL platform(s) but no device",
        remedy: "check the driver's own requirements",
    };
    check(&folder, &lack);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new();
    let refused = |more: &[&str]| folder.refused(&[&CUBE[..], more].concat(), 2);
    let error = refused(&["--device", "99"]);
    assert!(error.contains("--device 99"), "{error}");
    assert!(
        error.contains("numbered from 0") || !has_loader(),
        "{error}"
    );
    let error = refused(&["--device", "first"]);
    assert!(error.contains("first"), "{error}");
    let error = refused(&["--threads", "0"]);
    assert!(error.contains("--threads 0"), "{error}");
    assert!(error.contains("1 to 4096"), "{error}");
    let error = refused(&["--memory", "paper"]);
    assert!(error.contains("paper"), "{error}");
    for threads in [0, 4097] {
        let config = Config {
            device: DeviceChoice::None,
            threads: Some(threads),
            ..Config::default()
        };
        let error = Node::open(&config).map(|_| ()).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("--threads"), "{error}");
    }
}

/// Every device with every kind of memory that it does not offer.
#[test]
fn memory_that_a_device_lacks_is_refused() {
    let folder = Folder::new();
    // Rusticl's software device has no double precision, and in Mesa 22.3 no fine-grain SVM, which 24.0 has.
    let rusticl = |mut command: Command| said(command.env("RUSTICL_ENABLE", "llvmpipe"));
    let mut list = Command::new(env!("CARGO_BIN_EXE_couloir"));
    list.arg("devices").stdin(Stdio::null());
    let list = rusticl(list).out;
    let Some(line) = list.lines().find(|line| line.contains("rusticl")) else {
        eprintln!("SKIPPED: no device of rusticl among\n{list}");
        return;
    };
    let index = line.split_whitespace().next().unwrap();
    let asked = [&CUBE[..], &["--device", index]].concat();
    if line.split_whitespace().any(|word| word == "svm") {
        eprintln!("SKIPPED of memory that a device lacks: it has all\n{line}");
    } else {
        let svm = folder.command(&[&asked[..], &["--memory", "svm"]].concat());
        let error = refused(rusticl(svm), 2);
        assert!(error.contains("--memory svm"), "{error}");
        assert!(error.contains("cannot share buffers"), "{error}");
        assert!(error.contains("use auto, which is zero-copy"), "{error}");
    }

    let sides =
        ["xmin", "xmax", "ymin", "zmin", "zmax"].map(|s| format!("{s} = {{ type = \"wall\" }}\n"));
    let small = format!(
        "mesh = {{ box = {{ cells = [6, 5, 4] }} }}\nfluid = {{ viscosity = 0.1 }}\n\
         time = {{ dt = 0.01, steps = 2 }}\n[boundary]\n\
         ymax = {{ type = \"wall\", velocity = [1, 0, 0] }}\n{}",
        sides.concat()
    );
    let small = folder.write("small.toml", &small);
    let half = [&small, "--device", index, "--split", "0.5"];
    // With the user's cache: rusticl compiles the kernels for a minute.
    let mut command = folder.command(&half);
    command.env_remove("XDG_CACHE_HOME");
    let mixed = rusticl(command);
    assert_eq!(mixed.code, Some(0), "{}", mixed.err);
    for part in ["precision: mixed", "no double precision: it shares"] {
        assert!(mixed.out.contains(part), "{part}: {}", mixed.out);
    }

    let asked = [&asked[..], &["--precision", "fp64"]].concat();
    let error = refused(rusticl(folder.command(&asked)), 2);
    assert!(error.contains(&format!("--device {index}")), "{error}");
    assert!(error.contains("has no double precision"), "{error}");
    assert!(error.contains("--precision mixed"), "{error}");

    let auto = rusticl(folder.command(&CUBE));
    assert_eq!(auto.code, Some(0), "{}", auto.err);
    assert!(auto.out.contains("is left out"), "{}", auto.out);
}

#[test]
fn only_what_is_offered_is_opened() {
    for info in opencl::devices().unwrap_or_default() {
        for memory in [MemoryKind::Svm, MemoryKind::ZeroCopy, MemoryKind::Host] {
            let config = Config {
                device: DeviceChoice::Index(info.index),
                memory: Some(memory),
                threads: Some(1),
                ..Config::default()
            };
            match Node::open(&config) {
                Ok(node) => {
                    assert!(info.offers(memory), "{info:?}");
                    assert_eq!(node.memory, memory);
                }
                Err(error) => {
                    assert!(!info.offers(memory), "{info:?}: {error}");
                    assert_eq!(error.exit_code(), 2);
                }
            }
        }
    }
}

fn affinity() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).expect("the affinity is readable");
    let cores = 0..CpuSet::count();
    cores.filter(|&c| set.is_set(c).unwrap()).collect()
}

fn affinities(pool: &Pool) -> Vec<Vec<usize>> {
    let found = Mutex::new(vec![Vec::new(); pool.threads()]);
    pool.run(&|t| found.lock().unwrap()[t] = affinity());
    found.into_inner().unwrap()
}

#[test]
fn threads_are_pinned_in_turn_and_the_caller_is_freed() {
    let cores = topology::allowed_cores();
    assert_eq!(affinity(), cores);
    for threads in 1..=cores.len() + 1 {
        let pool = Pool::new(threads, cores);
        for (t, found) in affinities(&pool).into_iter().enumerate() {
            assert_eq!(found, [cores[t % cores.len()]], "thread {t} of {threads}");
        }
        drop(pool);
        assert_eq!(affinity(), cores);
    }
}

#[test]
fn device_and_threads_have_cores_of_their_own() {
    let cores = topology::allowed_cores();
    let node = Node::open(&Config::default()).unwrap();
    let taken = node
        .device
        .as_ref()
        .map_or(0, |d| d.info.host_cores(cores.len()));
    assert_eq!(node.pool.threads(), (cores.len() - taken).max(1));
    for (t, found) in affinities(&node.pool).into_iter().enumerate() {
        assert_eq!(found, [cores[t]], "thread {t}");
    }
}

#[test]
fn static_parts_cover_all_blocks_once() {
    for threads in 1..=5 {
        let pool = Pool::new(threads, topology::allowed_cores());
        for (first, blocks) in [
            (0, 0),
            (0, 1),
            (3, 2),
            (7, 5),
            (1, 1000),
            (0, 10 * BLOCK + 1),
        ] {
            let range = first..first + blocks;
            let mut next = range.start;
            for t in 0..pool.threads() {
                let part = pool.part(t, range.clone());
                assert_eq!(part.start, next, "{threads} threads, {range:?}");
                let even = blocks / threads;
                assert!((even..=even + 1).contains(&part.len()), "{part:?}");
                next = part.end;
            }
            assert_eq!(next, range.end);
            let seen = Mutex::new(Vec::new());
            pool.run(&|t| seen.lock().unwrap().extend(pool.part(t, range.clone())));
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(range));
        }
    }
}
