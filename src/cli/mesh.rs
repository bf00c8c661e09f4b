//! `couloir mesh`: what a mesh is made of, and how good it is.

use super::{Args, Command, Console};
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "mesh",
    operand: Some("FILE.msh|CASE.toml"),
    about: "Check a mesh: cells, quality, boundaries, and the discretisation it suits",
    flags: &[],
    call,
};

fn call(_args: &Args, _console: &mut Console) -> Result<()> {
    Err(Error::failure(
        "the mesh reader is not connected yet",
        "use a later revision",
    ))
}
