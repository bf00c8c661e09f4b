//! Runs of several boards side by side: time, power and energy of a step (thesis figure 3.10).

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::bars::{Bar, Bars, Panel};
use super::table::{ABSENT, columns, edp, joules, marked, number, seconds};
use super::write::write_file;
use crate::{Error, Result};

/// What a comparison reads of a report of `couloir run`; the rest is passed over.
#[derive(Clone, Debug, Deserialize)]
struct Run {
    case: String,
    cells: usize,
    ranks: usize,
    precision: String,
    discretisation: String,
    /// Reports of older versions have none.
    board: Option<Board>,
    device: Device,
    threads: usize,
    wall_per_step_s: f64,
    energy: Energy,
}

#[derive(Clone, Debug, Deserialize)]
struct Board {
    name: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Device {
    name: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Energy {
    source: String,
    measured: bool,
    joules_per_step: Option<f64>,
    watts_mean: Option<f64>,
}

/// Runs of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Name of the case.
    pub case: String,
    /// Whether figures are per step and cell, since the sizes differ; else they are per step.
    pub per_cell: bool,
    /// The runs, in the order given.
    pub runs: Vec<Row>,
    /// What a reader should know: other differences, estimates.
    pub notes: Vec<String>,
}

/// A run beside the first.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of its board; with its file where two are alike.
    pub name: String,
    /// File of its report.
    pub file: String,
    /// Device, and number of CPU threads.
    pub with: String,
    /// Number of MPI processes.
    pub ranks: usize,
    /// Number of cells.
    pub cells: usize,
    /// Wall time, s.
    pub time_s: f64,
    /// The same over that of the first run.
    pub time_ratio: f64,
    /// Mean power, W.
    pub watts: Option<f64>,
    /// Energy, J.
    pub joules: Option<f64>,
    /// The same over that of the first run.
    pub joules_ratio: Option<f64>,
    /// Energy times time, J s.
    pub edp_js: Option<f64>,
    /// Whether a sensor measured it; false for an estimate.
    pub measured: bool,
}

impl Comparison {
    /// Reads the reports.
    ///
    /// # Errors
    /// [`Error::Input`] for fewer than two files, for a file that is no report of `couloir run`,
    /// and for runs of different cases.
    pub fn read(files: &[&Path]) -> Result<Self> {
        if files.len() < 2 {
            let remedy = "give two or more files that `couloir run --json FILE` has written";
            return Err(Error::input(
                "couloir compare",
                "one run is no comparison",
                remedy,
            ));
        }
        let runs: Result<Vec<(String, Run)>> = files
            .iter()
            .map(|f| Ok((f.display().to_string(), run(f)?)))
            .collect();
        Self::of(runs?)
    }

    fn of(runs: Vec<(String, Run)>) -> Result<Self> {
        let (first_file, first) = &runs[0];
        if let Some((file, other)) = runs.iter().find(|(_, r)| r.case != first.case) {
            let what = format!(
                "this is a run of the case \"{}\", {first_file} of \"{}\"",
                other.case, first.case
            );
            return Err(Error::input(file, what, "compare runs of one case"));
        }
        let per_cell = runs.iter().any(|(_, r)| r.cells != first.cells);
        let mut notes = Vec::new();
        if per_cell {
            notes.push(format!(
                "{}: time and energy are per step and cell",
                differing("sizes", &runs, |r| format!("{} cells", r.cells)).unwrap_or_default()
            ));
        }
        notes.extend(differing("discretisations", &runs, |r| {
            r.discretisation.clone()
        }));
        notes.extend(differing("precisions", &runs, |r| r.precision.clone()));
        for (file, r) in &runs {
            if r.energy.joules_per_step.is_none() {
                notes.push(match r.energy.measured {
                    true => format!(
                        "{file}: {} did not deliver throughout the run",
                        r.energy.source
                    ),
                    false => format!("{file}: no energy was measured or estimated"),
                });
            } else if !r.energy.measured {
                notes.push(format!("{file}: ~ is an estimate: {}", r.energy.source));
            }
        }
        let rows: Vec<Row> = runs
            .iter()
            .map(|(file, r)| row(file, r, first, per_cell, &runs))
            .collect();
        Ok(Self {
            case: first.case.clone(),
            per_cell,
            runs: rows,
            notes,
        })
    }

    /// The comparison as a table, and its notes.
    pub fn table(&self) -> String {
        let head = [
            "run", "with", "ranks", "cells", "time", "ratio", "power", "energy", "ratio",
            "EDP, J s",
        ];
        let rows: Vec<_> = self.runs.iter().map(Row::cells).collect();
        let mut text = format!("{}: per {}\n\n", self.case, self.per());
        text += &columns(&head, &rows);
        for note in &self.notes {
            text += &format!("\n{note}");
        }
        text
    }

    /// Writes the comparison as JSON.
    ///
    /// # Errors
    /// As [`write_file`].
    pub fn write_json(&self, path: &Path) -> Result<()> {
        write_file(path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            writeln!(out)
        })
    }

    /// Writes bars of time and energy as SVG.
    ///
    /// # Errors
    /// As [`write_file`].
    pub fn write_svg(&self, path: &Path) -> Result<()> {
        let svg = self.bars().to_svg();
        write_file(path, |out| out.write_all(svg.as_bytes()))
    }

    fn bars(&self) -> Bars {
        let time = |r: &Row| Bar {
            value: Some(r.time_s),
            text: format!("{}, {}", seconds(r.time_s), times(Some(r.time_ratio))),
            hollow: false,
        };
        let energy = |r: &Row| Bar {
            value: r.joules,
            text: match r.joules {
                Some(_) => format!("{}, {}", r.energy(), times(r.joules_ratio)),
                None => ABSENT.to_owned(),
            },
            hollow: !r.measured,
        };
        Bars {
            title: format!("{}: time and energy per {}", self.case, self.per()),
            names: self.runs.iter().map(|r| r.name.clone()).collect(),
            panels: vec![
                Panel {
                    title: "time".to_owned(),
                    bars: self.runs.iter().map(time).collect(),
                },
                Panel {
                    title: "energy (hollow: an estimate)".to_owned(),
                    bars: self.runs.iter().map(energy).collect(),
                },
            ],
        }
    }

    fn per(&self) -> &'static str {
        match self.per_cell {
            true => "step and cell",
            false => "step",
        }
    }
}

impl Row {
    fn cells(&self) -> [String; 10] {
        let mark = |text: String| marked(text, self.measured);
        [
            self.name.clone(),
            self.with.clone(),
            self.ranks.to_string(),
            self.cells.to_string(),
            seconds(self.time_s),
            times(Some(self.time_ratio)),
            match self.watts {
                Some(watts) => mark(format!("{} W", number(Some(watts)))),
                None => ABSENT.to_owned(),
            },
            self.energy(),
            times(self.joules_ratio),
            mark(edp(self.edp_js)),
        ]
    }

    fn energy(&self) -> String {
        marked(joules(self.joules), self.measured)
    }
}

fn times(ratio: Option<f64>) -> String {
    match ratio {
        Some(ratio) => format!("{} x", number(Some(ratio))),
        None => ABSENT.to_owned(),
    }
}

fn row(file: &str, r: &Run, first: &Run, per_cell: bool, runs: &[(String, Run)]) -> Row {
    let size = |r: &Run| if per_cell { r.cells as f64 } else { 1.0 };
    let time = |r: &Run| r.wall_per_step_s / size(r);
    let energy = |r: &Run| r.energy.joules_per_step.map(|j| j / size(r));
    let board = |r: &Run| match &r.board {
        Some(board) => board.name.clone(),
        None => "unknown board".to_owned(),
    };
    let alike = runs.iter().filter(|(_, o)| board(o) == board(r)).count();
    Row {
        name: match alike {
            1 => board(r),
            _ => format!("{} ({file})", board(r)),
        },
        file: file.to_owned(),
        with: format!("{} + {} thread(s)", r.device.name, r.threads),
        ranks: r.ranks,
        cells: r.cells,
        time_s: time(r),
        time_ratio: time(r) / time(first),
        watts: r.energy.watts_mean,
        joules: energy(r),
        joules_ratio: energy(r).zip(energy(first)).map(|(a, b)| a / b),
        edp_js: energy(r).map(|j| j * time(r)),
        measured: r.energy.measured,
    }
}

/// A sentence on what differs between runs, if it does.
fn differing(what: &str, runs: &[(String, Run)], of: impl Fn(&Run) -> String) -> Option<String> {
    let first = of(&runs[0].1);
    let list = runs.iter().map(|(file, r)| format!("{} ({file})", of(r)));
    runs.iter()
        .any(|(_, r)| of(r) != first)
        .then(|| format!("different {what}: {}", list.collect::<Vec<_>>().join(", ")))
}

/// Reads a report and checks what is divided by.
fn run(path: &Path) -> Result<Run> {
    let place = path.display().to_string();
    let remedy = "give a file that `couloir run CASE.toml --json FILE` has written";
    let text = std::fs::read(path)
        .map_err(|e| Error::input(&place, format!("it cannot be read ({e})"), remedy))?;
    let wrong = |what: String| Error::input(&place, what, remedy);
    let run: Run = serde_json::from_slice(&text)
        .map_err(|e| wrong(format!("this is no report of a run ({e})")))?;
    let positive = |x: f64| x.is_finite() && x > 0.0;
    if run.cells == 0 || !positive(run.wall_per_step_s) {
        return Err(wrong("a run without cells or time".to_owned()));
    }
    let energy = [run.energy.joules_per_step, run.energy.watts_mean];
    if energy.into_iter().flatten().any(|x| !positive(x)) {
        return Err(wrong("a run whose energy is not above 0".to_owned()));
    }
    Ok(run)
}
