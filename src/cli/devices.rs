//! `couloir devices`: what this node has.

use super::{Args, Command, Console};
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "devices",
    operand: None,
    about: "List the processors, OpenCL devices and energy meters of this node",
    flags: &[],
    call,
};

fn call(_args: &Args, _console: &mut Console) -> Result<()> {
    Err(Error::failure(
        "the node is not connected yet",
        "use a later revision",
    ))
}
