//! From the words of the command line to a command, its operand and its flags.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lexopt::Arg;

use super::flags::{Flag, Sets};
use super::{COMMANDS, Command};
use crate::board::{self, Board};
use crate::input::{Override, nearest};
use crate::node::Tree;
use crate::{Error, Result};

/// What the user asks for.
pub(super) enum Request {
    Help(Option<&'static Command>),
    Version,
    Call(&'static Command, Args),
}

/// The operand and flags of a command.
pub struct Args {
    operand: PathBuf,
    /// Further operands, of a command that takes several.
    more: Vec<PathBuf>,
    flags: Vec<(&'static Flag, OsString)>,
}

impl Args {
    /// The operand; empty for a command without.
    pub(super) fn operand(&self) -> &PathBuf {
        &self.operand
    }

    /// All operands.
    pub(super) fn operands(&self) -> Vec<&Path> {
        let all = std::iter::once(&self.operand).chain(&self.more);
        all.map(PathBuf::as_path).collect()
    }

    /// Whether `flag` is given.
    pub(super) fn has(&self, flag: &Flag) -> bool {
        self.flags.iter().any(|(given, _)| given.name == flag.name)
    }

    /// The value of `flag`, as a path; of several, the last.
    pub(super) fn path(&self, flag: &Flag) -> Option<&Path> {
        let mut given = self.flags.iter().rev();
        let found = given.find(|(given, _)| given.name == flag.name);
        found.map(|(_, value)| Path::new(value))
    }

    /// The board that `--board` names, else the one that this machine is.
    pub(super) fn board(&self) -> Result<Option<Board>> {
        let asked = self.path(&super::flags::BOARD);
        let asked = asked.map_or(Cow::Borrowed(board::AUTO), Path::to_string_lossy);
        Board::open(&asked, &Tree::at("/"))
    }

    /// The value of `flag`, as text; of several, the last.
    ///
    /// # Errors
    /// A value that is not UTF-8.
    pub(super) fn text(&self, flag: &Flag) -> Result<Option<&str>> {
        let Some(value) = self.path(flag) else {
            return Ok(None);
        };
        let place = format!("--{}", flag.name);
        let garbled = || Error::input(place, "the value is not UTF-8", "give plain text");
        value.to_str().map(Some).ok_or_else(garbled)
    }

    /// Every value of `flag`.
    pub(super) fn all(&self, flag: &Flag) -> impl Iterator<Item = &OsString> {
        let name = flag.name;
        let given = self.flags.iter().filter(move |(f, _)| f.name == name);
        given.map(|(_, value)| value)
    }

    /// What the flags set in the case, in their order.
    pub(super) fn overrides(&self) -> Result<Vec<Override>> {
        let mut overrides = Vec::new();
        for (flag, value) in &self.flags {
            let place = format!("--{}", flag.name);
            let Some(text) = value.to_str() else {
                if flag.sets == Sets::Nothing {
                    continue;
                }
                return Err(Error::input(
                    place,
                    "the value is not UTF-8",
                    "give plain text",
                ));
            };
            let origin = format!("{place} {text}");
            overrides.push(match flag.sets {
                Sets::Nothing => continue,
                Sets::Key(key) => Override::new(key, text, &origin),
                Sets::Text(key) => Override::text(key, text, &origin),
                Sets::Any => match text.split_once('=') {
                    Some((key, value)) => Override::new(key, value, &origin),
                    None => {
                        let remedy = "give KEY=VALUE, such as fluid.viscosity=1e-3";
                        return Err(Error::input(origin, "there is no = in it", remedy));
                    }
                },
            });
        }
        Ok(overrides)
    }
}

/// Parses the command line, without the program's name.
pub(super) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut command: Option<&'static Command> = None;
    let mut operand: Option<PathBuf> = None;
    let mut more = Vec::new();
    let mut flags = Vec::new();
    let mut help = false;
    while let Some(arg) = parser.next().map_err(|e| misused(&e, command))? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => help = true,
            Arg::Short('V') | Arg::Long("version") => return Ok(Request::Version),
            Arg::Short(letter) => return Err(unknown_flag(&format!("-{letter}"), command)),
            Arg::Long(name) => {
                let known = command.and_then(|c| c.flags.iter().find(|f| f.name == name));
                let Some(flag) = known else {
                    return Err(unknown_flag(&format!("--{name}"), command));
                };
                let value = match flag.value {
                    Some(values) => match parser.value() {
                        Err(lexopt::Error::MissingValue { .. }) if values.ends_with("|-") => {
                            "-".into()
                        }
                        value => value.map_err(|e| misused(&e, command))?,
                    },
                    None => OsString::new(),
                };
                flags.push((flag, value));
            }
            Arg::Value(word) => match command {
                None if word == "help" => help = true,
                None => command = Some(find(&word.to_string_lossy())?),
                Some(c) if c.operand.is_some() && operand.is_none() => operand = Some(word.into()),
                Some(c) if c.operand.is_some_and(|o| o.ends_with("...")) => more.push(word.into()),
                Some(c) => {
                    let what = "this word is one too many";
                    return Err(Error::input(word.to_string_lossy(), what, usage(Some(c))));
                }
            },
        }
    }
    if help {
        return Ok(Request::Help(command));
    }
    let Some(command) = command else {
        return Err(Error::input("couloir", "no command is given", usage(None)));
    };
    match (command.operand, operand) {
        (Some(needed), None) if !needed.starts_with('[') => {
            let what = format!("{needed} is missing");
            Err(Error::input(
                format!("couloir {}", command.name),
                what,
                usage(Some(command)),
            ))
        }
        (_, operand) => {
            let operand = operand.unwrap_or_default();
            let args = Args {
                operand,
                more,
                flags,
            };
            Ok(Request::Call(command, args))
        }
    }
}

fn find(name: &str) -> Result<&'static Command> {
    if let Some(command) = COMMANDS.into_iter().find(|c| c.name == name) {
        return Ok(command);
    }
    let names = COMMANDS.map(|c| c.name);
    let remedy = match nearest(name, names) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("choose one of: {}", names.join(", ")),
    };
    Err(Error::input(name, "there is no such command", remedy))
}

fn unknown_flag(flag: &str, command: Option<&Command>) -> Error {
    let names: Vec<&str> = command
        .iter()
        .flat_map(|c| c.flags)
        .map(|f| f.name)
        .collect();
    let what = match command {
        Some(command) => format!("`couloir {}` has no such flag", command.name),
        None => "there is no such flag; flags follow the command".to_owned(),
    };
    let remedy = match nearest(flag.trim_start_matches('-'), names) {
        Some(near) => format!("did you mean --{near}?"),
        None => usage(command),
    };
    Error::input(flag, what, remedy)
}

fn misused(error: &lexopt::Error, command: Option<&Command>) -> Error {
    match error {
        lexopt::Error::MissingValue { option: Some(flag) } => {
            Error::input(flag, "its value is missing", usage(command))
        }
        lexopt::Error::UnexpectedValue { option, value } => {
            let what = format!("this flag takes no value, but {value:?} is given");
            Error::input(option, what, usage(command))
        }
        other => Error::input("command line", other.to_string(), usage(command)),
    }
}

fn usage(command: Option<&Command>) -> String {
    match command {
        Some(command) => format!("see `couloir {} --help`", command.name),
        None => format!(
            "choose one of: {}; see `couloir --help`",
            COMMANDS.map(|c| c.name).join(", ")
        ),
    }
}
