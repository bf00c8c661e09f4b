//! Steps on more nodes, as a table, JSON and a chart (thesis figure 3.9).

use std::path::Path;

use serde::Serialize;

use super::svg::{Chart, Series, Style};
use super::table::{columns, seconds};
use super::write::write_file;
use crate::Result;
use crate::flow::prediction::Prediction;

/// Predictions over one network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Over {
    /// Its name.
    pub network: String,
    /// Latency of an exchange.
    pub latency_s: f64,
    /// Of a link.
    pub bandwidth_bytes_s: f64,
    /// A sum over all nodes, per doubling of their number.
    pub hop_s: f64,
    /// What an exchange takes from the processor itself.
    pub busy_s: f64,
    /// The same per byte.
    pub busy_per_byte_s: f64,
    /// By nodes.
    pub points: Vec<Prediction>,
}

/// Predictions of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictionReport {
    /// The case.
    pub case: String,
    /// Its cells.
    pub cells: usize,
    /// Pressure iterations of a step.
    pub iterations: f64,
    /// Processes that measured at the same time.
    pub measured_beside: usize,
    /// By network.
    pub networks: Vec<Over>,
}

impl PredictionReport {
    /// A table for each network.
    pub fn table(&self) -> String {
        let head = format!(
            "{}: {} cells, {:.1} pressure iterations per step; predicted",
            self.case, self.cells, self.iterations
        );
        let tables = self.networks.iter().map(table);
        let all: Vec<String> = std::iter::once(head).chain(tables).collect();
        all.join("\n\n")
    }

    /// Writes the report as JSON.
    ///
    /// # Errors
    /// As [`write_file`].
    pub fn write(&self, path: &Path) -> Result<()> {
        write_file(path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            writeln!(out)
        })
    }

    /// Parallel efficiency over nodes, a line for each network.
    pub fn chart(&self) -> Chart {
        let line = |over: &Over| Series {
            name: over.network.clone(),
            points: over
                .points
                .iter()
                .map(|p| (p.nodes as f64, p.efficiency))
                .collect(),
            style: Style::Line,
        };
        Chart {
            title: format!("{}: predicted parallel efficiency of a step", self.case),
            x_label: "nodes".to_owned(),
            y_label: "efficiency".to_owned(),
            series: self.networks.iter().map(line).collect(),
        }
    }
}

fn table(over: &Over) -> String {
    let head = [
        "nodes",
        "cells",
        "step",
        "measured",
        "kernels",
        "waits",
        "exchange",
        "sums",
        "hidden",
        "speed-up",
        "efficiency",
    ];
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    let row = |p: &Prediction| {
        [
            p.nodes.to_string(),
            p.cells.to_string(),
            seconds(p.step_s),
            p.measured_s.map_or("n/a".to_owned(), seconds),
            seconds(p.kernels_s),
            seconds(p.waits_s),
            seconds(p.exchange_s),
            seconds(p.sums_s),
            p.hidden_share.map_or("n/a".to_owned(), percent),
            format!("{:.2}", p.speedup),
            percent(p.efficiency),
        ]
    };
    let rows: Vec<_> = over.points.iter().map(row).collect();
    format!(
        "{}: {} + bytes / {:.4} GB/s, sums {} per doubling\n{}",
        over.network,
        seconds(over.latency_s),
        over.bandwidth_bytes_s / 1e9,
        seconds(over.hop_s),
        columns(&head, &rows)
    )
}
