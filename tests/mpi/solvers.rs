//! Each way to solve for the pressure, with devices and without, gives the answer of one rank.

use crate::folder::Folder;
use crate::ranks::{fields, run};
use crate::same::{FSAI, THROUGH_FLOW, TIGHT, number, same_as};

/// Hexahedra, with an outlet, along a periodic direction of so many cells.
fn bricks(cells: usize) -> String {
    let shape = THROUGH_FLOW.replace(
        "shape = \"tetrahedra\", cells = [6, 4, 4]",
        "cells = [9, 5, N]",
    );
    shape.replace('N', &cells.to_string())
}

/// Rows of two colours leave half of them, whoever owns them, and so half of the iterations; an odd
/// ring has more colours.
#[test]
fn two_colours_are_those_of_all_ranks() {
    let ranks = [2, 3, 4, 7];
    same_as("two colours", &bricks(4), &ranks, &[FSAI]);
    same_as("three", &bricks(5), &[3], &[FSAI, "--overlap=off"]);
    let mixed = ["--precision=mixed", FSAI, "--overlap=off"];
    same_as("two colours, mixed", &bricks(4), &[4], &mixed);
    let folder = Folder::new();
    let case = folder.write("case.toml", &bricks(4).replace("steps = 20", "steps = 3"));
    let iterations = |n: usize, flags: &[&str]| {
        let args = [&[case.as_str()], TIGHT.as_slice(), flags].concat();
        let said = run(&folder, n, &args)?;
        assert_eq!(said.code, Some(0), "{n} ranks: {}{}", said.out, said.err);
        let report = folder.json("report.json");
        Some(number(&report["poisson"], "iterations_mean"))
    };
    let (Some(jacobi), Some(alone)) = (iterations(1, &[]), iterations(1, &[FSAI])) else {
        return;
    };
    assert!(alone < 0.6 * jacobi, "{alone} of {jacobi}");
    for n in ranks {
        let k = iterations(n, &[FSAI]).expect("MPI is here");
        assert!((k - alone).abs() <= 1.0, "{n} ranks: {k}, {alone}");
    }
}

/// Each preconditioner and precision, with the exchange hidden and not.
#[test]
fn every_pressure_solver() {
    for flags in [
        ["--set=poisson.preconditioner=fsai", "--overlap=on"],
        ["--set=poisson.preconditioner=fsai", "--overlap=off"],
        ["--set=poisson.preconditioner=auto", "--overlap=on"],
        ["--precision=mixed", "--overlap=on"],
        ["--precision=mixed", "--overlap=off"],
        ["--precision=mixed", "--set=poisson.preconditioner=fsai"],
    ] {
        same_as(&flags.join(" "), THROUGH_FLOW, &[3], &flags);
    }
}

/// The same with a part of each rank's rows, and with all of them, on a device.
#[test]
fn devices_beside_ranks() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_couloir"));
    let devices = crate::folder::said(command.arg("devices")).out;
    if !devices.lines().any(|l| l.starts_with("0 ")) {
        eprintln!("SKIPPED: no OpenCL device");
        return;
    }
    for flags in [
        ["--split=0.5", "--memory=zero-copy", "fsai"],
        ["--split=1", "--memory=discrete", "jacobi"],
    ] {
        let [split, memory, preconditioner] = flags;
        let preconditioner = format!("--set=poisson.preconditioner={preconditioner}");
        let flags = ["--device=0", split, memory, &preconditioner];
        let text = THROUGH_FLOW.replace("steps = 20", "steps = 4");
        same_as(&flags.join(" "), &text, &[2], &flags);
    }
    hidden_exchanges_change_no_bit();
}

/// Whatever the memory and the cut: inner rows are many enough for the device to take its share
/// while values travel.
fn hidden_exchanges_change_no_bit() {
    let text = THROUGH_FLOW
        .replace("cells = [6, 4, 4]", "cells = [12, 8, 8]")
        .replace("steps = 20", "steps = 2");
    // One folder for all: kernels are compiled once.
    let folder = Folder::new();
    let tetrahedra = folder.write("tetrahedra.toml", &text);
    let text = text.replace(
        "shape = \"tetrahedra\", cells = [12, 8, 8]",
        "cells = [24, 16, 16]",
    );
    let hexahedra = folder.write("hexahedra.toml", &text);
    let result = |case: &str, flags: &[&str]| {
        let said = run(&folder, 2, &[&[case, "--quiet"], flags].concat())?;
        assert_eq!(said.code, Some(0), "{flags:?}: {}{}", said.out, said.err);
        Some((fields(&folder), folder.json("report.json")))
    };
    let all = [
        ("svm", "0.5", "1"),
        ("zero-copy", "0.5", "2"),
        ("discrete", "0.5", "1"),
        ("discrete", "1", "1"),
        ("discrete", "1", "2"),
    ];
    for (case, preconditioner, ways) in [
        (&tetrahedra, "jacobi", &all[..]),
        (&tetrahedra, "fsai", &all[3..]),
        (&hexahedra, "fsai", &all[..]),
    ] {
        let preconditioner = format!("--set=poisson.preconditioner={preconditioner}");
        let flags = ["--device=none", "--overlap=off", &preconditioner];
        let Some((want, report)) = result(case, &flags) else {
            return;
        };
        let rows = number(&report, "cells") / 2.0;
        let iterations = number(&report["poisson"], "iterations_mean");
        for (memory, split, threads) in ways {
            let flags = [
                "--device=0",
                &format!("--memory={memory}"),
                &format!("--split={split}"),
                &format!("--threads={threads}"),
                // Messages before the product, for a change.
                if *threads == "2" {
                    "--overlap=off"
                } else {
                    "--overlap=on"
                },
                &preconditioner,
            ];
            let Some((got, report)) = result(case, &flags) else {
                return;
            };
            assert!(got == want, "{flags:?} changes bits");
            let copied = number(&report, "bytes_copied_per_step");
            if *memory != "discrete" {
                assert_eq!(copied, 0.0, "{flags:?}");
            } else if *split == "1" {
                // The device packs and places: of an iteration nothing is copied but messages and
                // seven scalars, of a step some 15 vectors as it begins.
                let sent = number(&report["cluster"]["sent_bytes"], "max");
                let most = 2.0 * sent + 64.0 * iterations + 200.0 * rows;
                assert!(copied < most, "{flags:?}: {copied} bytes of {most}");
            }
        }
    }
}
