//! `couloir tune`: find the split of each kernel, and show the search.

use super::{Args, Command, Console, flags};
use crate::flow::case::Case;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "tune",
    operand: Some("CASE.toml"),
    about: "Search the best split of each kernel, and draw the curves",
    flags: &[
        flags::SET,
        flags::DEVICE,
        flags::MEMORY,
        flags::THREADS,
        flags::OUT,
        flags::QUIET,
    ],
    call,
};

fn call(args: &Args, _console: &mut Console) -> Result<()> {
    let case = Case::read(args.operand(), &args.overrides()?)?;
    Err(Error::failure(
        format!(
            "the case {} is in order, but the tuner is not connected yet",
            case.name
        ),
        "use a later revision",
    ))
}
