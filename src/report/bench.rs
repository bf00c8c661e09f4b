//! The report of `couloir bench`: table and JSON.

use std::path::Path;

use serde::Serialize;

use super::json::DeviceReport;
use super::table::{columns, joules, seconds};
use super::write::write_file;
use crate::Result;
use crate::bench::result::{BenchResult, Report, TuningResult};
use crate::split::Roofs;

#[derive(Serialize)]
struct File<'a> {
    machine: Machine<'a>,
    results: &'a [BenchResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tuning: &'a [TuningResult],
}

/// The machine, with the roofs of the widest place measured: split, else device, else CPU.
#[derive(Serialize)]
struct Machine<'a> {
    bandwidth: Bandwidth,
    threads: usize,
    device: &'a DeviceReport,
}

/// GB/s.
#[derive(Serialize)]
struct Bandwidth {
    read: f64,
    copy: f64,
    triad: f64,
    axpy: f64,
}

impl Bandwidth {
    fn of(roofs: &Roofs) -> Self {
        Self {
            read: roofs.read_gb_s,
            copy: roofs.copy_gb_s,
            triad: roofs.triad_gb_s,
            axpy: roofs.axpy_gb_s,
        }
    }
}

/// Writes the report as JSON.
///
/// # Errors
/// As [`write_file`].
pub fn write(report: &Report, device: &DeviceReport, path: &Path) -> Result<()> {
    let widest = report.roofs.last().map_or(Roofs::default(), |(_, r)| *r);
    let file = File {
        machine: Machine {
            bandwidth: Bandwidth::of(&widest),
            threads: report.threads,
            device,
        },
        results: &report.results,
        tuning: &report.tuning,
    };
    write_file(path, |out| {
        serde_json::to_writer_pretty(&mut *out, &file)?;
        writeln!(out)
    })
}

/// The report in words.
pub fn table(report: &Report) -> String {
    let mut parts = vec![roofs(report), results(report)];
    let ups = speed_ups(report);
    if !ups.is_empty() {
        parts.push(ups.join("\n"));
    }
    if !report.tuning.is_empty() {
        parts.push(tuning(report));
    }
    if !report.notes.is_empty() {
        parts.push(report.notes.join("\n"));
    }
    parts.join("\n\n")
}

fn roofs(report: &Report) -> String {
    let rate = |x: f64| format!("{x:.1}");
    let rows: Vec<_> = (report.roofs.iter())
        .map(|(place, r)| {
            let [read, copy, triad, axpy] = r.rates().map(rate);
            [(*place).to_owned(), read, copy, triad, axpy]
        })
        .collect();
    columns(&["roofs, GB/s", "read", "copy", "triad", "axpy"], &rows)
}

fn results(report: &Report) -> String {
    let head = [
        "bench", "matrix", "where", "format", "split", "median", "min", "GFLOP/s", "GB/s",
        "roofline", "energy", "verified",
    ];
    let rows: Vec<_> = (report.results.iter())
        .map(|r| {
            [
                r.kernel.to_owned(),
                r.matrix.clone(),
                r.place.to_owned(),
                r.format.unwrap_or("n/a").to_owned(),
                format!("{:.3}", r.split_ratio),
                seconds(r.seconds_median),
                seconds(r.seconds_min),
                format!("{:.3}", r.gflop_per_s),
                format!("{:.2}", r.gb_per_s),
                format!("{:.1} %", 100.0 * r.roofline_fraction),
                joules(r.joules),
                if r.verified { "yes" } else { "NO" }.to_owned(),
            ]
        })
        .collect();
    columns(&head, &rows)
}

/// Split beside the better side alone, and times per row of what iterates.
fn speed_ups(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for r in &report.results {
        if r.unit != "call" {
            let per_row = 1e9 * r.seconds_median / r.rows as f64;
            lines.push(format!(
                "{} on {}: {} per {}, {per_row:.2} ns per row and {}",
                r.kernel,
                r.place,
                seconds(r.seconds_median),
                r.unit,
                r.unit
            ));
        }
        if r.place != "split" {
            continue;
        }
        let of = |place: &str| {
            let mut all = report.results.iter();
            all.find(|o| o.kernel == r.kernel && o.place == place)
                .map(|o| o.seconds_median)
        };
        let (Some(cpu_s), Some(device_s)) = (of("cpu"), of("device")) else {
            continue;
        };
        let better = if cpu_s <= device_s { "CPU" } else { "device" };
        // The two sides' rates added: what a split without any loss would reach.
        let ideal_s = 1.0 / (1.0 / cpu_s + 1.0 / device_s);
        lines.push(format!(
            "{}: split is {:.2} times as fast as the {better} alone; {:.2} would be both rates added",
            r.kernel,
            cpu_s.min(device_s) / r.seconds_median,
            cpu_s.min(device_s) / ideal_s
        ));
    }
    lines
}

fn tuning(report: &Report) -> String {
    let head = [
        "search", "cuts", "tried", "scanned", "found", "best", "excess", "cost",
    ];
    let rows: Vec<_> = (report.tuning.iter())
        .map(|t| {
            [
                t.kernel.to_owned(),
                t.cuts.to_string(),
                format!(
                    "{} ({:.1} %)",
                    t.evaluations,
                    100.0 * t.evaluations as f64 / t.cuts as f64
                ),
                t.scanned.to_string(),
                format!("{:.3}", t.split_ratio),
                format!("{:.3}", t.best_ratio),
                format!("{:+.1} %", 100.0 * t.excess),
                seconds(t.search_s),
            ]
        })
        .collect();
    columns(&head, &rows)
}
