//! `couloir run`: simulate a case.

use super::{Args, Command, Console, flags};
use crate::flow::case::Case;
use crate::{Error, Result};

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
        flags::OUT,
        flags::JSON,
        flags::QUIET,
    ],
    call,
};

fn call(args: &Args, _console: &mut Console) -> Result<()> {
    let case = Case::read(args.operand(), &args.overrides()?)?;
    Err(Error::failure(
        format!(
            "the case {} is in order, but the time loop is not connected yet",
            case.name
        ),
        "use a later revision",
    ))
}
