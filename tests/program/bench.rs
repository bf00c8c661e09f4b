//! `couloir bench`: the contract of its JSON, verification at odd sizes, energy.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::folder::{Folder, Said, said};
use crate::run_energy::meter;

pub fn couloir(args: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_couloir"));
    command
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null());
    said(&mut command)
}

fn file(folder: &Folder, name: &str) -> String {
    folder.path(name).display().to_string()
}

/// Runs a bench with `--json`; its text and its JSON.
fn measured(folder: &Folder, args: &[&str]) -> (String, Value) {
    let json = file(folder, "bench.json");
    let said = couloir(&[args, &["--json", &json]].concat());
    assert_eq!(said.code, Some(0), "{args:?}: {}", said.err);
    (said.out, folder.json("bench.json"))
}

fn keys(value: &Value) -> String {
    let object = value.as_object().expect("an object");
    object
        .keys()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

fn has_device() -> bool {
    let found = couloir::node::opencl::devices().is_ok_and(|all| all.iter().any(|d| d.fp64));
    if !found {
        eprintln!("SKIPPED on devices: there is none");
    }
    found
}

#[test]
fn every_bench_is_verified_everywhere_and_keeps_the_contract() {
    let folder = Folder::new();
    let (text, json) = measured(&folder, &["bench", "--rows", "700"]);
    assert_eq!(keys(&json), "machine results");
    assert_eq!(keys(&json["machine"]), "bandwidth device threads");
    assert_eq!(keys(&json["machine"]["bandwidth"]), "axpy copy read triad");
    for roof in ["read", "copy", "triad", "axpy"] {
        let rate = json["machine"]["bandwidth"][roof].as_f64().unwrap();
        assert!(rate > 0.05, "{roof} {rate}");
    }
    let results = json["results"].as_array().unwrap();
    let places: &[&str] = match has_device() {
        true => &["cpu", "device", "split"],
        false => &["cpu"],
    };
    let mut expected = Vec::new();
    for kernel in [
        "spmv", "gspmv", "axpy", "dot", "pcg", "jacobi", "fsai", "step",
    ] {
        expected.extend(places.iter().map(|place| (kernel, *place)));
    }
    let found: Vec<(&str, &str)> = (results.iter())
        .map(|r| (r["kernel"].as_str().unwrap(), r["where"].as_str().unwrap()))
        .filter(|(kernel, _)| expected.iter().any(|(k, _)| k == kernel))
        .collect();
    assert_eq!(found, expected);
    for r in results {
        let names = "format gb_per_s gflop_per_s joules kernel matrix nnz precision \
                     roofline_fraction rows seconds_median seconds_min split_ratio threads \
                     uncertainty_fraction verified where";
        assert_eq!(keys(r), names);
        assert_eq!(r["verified"], true, "{r}");
        assert_eq!(r["precision"], "fp64");
        assert_eq!(r["rows"], 729, "{r}");
        let number = |key: &str| r[key].as_f64().unwrap();
        assert!(0.0 < number("seconds_min") && number("seconds_min") <= number("seconds_median"));
        assert!(number("gflop_per_s") > 0.0 && number("gb_per_s") > 0.0);
        assert!(number("roofline_fraction") > 0.0);
        match r["where"].as_str() {
            Some("cpu") => assert_eq!(r["split_ratio"], 0.0, "{r}"),
            Some("device") => {
                assert_eq!((&r["split_ratio"], &r["threads"]), (&1.0.into(), &0.into()))
            }
            _ => assert!((0.0..=1.0).contains(&number("split_ratio"))),
        }
        assert!(r["joules"].is_null() || number("joules") > 0.0);
    }
    // 12 nnz + 16 n bytes over the median time.
    let spmv = &results[0];
    assert_eq!(
        (&spmv["nnz"], &spmv["matrix"], &spmv["format"]),
        (&4617.into(), &"grid:9".into(), &"sell".into())
    );
    let bytes = spmv["gb_per_s"].as_f64().unwrap() * spmv["seconds_median"].as_f64().unwrap() * 1e9;
    assert!(
        (bytes - (12.0 * 4617.0 + 16.0 * 729.0)).abs() < 1.0,
        "{bytes}"
    );
    assert!(
        text.contains("roofs, GB/s") && text.contains("ns per row and iteration"),
        "{text}"
    );
}

#[test]
fn files_orders_formats_and_searches_are_measured() {
    let folder = Folder::new();
    // Rectangular, with empty rows; then symmetric, reordered, against a scan of all cuts.
    let wide = "%%MatrixMarket matrix coordinate pattern general\n5 300 4\n1 300\n1 7\n4 1\n3 2\n";
    let wide = folder.write("wide.mtx", wide);
    let args = [
        "bench", "--matrix", &wide, "--where", "cpu", "--format", "csr", "--flush",
    ];
    let (text, json) = measured(&folder, &args);
    for (at, format) in [(0, "csr"), (1, "sell")] {
        let r = &json["results"][at];
        let about = (&r["rows"], &r["nnz"], &r["format"], &r["verified"]);
        assert_eq!(about, (&5.into(), &4.into(), &format.into(), &true.into()));
    }
    assert_eq!(json["machine"]["device"]["kind"], "none");
    if has_device() {
        let args = [
            "bench",
            "spmv",
            "--matrix",
            "nodes:300",
            "--format",
            "csr",
            "--where",
            "all",
        ];
        let (_, json) = measured(&folder, &args);
        let found: Vec<_> = (json["results"].as_array().unwrap().iter())
            .map(|r| (&r["where"], &r["format"], &r["verified"], &r["split_ratio"]))
            .map(|r| format!("{r:?}").replace("String", "").replace("Number", ""))
            .collect();
        assert_eq!(
            found,
            [
                r#"(("cpu"), ("csr"), Bool(true), (0.0))"#,
                r#"(("device"), ("csr"), Bool(true), (1.0))"#
            ]
        );
    }
    assert!(
        text.contains("left out: ") && text.contains("needs a square matrix"),
        "{text}"
    );
    assert!(text.contains("caches are swept before each call"), "{text}");

    let made = file(&folder, "made.mtx");
    let args = [
        "bench",
        "dot",
        "--matrix",
        "nodes:3000",
        "--where",
        "cpu",
        "--write-matrix",
        &made,
    ];
    measured(&folder, &args);
    let mut args = vec!["bench", "spmv", "--matrix", &made, "--order", "rcm"];
    if has_device() {
        args.extend(["--where", "split", "--exhaustive"]);
    } else {
        args.extend(["--where", "cpu"]);
    }
    let (text, json) = measured(&folder, &args);
    assert!(text.contains("order rcm: spmv on"), "{text}");
    assert_eq!(json["results"][0]["verified"], true);
    if has_device() {
        assert_eq!(
            keys(&json["tuning"][0]),
            "best_ratio cuts evaluations excess kernel scanned search_s split_ratio"
        );
        assert_eq!(json["tuning"][0]["cuts"], json["tuning"][0]["scanned"]);
    }
}

#[test]
fn the_cells_of_a_mesh_are_a_matrix() {
    let folder = Folder::new();
    let mesh = "tests/data/meshes/cube_tet_8_22.msh";
    let binary = file(&folder, "cells.csr");
    let args = [
        "bench",
        "pcg",
        "--mesh",
        mesh,
        "--where",
        "cpu",
        "--write-matrix",
        &binary,
    ];
    let (_, json) = measured(&folder, &args);
    assert_eq!(json["results"][0]["verified"], true);
    let bytes = std::fs::read(&binary).unwrap();
    assert_eq!(&bytes[..8], b"CSR-1\n\0\0");
    let number = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
    let (rows, nnz) = (number(8), number(24));
    assert_eq!(
        (rows, nnz),
        (
            json["results"][0]["rows"].as_u64().unwrap(),
            json["results"][0]["nnz"].as_u64().unwrap()
        )
    );
    assert_eq!(bytes.len() as u64, 32 + 8 * (rows + 1) + 12 * nnz);
}

/// Calls of microseconds, far shorter than the sensor's interval: repeated until one's energy is
/// known.
#[test]
fn energy_of_short_calls_is_measured_to_two_percent() {
    let folder = Folder::new();
    // It sends 12500 in its second column.
    let address = meter(12.5e3);
    let (text, json) = measured(
        &folder,
        &[
            "bench",
            "axpy",
            "--rows",
            "20000",
            "--where",
            "cpu",
            "--energy",
            "--meter",
            &address,
            "--meter-column",
            "2",
            "--meter-unit",
            "mW",
        ],
    );
    let result = &json["results"][0];
    let number = |name: &str| {
        result[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name}: {result}"))
    };
    let fraction = number("uncertainty_fraction");
    assert!(fraction > 0.0 && fraction <= 0.02, "{result}");
    // The fastest call took less than the mean of those that were metered; what else the machine
    // does makes that longer.
    let least = 12.5 * number("seconds_min") * (1.0 - fraction);
    let joules = number("joules");
    assert!(joules >= least && joules < 100.0 * least, "{result}");
    assert!(text.contains(&address), "{text}");
}
