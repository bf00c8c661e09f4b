//! `couloir doctor`: what keeps this node from computing well, and the remedy.

use std::path::Path;

use super::{Args, Command, Console, flags};
use crate::doctor::{Finding, Report, Scene, Status, examine};
use crate::report::write::write_file;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "doctor",
    operand: None,
    about: "Check this node: drivers, devices, meters, frequency, memory, network",
    flags: &[flags::BOARD, flags::JSON_OR_STDOUT],
    call,
};

fn call(args: &Args, console: &mut Console) -> Result<()> {
    let scene = Scene::machine(args.board()?);
    let report = Report::new(&scene, examine(&scene));
    let file = args.path(&flags::JSON_OR_STDOUT);
    if file == Some(Path::new("-")) {
        let text = serde_json::to_string_pretty(&report).map_err(unwritten)?;
        console.line(text)?;
    } else {
        for finding in &report.checks {
            console.line(line(finding))?;
        }
    }
    if let Some(file) = file.filter(|f| *f != Path::new("-")) {
        write_file(file, |out| {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)
        })?;
    }
    let problems = report.checks.iter().filter(|f| f.status == Status::Problem);
    match problems.count() {
        0 => Ok(()),
        n => Err(Error::failure(
            format!("{n} problem(s) found"),
            "do what the lines marked \"problem\" say, then call the doctor again",
        )),
    }
}

/// Status, check, what was found and what to do.
fn line(f: &Finding) -> String {
    let found = format!("{:<8} {:<9} {}", f.status.name(), f.check, f.what);
    match &f.remedy {
        Some(remedy) => format!("{found}; {remedy}"),
        None => found,
    }
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::failure(
        format!("the report cannot be written: {error}"),
        "report this as a defect",
    )
}
