//! `couloir tune`: find the split of each kernel, and show the search.

use std::path::Path;

use super::{Args, Command, Console, flags};
use crate::energy;
use crate::flow::case::Case;
use crate::flow::simulation::Simulation;
use crate::report::progress::Progress;
use crate::report::svg::{Chart, Series, Style};
use crate::report::table::{columns, joules, seconds};
use crate::report::write::ensure_writable;
use crate::split::curve::Curve;
use crate::split::tuner::{Objective, Tuner};
use crate::{Error, Result};

/// Steps after which a search that has not ended is cut short.
const STEPS_MAX: usize = 2000;

pub(super) const COMMAND: Command = Command {
    name: "tune",
    operand: Some("CASE.toml"),
    about: "Search the best split of each kernel, and draw the curves",
    flags: &[
        flags::SET,
        flags::STEPS,
        flags::DEVICE,
        flags::MEMORY,
        flags::THREADS,
        flags::PRECISION,
        flags::OBJECTIVE,
        flags::METER,
        flags::METER_COLUMN,
        flags::METER_UNIT,
        flags::OUT,
        flags::QUIET,
    ],
    call,
};

fn call(args: &Args, console: &mut Console) -> Result<()> {
    let mut case = Case::read(args.operand(), &args.overrides()?)?;
    let folder = case.output.directory.clone();
    ensure_writable(&folder)?;
    // The search ends the run, not the simulated time.
    case.time.end_s = f64::INFINITY;
    case.time.steps = Some(
        case.time
            .steps
            .filter(|_| args.has(&flags::STEPS))
            .unwrap_or(STEPS_MAX),
    );
    let (source, notes) = energy::open(&case.energy_context())?;
    let mut sim = Simulation::open_untuned(case, &source)?;
    if sim.engine.objective() != Objective::Time {
        notes.iter().for_each(|note| log::info!("{note}"));
    }
    for note in &sim.engine.node.notes {
        log::info!("{note}");
    }
    let Some(device) = &sim.engine.device_node().device else {
        return Err(Error::failure(
            "there is no device to share work with, so there is no split to tune",
            "see `couloir devices`",
        ));
    };
    console.line(format!(
        "{}: {} ({}) beside {} CPU thread(s)",
        sim.case.name,
        device.info.name,
        device.memory.name(),
        sim.engine.node.pool.threads()
    ))?;
    let progress = Progress::new(console.terminal);
    while !sim.finished() && sim.engine.is_tuning(&sim.stepper.sites()) {
        sim.advance()?;
        let sites = sim.stepper.sites();
        let open = sites.iter().filter(|s| s.is_tuning()).count();
        let done = 1.0 - open as f64 / sites.len() as f64;
        progress.set(done, || {
            format!("step {}: {open} of {} sites open", sim.step, sites.len())
        });
    }
    drop(progress);
    if let Err(e) = sim.remember_splits() {
        log::warn!("the splits found are not kept for the next run: {e}");
    }
    if let Some(joint) = sim.engine.joint_tuner() {
        console.line("the device has memory of its own: kernels share one cut, tuned by whole steps, since cuts of their own would copy vectors between them")?;
        let one = Found {
            label: "whole step",
            kernel: "all",
            formula: "a time step",
            rows: sim.mesh.cells(),
            tuner: &joint,
        };
        return show(&[one], &folder, console);
    }
    let sites = sim.stepper.sites();
    let called: Vec<Found> = sites
        .iter()
        .filter(|s| s.stats.calls > 0)
        .map(|s| Found {
            label: &s.label,
            kernel: s.name,
            formula: s.formula,
            rows: s.rows,
            tuner: s.tuner(),
        })
        .collect();
    show(&called, &folder, console)
}

/// A search that is to be shown.
struct Found<'a> {
    label: &'a str,
    kernel: &'a str,
    formula: &'a str,
    rows: usize,
    tuner: &'a Tuner,
}

/// The table, the points visited, and the curves.
fn show(found: &[Found], folder: &Path, console: &mut Console) -> Result<()> {
    console.line(table(found))?;
    for f in found {
        console.line(visited(f))?;
        let name = format!("tune_{}.svg", f.label.replace(' ', "_"));
        chart(f).write(&folder.join(name))?;
    }
    console.line(format!("curves: {}/tune_*.svg", folder.display()))
}

fn table(found: &[Found]) -> String {
    let head = [
        "site",
        "kernel",
        "rows",
        "points",
        "best split",
        "CPU alone",
        "device alone",
        "settled",
        "speed-up",
        "state",
    ];
    let shown = |t: &Tuner, cost: Option<f64>| {
        cost.map_or_else(|| "n/a".to_string(), |cost| cost_text(t.objective(), cost))
    };
    let rows: Vec<_> = found
        .iter()
        .map(|s| {
            let t = s.tuner;
            [
                s.label.to_string(),
                s.kernel.to_string(),
                s.rows.to_string(),
                t.visited().len().to_string(),
                format!("{:.3}", t.ratio()),
                shown(t, t.host_alone()),
                shown(t, t.device_alone()),
                shown(t, t.settled()),
                t.speed_up()
                    .map_or_else(|| "n/a".to_string(), |x| format!("{x:.2}")),
                if t.tuning() { "open" } else { "settled" }.to_string(),
            ]
        })
        .collect();
    columns(&head, &rows)
}

/// A cost in the unit of its objective.
fn cost_text(objective: Objective, cost: f64) -> String {
    match objective {
        Objective::Time => seconds(cost),
        Objective::Energy(_) => joules(Some(cost)),
        Objective::Edp(_) => format!("{cost:.2e} J s"),
    }
}

/// The points of the search, in the order of their ratio.
fn visited(f: &Found) -> String {
    let points: Vec<String> = f
        .tuner
        .visited()
        .iter()
        .map(|(ratio, cost)| format!("{ratio:.3}: {}", cost_text(f.tuner.objective(), *cost)))
        .collect();
    format!("{} visited {}", f.label, points.join(", "))
}

fn chart(f: &Found) -> Chart {
    let curve = Curve::new(f.tuner);
    let micro = |points: &[(f64, f64)]| points.iter().map(|&(r, s)| (r, s * 1e6)).collect();
    Chart {
        title: format!("{}: {}", f.label, f.formula),
        x_label: "share of the rows on the device".to_string(),
        y_label: match f.tuner.objective() {
            Objective::Time => "time of a call, us",
            Objective::Energy(_) => "energy of a call, uJ",
            Objective::Edp(_) => "energy-delay product of a call, uJ s",
        }
        .to_string(),
        series: vec![
            Series {
                name: "measured, both sides at once".to_string(),
                points: micro(&curve.measured),
                style: Style::Points,
            },
            Series {
                name: "from the two sides alone".to_string(),
                points: micro(&curve.ideal),
                style: Style::Dashed,
            },
        ],
    }
}
