//! `couloir scale`: how the kernels and the step scale over ranks.

mod cubes;

use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::Instant;

use self::cubes::{cube, cubes};
use super::ranks::Ranks;
use super::{Args, Command, Console, flags, predict};
use crate::cluster::launcher;
use crate::flow::case::Case;
use crate::flow::scaling::{Entry, Scaling, Steps, take_turns};
use crate::report::scaling::{ScalingReport, line, series};
use crate::report::write::{ensure_writable, write_file};
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "scale",
    operand: Some("CASE.toml|ROWS"),
    about: "Measure strong and weak scaling over ranks, and how much of the exchange is hidden",
    flags: &[
        flags::RANKS,
        flags::SERIES,
        flags::APART,
        flags::LAUNCHER,
        flags::NETWORK,
        flags::STEPS,
        flags::ITERATIONS,
        flags::SET,
        flags::SPLIT,
        flags::DEVICE,
        flags::THREADS,
        flags::OUT,
        flags::JSON,
        flags::WORKER,
        flags::QUIET,
    ],
    call,
};

/// Pressure iterations of a step of boxes, as of a run of HPCG.
const ITERATIONS: usize = 50;

fn call(args: &Args, console: &mut Console) -> Result<()> {
    if let Some(file) = args.path(&flags::WORKER) {
        return work(args, file);
    }
    let counts = counts(args)?;
    check(args)?;
    let folder = args.path(&flags::OUT).unwrap_or(Path::new("out/scale"));
    ensure_writable(folder)?;
    let json = folder.join("scale.json");
    let json = args.path(&flags::JSON).unwrap_or(&json);
    let operand = args.operand().display().to_string();
    let mut report = ScalingReport::default();
    let [weak, strong] = kinds(args)?;
    if weak {
        report.weak = series(launch(args, &operand, &counts, folder)?);
        // What is cut off later has left this.
        report.write(json)?;
    }
    if strong {
        report.strong = match (rows(args), &report.weak[..]) {
            // The largest of both kinds is the same.
            (Some(_), [one]) if !one.measured.apart => series(vec![one.measured.clone()]),
            (Some(rows), _) => {
                let most = counts.iter().copied().max().unwrap_or(1);
                series(launch(args, &format!("{rows}x{most}"), &counts, folder)?)
            }
            (None, _) => series(launch(args, &operand, &counts, folder)?),
        };
    }
    report.write(json)?;
    console.line(report.table())?;
    for (name, chart) in report.charts() {
        chart.write(&folder.join(format!("{name}.svg")))?;
    }
    Ok(())
}

/// Whether weak and strong scaling are asked for.
fn kinds(args: &Args) -> Result<[bool; 2]> {
    let boxes = rows(args).is_some();
    match args.text(&flags::SERIES)? {
        None => Ok([boxes, true]),
        Some("weak") if boxes => Ok([true, false]),
        Some("strong") => Ok([false, true]),
        Some(text) => Err(Error::input(
            format!("--series {text}"),
            match text {
                "weak" => "a case has as many cells on any number of ranks",
                _ => "there is no such series",
            },
            "name strong; or, of a number of rows in the place of a case, weak",
        )),
    }
}

/// What is wrong with the input is said here, once, and not by ranks.
fn check(args: &Args) -> Result<()> {
    entries(args)?;
    iterations(args)?;
    let [weak, _] = kinds(args)?;
    if args.has(&flags::APART) && !weak {
        return Err(Error::input(
            "--apart",
            "ranks that have nothing to do with each other belong to weak scaling",
            "name a number of rows in the place of a case, and no --series strong",
        ));
    }
    match args.text(&flags::NETWORK)? {
        Some(name) if name != "this" => predict::named(name).map(|_| ()),
        _ => Ok(()),
    }
}

/// The operand as rows per rank.
fn rows(args: &Args) -> Option<usize> {
    args.operand().to_str()?.parse().ok()
}

fn counts(args: &Args) -> Result<Vec<usize>> {
    let text = args.path(&flags::RANKS).unwrap_or(Path::new("1,2"));
    let text = text.to_string_lossy();
    let counts: Option<Vec<usize>> = text
        .split(',')
        .map(|n| n.trim().parse().ok().filter(|n| (1..=65536).contains(n)))
        .collect();
    counts.ok_or_else(|| {
        Error::input(
            format!("--ranks {text}"),
            "this is no list of numbers of ranks",
            "give some such as 1,2,4",
        )
    })
}

/// Measures `operand` on so many ranks each, in turns.
fn launch(args: &Args, operand: &str, counts: &[usize], folder: &Path) -> Result<Vec<Scaling>> {
    let list: Vec<String> = counts.iter().map(usize::to_string).collect();
    let list = list.join(",");
    let ranks = counts.iter().copied().max().unwrap_or(1);
    log::info!("{operand} on {list} rank(s), in turns ...");
    let begun = Instant::now();
    let launcher = match args.path(&flags::LAUNCHER) {
        Some(named) => named.to_string_lossy().into_owned(),
        None => launcher::launcher().to_owned(),
    };
    let mut words = launcher.split_whitespace();
    let program = words.next().unwrap_or_default();
    let own = std::env::current_exe().map_err(|e| {
        Error::failure(
            format!("this program cannot find itself ({e})"),
            "report this",
        )
    })?;
    let file = folder.join(format!(".scale-{}.json", std::process::id()));
    let mut command = Process::new(program);
    command
        .args(words)
        .args(["-n", &ranks.to_string()])
        .arg(own);
    command.args(["scale", operand, "--ranks", &list, "--worker"]);
    command.arg(&file);
    for flag in [
        flags::SPLIT,
        flags::DEVICE,
        flags::THREADS,
        flags::STEPS,
        flags::ITERATIONS,
        flags::NETWORK,
    ] {
        if let Some(value) = args.path(&flag) {
            command.arg(format!("--{}", flag.name)).arg(value);
        }
    }
    if args.has(&flags::APART) {
        command.arg("--apart");
    }
    for value in args.all(&flags::SET) {
        command.arg("--set").arg(value);
    }
    let status = command.stdin(Stdio::null()).status().map_err(|e| {
        Error::input(
            format!("--launcher {launcher}"),
            format!("{program} does not start ({e})"),
            "install an MPI (Debian: openmpi-bin), or name its launcher",
        )
    })?;
    let text = std::fs::read(&file);
    let _ = std::fs::remove_file(&file);
    let result: Option<Vec<Scaling>> = text.ok().and_then(|t| serde_json::from_slice(&t).ok());
    match (status.success(), result) {
        (true, Some(measured)) => {
            measured.iter().for_each(|m| log::info!("{}", line(m)));
            log::info!("took {:.1} s", begun.elapsed().as_secs_f64());
            Ok(measured)
        }
        _ => Err(Error::failure(
            format!("the measurement on {ranks} rank(s) failed"),
            format!(
                "see above; try `{launcher} -n {ranks} hostname`; Open MPI wants --launcher 'mpirun \
                 --oversubscribe' for more ranks than cores"
            ),
        )),
    }
}

/// One rank of a measurement; the first writes the result to `file`.
fn work(args: &Args, file: &Path) -> Result<()> {
    let ranks = Ranks::open()?;
    log::set_max_level(log::LevelFilter::Warn);
    let result = entries(args).and_then(|(entries, count)| {
        for entry in &entries {
            ranks.same(&entry.case)?;
        }
        let iterations = iterations(args)?;
        let steps = Steps { count, iterations };
        if let Some(name) = args.text(&flags::NETWORK)?.filter(|&name| name != "this") {
            ranks.comm.pretend(Some(predict::network(name, &ranks)?));
        }
        let scaling = take_turns(&entries, &ranks.comm, &ranks.place, steps)?;
        if !ranks.comm.leads() {
            return Ok(());
        }
        write_file(file, |out| {
            serde_json::to_writer(&mut *out, &scaling)?;
            writeln!(out)
        })
    });
    result.map_err(|e| ranks.comm.sign(e))
}

/// The cases to measure, each on its number of ranks, and the number of time steps. Of a number of
/// rows, each rank has as many; also, where that is asked for, with nothing to do with the others.
fn entries(args: &Args) -> Result<(Vec<Entry>, usize)> {
    let (mut entries, mut steps) = (Vec::new(), 0);
    for ranks in counts(args)? {
        let operand = match rows(args) {
            Some(rows) => format!("{rows}x{ranks}"),
            None => args.operand().display().to_string(),
        };
        let (case, count) = case_of(args, &operand)?;
        let apart = false;
        entries.push(Entry { case, ranks, apart });
        steps = count;
        if let Some(rows) = rows(args).filter(|_| ranks > 1 && args.has(&flags::APART)) {
            let (case, _) = case_of(args, &format!("{rows}x1"))?;
            let apart = true;
            entries.push(Entry { case, ranks, apart });
        }
    }
    Ok((entries, steps))
}

/// The case to measure, and the number of time steps.
pub(super) fn case(args: &Args) -> Result<(Case, usize)> {
    case_of(args, &args.operand().to_string_lossy())
}

/// As [`case`], of the file or `ROWSxCUBES` that `operand` names.
fn case_of(args: &Args, operand: &str) -> Result<(Case, usize)> {
    let mut overrides = args.overrides()?;
    overrides.retain(|o| !o.sets("time.steps"));
    let steps = match args.text(&flags::STEPS)? {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            Error::input(
                format!("--steps {text}"),
                "this is no number of steps",
                "give one such as 3",
            )
        })?,
    };
    let mut case = match cubes(operand) {
        Some((rows, layers)) => cube(rows, layers, &overrides)?,
        None => Case::read(Path::new(operand), &overrides)?,
    };
    case.time.end_s = f64::INFINITY;
    case.time.steps = None;
    Ok((case, steps))
}

/// Pressure iterations of each step, where that is no matter of the tolerance.
fn iterations(args: &Args) -> Result<Option<usize>> {
    match args.text(&flags::ITERATIONS)? {
        None => {
            let boxes = rows(args).is_some() || cubes(&args.operand().to_string_lossy()).is_some();
            Ok(boxes.then_some(ITERATIONS))
        }
        Some(text) => match text.parse() {
            Ok(n @ 1..) => Ok(Some(n)),
            _ => Err(Error::input(
                format!("--iterations {text}"),
                "this is no number of iterations",
                "give one such as 50",
            )),
        },
    }
}
