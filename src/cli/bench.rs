//! `couloir bench`: measure kernels and solvers.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{Args, Command, Console, flags};
use crate::bench::{self, Bench, Format, Options, Ordering, Origin, Side, matrices};
use crate::energy::external::External;
use crate::energy::{self, Context, Gauge};
use crate::input::nearest;
use crate::node::{Config, DeviceChoice, MemoryKind, NO_THREADS, THREADS};
use crate::report::bench as report;
use crate::report::json::DeviceReport;
use crate::report::write::write_file;
use crate::sparse::{Csr, matrix_market};
use crate::split::{Engine, Policy};
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "bench",
    operand: Some("[spmv|gspmv|axpy|dot|pcg|jacobi|fsai|step|all]"),
    about: "Measure kernels and solvers: on the CPU, on the device, and split",
    flags: &[
        flags::ROWS,
        flags::MESH,
        flags::MATRIX,
        flags::ORDER,
        flags::WHERE,
        flags::FORMAT,
        flags::FLUSH,
        flags::EXHAUSTIVE,
        flags::ENERGY,
        flags::METER,
        flags::METER_COLUMN,
        flags::METER_UNIT,
        flags::DEVICE,
        flags::MEMORY,
        flags::THREADS,
        flags::JSON,
        flags::WRITE_MATRIX,
        flags::QUIET,
    ],
    call,
};

/// Rows without a flag that says otherwise.
const ROWS: usize = 1_000_000;

fn call(args: &Args, console: &mut Console) -> Result<()> {
    let (benches, lenient) = benches(args.operand())?;
    let options = Options {
        benches,
        lenient,
        origin: origin(args)?,
        order: choice(
            args,
            &flags::ORDER,
            &Ordering::ALL,
            Ordering::name,
            Ordering::None,
        )?,
        format: choice(
            args,
            &flags::FORMAT,
            &Format::ALL,
            Format::name,
            Format::Sell,
        )?,
        places: places(args)?,
        flush: args.has(&flags::FLUSH),
        exhaustive: args.has(&flags::EXHAUSTIVE),
        energy: args.has(&flags::ENERGY),
    };
    let context = Context {
        external: external(args)?,
        ..Context::at(Path::new("/"))
    };
    let (source, notes) = energy::open(&context)?;
    if let (true, Some(why)) = (options.energy, source.why_not()) {
        let remedy = "see `couloir devices` for what is missing, or leave out --energy";
        return Err(Error::input("--energy", why, remedy));
    }
    let config = config(args, &options.places)?;
    let matrix = match args.path(&flags::WRITE_MATRIX) {
        Some(_) => options.origin.matrix()?,
        None => options.matrix()?,
    };
    log::info!(
        "matrix {}: {} rows, {} entries{}",
        options.origin,
        matrix.rows,
        matrix.entries(),
        match options.order {
            Ordering::None => String::new(),
            order => format!(", reordered ({})", order.name()),
        }
    );
    if let Some(file) = args.path(&flags::WRITE_MATRIX) {
        write_matrix(
            file,
            &options.order.apply(&matrix, &options.origin.to_string())?,
        )?;
        log::info!("wrote {}", file.display());
    }
    let mut engine = Engine::open(&config, Policy::Auto)?;
    for note in &engine.node.notes {
        log::info!("{note}");
    }
    log::info!(
        "{} CPU thread(s){}; caches {}",
        engine.node.pool.threads(),
        match &engine.node.device {
            Some(d) => format!(" beside {} ({})", d.info.name, engine.node.memory.name()),
            None => String::new(),
        },
        match options.flush {
            true => "are swept before each call",
            false => "are left as they are",
        }
    );
    for note in notes {
        log::info!("{note}");
    }
    let found = bench::run(&mut engine, &options, matrix, &source, |line| {
        log::info!("{line}");
    })?;
    console.line("")?;
    console.line(report::table(&found))?;
    if let Some(file) = args.path(&flags::JSON) {
        report::write(&found, &DeviceReport::of(&engine.node), file)?;
    }
    match found.results.iter().find(|r| !r.verified) {
        None => Ok(()),
        Some(wrong) => Err(Error::failure(
            format!(
                "{} on {} differs from the plain loop",
                wrong.kernel, wrong.place
            ),
            "report this as a defect, with the machine and the command",
        )),
    }
}

/// The benches that the operand names; for all, those that do not suit are left out.
fn benches(operand: &Path) -> Result<(Vec<&'static Bench>, bool)> {
    let word = operand.to_string_lossy();
    if word.is_empty() || word == "all" {
        return Ok((bench::LIST.to_vec(), true));
    }
    match bench::LIST.iter().find(|b| b.name == word) {
        Some(bench) => Ok((vec![bench], false)),
        None => {
            let names = || bench::LIST.iter().map(|b| b.name).chain(["all"]);
            Err(unknown(&word, "there is no such bench", names()))
        }
    }
}

fn unknown<'a>(word: &str, what: &str, names: impl Iterator<Item = &'a str> + Clone) -> Error {
    let remedy = match nearest(word, names.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("choose one of: {}", names.collect::<Vec<_>>().join(", ")),
    };
    Error::input(word, what, remedy)
}

fn origin(args: &Args) -> Result<Origin> {
    let rows = args.text(&flags::ROWS)?;
    let (mesh, matrix) = (args.path(&flags::MESH), args.text(&flags::MATRIX)?);
    let many = "more than one of --rows, --mesh and --matrix";
    match (rows, mesh, matrix) {
        (Some(rows), None, None) => {
            matrices::count(&format!("--rows {rows}"), rows).map(Origin::Rows)
        }
        (None, Some(mesh), None) => Ok(Origin::Mesh(mesh.to_owned())),
        (None, None, Some(matrix)) => Origin::parse(matrix),
        (None, None, None) => Ok(Origin::Rows(ROWS)),
        _ => Err(Error::input("couloir bench", many, "keep one of them")),
    }
}

/// The meter that the user names.
fn external(args: &Args) -> Result<Option<External>> {
    let meter = flags::METER;
    let Some(text) = args.text(&meter)? else {
        return Ok(None);
    };
    Ok(Some(External {
        address: parsed(&meter, text)?,
        column: of(args, &flags::METER_COLUMN)?,
        unit: of(args, &flags::METER_UNIT)?,
        place: format!("--{} {text}", meter.name),
    }))
}

fn of<T: FromStr<Err = String> + Default>(args: &Args, flag: &flags::Flag) -> Result<T> {
    let text = args.text(flag)?;
    text.map_or(Ok(T::default()), |text| parsed(flag, text))
}

fn parsed<T: FromStr<Err = String>>(flag: &flags::Flag, text: &str) -> Result<T> {
    text.parse().map_err(|why: String| {
        let (what, remedy) = why.split_once("; ").unwrap_or((&why, "see the README"));
        Error::input(format!("--{} {text}", flag.name), what, remedy)
    })
}

/// The member of `all` that `flag` names.
fn choice<T: Copy>(
    args: &Args,
    flag: &flags::Flag,
    all: &[T],
    name: impl Fn(T) -> &'static str + Copy,
    default: T,
) -> Result<T> {
    let Some(word) = args.text(flag)? else {
        return Ok(default);
    };
    all.iter()
        .copied()
        .find(|&x| name(x) == word)
        .ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|&x| name(x)).collect();
            Error::input(
                format!("--{} {word}", flag.name),
                "there is no such choice",
                format!("choose one of: {}", names.join(", ")),
            )
        })
}

fn places(args: &Args) -> Result<Vec<Side>> {
    match args.text(&flags::WHERE)? {
        None | Some("all") => Ok(Side::ALL.to_vec()),
        Some(_) => {
            let one = choice(args, &flags::WHERE, &Side::ALL, Side::name, Side::Cpu);
            one.map(|place| vec![place]).map_err(|e| match e {
                Error::Input { place, what, .. } => {
                    Error::input(place, what, "choose one of: cpu, device, split, all")
                }
                other => other,
            })
        }
    }
}

fn config(args: &Args, places: &[Side]) -> Result<Config> {
    let device = match args.text(&flags::DEVICE)? {
        Some(text) => text.parse()?,
        // Without a device the CPU has all cores.
        None if places == [Side::Cpu] => DeviceChoice::None,
        None => DeviceChoice::Auto,
    };
    if device == DeviceChoice::None && !places.contains(&Side::Cpu) {
        let remedy = "use --where cpu, or another device";
        return Err(Error::input(
            "--device none",
            "there is nothing to measure on",
            remedy,
        ));
    }
    let kinds = [MemoryKind::ZeroCopy, MemoryKind::Svm, MemoryKind::Discrete];
    let memory = match args.text(&flags::MEMORY)? {
        None | Some("auto") => None,
        Some("host") => Some(MemoryKind::Host),
        Some(_) => Some(choice(
            args,
            &flags::MEMORY,
            &kinds,
            MemoryKind::name,
            kinds[0],
        )?),
    };
    let threads = match args.text(&flags::THREADS)? {
        None | Some("auto") => None,
        Some(text) => match text.parse() {
            Ok(n) if THREADS.contains(&n) => Some(n),
            _ => {
                let [what, remedy] = NO_THREADS;
                return Err(Error::input(format!("--threads {text}"), what, remedy));
            }
        },
    };
    Ok(Config {
        device,
        memory,
        threads,
        ..Config::default()
    })
}

/// Writes `a` for other programs: as Matrix Market to `NAME.mtx`, else in binary: the 8 bytes
/// `CSR-1\n\0\0`, rows, columns and entries in 64 bits, then row pointers (64 bits), columns
/// (32 bits) and values, all in this machine's byte order.
fn write_matrix(file: &Path, a: &Csr) -> Result<()> {
    let file = PathBuf::from(file);
    if file.extension().is_some_and(|e| e == "mtx") {
        return write_file(&file, |out| matrix_market::write(a, out));
    }
    write_file(&file, |out| {
        out.write_all(b"CSR-1\n\0\0")?;
        for n in [a.rows, a.cols, a.entries()] {
            out.write_all(&(n as u64).to_ne_bytes())?;
        }
        let row_ptr: Vec<u64> = a.row_ptr.iter().map(|&p| p as u64).collect();
        out.write_all(bytemuck::cast_slice(&row_ptr))?;
        out.write_all(bytemuck::cast_slice(&a.col))?;
        out.write_all(bytemuck::cast_slice(&a.val))
    })
}
