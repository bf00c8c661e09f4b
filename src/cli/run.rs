//! `couloir run`: simulate a case.

mod closing;
mod output;
mod together;

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::ranks::Ranks;
use super::{Args, Command, Console, flags};
use crate::board::Board;
use crate::energy::{self, Context, Ledger, Nameplate, Source};
use crate::flow::case::Case;
use crate::flow::simulation::{Simulation, StepReport};
use crate::node::Tree;
use crate::node::climate::Climate;
use crate::report::log::StepLine;
use crate::report::progress::Progress;
use crate::report::table;
use crate::report::write::ensure_writable;
use crate::split::{Bandwidth, Precision};
use crate::{Error, Result};

use closing::Account;
use output::Output;

pub(super) const COMMAND: Command = Command {
    name: "run",
    operand: Some("CASE.toml"),
    about: "Simulate a case, and say what a step costs",
    flags: &[
        flags::SET,
        flags::STEPS,
        flags::SPLIT,
        flags::DEVICE,
        flags::MEMORY,
        flags::THREADS,
        flags::BOARD,
        flags::PRECISION,
        flags::OBJECTIVE,
        flags::METER,
        flags::METER_COLUMN,
        flags::METER_UNIT,
        flags::IDLE_SECONDS,
        flags::OVERLAP,
        flags::OUT,
        flags::JSON,
        flags::QUIET,
    ],
    call,
};

fn call(args: &Args, console: &mut Console) -> Result<()> {
    let ranks = Ranks::open()?;
    simulate(args, console, &ranks).map_err(|e| ranks.comm.sign(e))
}

fn simulate(args: &Args, console: &mut Console, ranks: &Ranks) -> Result<()> {
    let leads = ranks.comm.leads();
    let case = Case::read(args.operand(), &args.overrides()?)?;
    ranks.same(&case)?;
    let json = args.path(&flags::JSON).filter(|_| leads);
    // What would spoil the end of a long run is found at its beginning.
    if leads {
        ensure_writable(&case.output.directory)?;
    }
    if let Some(folder) = json.and_then(folder_of) {
        ensure_writable(folder)?;
    }
    // Said before anything that takes time.
    log::info!(
        "couloir {}: {}",
        env!("CARGO_PKG_VERSION"),
        case.file.display()
    );
    let mut output = Output::new(&case);
    let board = Board::open(&case.node.board, &Tree::at("/"))?;
    let context = Context {
        nameplate: Nameplate::of(board.as_ref(), case.node.nameplate_w),
        ..case.energy_context()
    };
    // One rank of a machine reads its meters.
    let (source, notes) = match ranks.place.leads() {
        true => energy::open(&context)?,
        false => (energy::none(), Vec::new()),
    };
    let idle_w = idle(&source, &context, case.energy.idle_s);
    // No rank begins its work while another one's machine is to be idle.
    ranks.comm.barrier()?;
    let mut sim = Simulation::open_on(case, &ranks.comm, Some(&ranks.place), Some(&source))?;
    for line in introduction(&sim, board.as_ref()) {
        log::info!("{line}");
    }
    log::info!("{}", roof(&sim.bandwidth, board.as_ref()));
    for note in notes {
        log::info!("{note}");
    }
    output.initial(&sim)?;
    ranks.watch(&sim.case)?;
    let progress = Progress::new(console.terminal && leads);
    let spent = ranks.comm.spent();
    let mut account = steps(&mut sim, &source, &mut output, &progress, ranks)?;
    drop(progress);
    output.last(&sim)?;
    // One rank of a machine keeps the splits: they share the file.
    if ranks.place.leads()
        && let Err(e) = sim.remember_splits()
    {
        log::warn!("the splits found are not kept for the next run: {e}");
    }
    account.idle_w = idle_w;
    let mut report = account.close(&sim, &source, board.as_ref());
    together::join(&mut report, &sim, ranks, spent)?;
    if leads {
        console.line(table::closing(&report))?;
    }
    if source.measured() {
        let (samples, share) = (source.cost().samples, source.sampling_share());
        log::info!(
            "energy: {samples} samples took {:.3} % of one core",
            100.0 * share
        );
    }
    if let Some(file) = json {
        report.write(file)?;
    }
    for file in output.files() {
        log::info!("wrote {}", file.display());
    }
    Ok(())
}

/// Power of the idle node, measured for `seconds` before anything else runs; what the board says
/// of it where power is an estimate.
fn idle(source: &Source, context: &Context, seconds: f64) -> Option<f64> {
    if !source.measured() {
        return context.nameplate.watts_idle;
    }
    if seconds > 0.0 {
        log::info!("energy: the idle node is measured for {seconds} s");
    }
    let watts = source.idle_w(seconds)?;
    log::info!("energy: idle {watts:.2} W");
    Some(watts)
}

/// The folder in which the file `path` is to be written; none for a device or a pipe.
fn folder_of(path: &Path) -> Option<&Path> {
    let special = std::fs::metadata(path).is_ok_and(|about| !about.is_file());
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Some(Path::new(".")),
        folder => folder,
    }
    .filter(|_| !special)
}

/// The time loop.
fn steps(
    sim: &mut Simulation,
    source: &Source,
    output: &mut Output,
    progress: &Progress,
    ranks: &Ranks,
) -> Result<Account> {
    let mut ledger = Ledger::new(sim.stepper.sites().iter().map(|s| s.label.clone()));
    let mut account = Account::new(sim);
    let mut climate = Climate::new(&Tree::at("/"));
    while !sim.finished() {
        ledger.begin_step(source.now_s());
        let start = Instant::now();
        let step = match sim.advance() {
            Ok(step) => step,
            Err(e) => return Err(output.diverged(sim, e)),
        };
        let wall_s = start.elapsed().as_secs_f64();
        account.step(sim, &step, wall_s, |site, seconds| {
            ledger.add(site, seconds)
        });
        let joules = ledger.end_step(source.now_s(), source);
        let joules = of_all(sim, joules, ranks.place.leads())?;
        let line = line(&step, wall_s, joules);
        progress.beside(|| log::info!("{line}"));
        let events = climate.look(Instant::now()).into_iter();
        let events = events.map(|e| format!("step {}: {e}", step.step));
        let messages = events.chain(source.take_messages()).chain(sim.retuned());
        for message in messages {
            progress.beside(|| log::info!("{message}"));
        }
        progress.set(sim.fraction_done(), || {
            format!("step {}  t = {:.4} s", step.step, step.time_s)
        });
        output.step(sim)?;
    }
    if let Some(message) = sim.rounded_off() {
        progress.beside(|| log::info!("{message}"));
    }
    account.energy = Some(ledger.totals(source));
    Ok(account)
}

/// Joules of all machines: those that one rank of each has metered.
fn of_all(sim: &Simulation, joules: Option<f64>, metered: bool) -> Result<Option<f64>> {
    let missing = f64::from(u8::from(metered && joules.is_none()));
    let mut sums = [joules.filter(|_| metered).unwrap_or(0.0), missing];
    sim.engine.comm().combine(&mut sums, &mut [])?;
    Ok((sums[1] == 0.0).then_some(sums[0]))
}

fn line(s: &StepReport, wall_s: f64, energy_j: Option<f64>) -> StepLine {
    StepLine {
        step: s.step,
        time_s: s.time_s,
        dt_s: s.dt_s,
        courant_mean: s.courant_mean,
        courant_max: s.courant_max,
        initial_residual: s.result.poisson.initial,
        final_residual: s.result.poisson.residual,
        iterations: s.result.poisson.iterations,
        continuity: s.dt_s * s.result.monitor.divergence_max,
        wall_s,
        energy_j,
    }
}

/// What the log says before the first step.
fn introduction(sim: &Simulation, board: Option<&Board>) -> Vec<String> {
    let node = sim.engine.device_node();
    let mut lines = vec![
        format!(
            "case {}: {} cells, {} faces, viscosity {} m2/s",
            sim.case.name, sim.whole.cells, sim.whole.faces, sim.case.fluid.viscosity
        ),
        format!("discretisation: {} ({})", sim.scheme.name(), sim.reason),
        match board {
            Some(board) => format!("board: {} ({})", board.profile.name, board.reason),
            None => "board: not known".to_owned(),
        },
    ];
    lines.extend(sim.notes.iter().cloned());
    lines.push(match &node.device {
        Some(d) => format!(
            "device: {} ({}, {}), memory {}, beside {} CPU thread(s)",
            d.info.name,
            d.info.kind,
            d.info.version,
            node.memory.name(),
            node.pool.threads()
        ),
        None => format!("device: none; {} CPU thread(s)", node.pool.threads()),
    });
    if sim.engine.precision() != Precision::Fp64 {
        lines.push(format!("precision: {}", sim.engine.precision().name()));
    }
    lines.extend(sim.engine.node.notes.iter().cloned());
    lines
}

fn roof(b: &Bandwidth, board: Option<&Board>) -> String {
    let measured = match b.device_gb_s {
        Some(d) => format!(
            "bandwidth (axpy, GB/s): CPU {:.1}, device {d:.1}, best together {:.1}",
            b.cpu_gb_s, b.node_gb_s
        ),
        None => format!("bandwidth (axpy, GB/s): CPU {:.1}", b.cpu_gb_s),
    };
    match board.and_then(|board| board.profile.peak_gb_s) {
        Some(peak) => {
            let share = 100.0 * b.node_gb_s / peak;
            format!("{measured}; {share:.0} % of the board's peak of {peak} GB/s")
        }
        None => measured,
    }
}

/// Puts the place of the last good field into the error of a diverged run.
fn with_last_good(e: Error, file: PathBuf) -> Error {
    match e {
        Error::Diverged {
            step,
            time_s,
            courant_max,
            ..
        } => Error::Diverged {
            step,
            time_s,
            courant_max,
            last_good: file,
        },
        other => other,
    }
}
