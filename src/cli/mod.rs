//! The command line: one table of commands and flags, for parsing and for help alike.
//!
//! A command is a file with its `Command`, and one word in `COMMANDS`.

mod args;
mod bench;
mod cluster;
mod compare;
mod devices;
mod doctor;
mod flags;
mod help;
mod mesh;
mod predict;
mod ranks;
mod run;
mod scale;
mod tune;

use std::ffi::OsString;
use std::io::Write;

pub use args::Args;

use crate::cluster::comm;
use crate::{Error, Result};

/// How errors call the place that output goes to.
pub const STDOUT: &str = "standard output";

/// All commands, in the order of the help text.
const COMMANDS: [&Command; 10] = [
    &run::COMMAND,
    &tune::COMMAND,
    &bench::COMMAND,
    &scale::COMMAND,
    &predict::COMMAND,
    &mesh::COMMAND,
    &compare::COMMAND,
    &devices::COMMAND,
    &doctor::COMMAND,
    &cluster::COMMAND,
];

/// A command.
struct Command {
    /// Its name.
    name: &'static str,
    /// What it works on, such as `CASE.toml`; in brackets if it may be left out, with `...` if it
    /// may be repeated; none if nothing.
    operand: Option<&'static str>,
    /// One line of help.
    about: &'static str,
    /// The flags that it takes.
    flags: &'static [flags::Flag],
    /// Does the work.
    call: fn(&Args, &mut Console) -> Result<()>,
}

/// Where a command's output goes.
pub struct Console<'a> {
    out: &'a mut dyn Write,
    /// Whether a progress bar can be drawn (on standard error).
    pub terminal: bool,
}

impl<'a> Console<'a> {
    /// A console that writes to `out`; `terminal` tells whether progress can be drawn.
    pub fn new(out: &'a mut dyn Write, terminal: bool) -> Self {
        Self { out, terminal }
    }

    /// Writes `text` and a line break.
    ///
    /// # Errors
    /// [`Error::Io`] of [`STDOUT`], such as a full disk or a closed pipe.
    pub fn line(&mut self, text: impl std::fmt::Display) -> Result<()> {
        writeln!(self.out, "{text}").map_err(output_lost)
    }

    /// Hands over what is still buffered.
    ///
    /// # Errors
    /// As [`Console::line`].
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(output_lost)
    }
}

fn output_lost(error: std::io::Error) -> Error {
    Error::io(STDOUT, error, "send the output to a place that takes it")
}

/// Runs the command line `args`, without the program's name.
///
/// # Errors
/// [`Error::Input`] for an unknown command or flag, with the nearest one there is; else what
/// the command returns.
pub fn call(args: impl IntoIterator<Item = OsString>, console: &mut Console) -> Result<()> {
    match args::parse(args)? {
        args::Request::Help(None) => console.line(help::overview()),
        args::Request::Help(Some(command)) => console.line(help::of(command)),
        args::Request::Version => console.line(format!(
            "couloir {} ({})",
            env!("CARGO_PKG_VERSION"),
            comm::version()
        )),
        args::Request::Call(command, args) => {
            if args.has(&flags::QUIET) {
                log::set_max_level(log::LevelFilter::Warn);
            }
            (command.call)(&args, console)
        }
    }
}
