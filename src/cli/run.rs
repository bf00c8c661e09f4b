//! `couloir run`: simulate a case.

use std::path::Path;

use super::{Args, Command, Console, flags};
use crate::flow::case::Case;
use crate::mesh::Quality;
use crate::node::Node;
use crate::report::write::ensure_writable;
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
    // What would spoil the end of a long run is found at its beginning.
    ensure_writable(&case.output.directory)?;
    if let Some(folder) = args.path(&flags::JSON).and_then(folder_of) {
        ensure_writable(folder)?;
    }
    let (mesh, geometry) = case.load_mesh()?;
    let quality = Quality::of(&mesh, &geometry);
    let (discretisation, why) = case.discretisation(&quality);
    let (cells, name) = (mesh.cells(), discretisation.name());
    log::info!(
        "{}: {cells} cells; {name} discretisation, because {why}",
        case.name
    );
    let node = Node::open(&case.node.config())?;
    node.notes.iter().for_each(|note| log::info!("{note}"));
    Err(Error::failure(
        "the time loop is not connected yet",
        "use a later revision",
    ))
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
