//! `couloir compare`: runs of several boards side by side.

use super::{Args, Command, Console, flags};
use crate::Result;
use crate::report::compare::Comparison;

pub(super) const COMMAND: Command = Command {
    name: "compare",
    operand: Some("REPORT.json..."),
    about: "Put runs of several boards side by side: time, power and energy of a step",
    flags: &[flags::SVG, flags::JSON],
    call,
};

fn call(args: &Args, console: &mut Console) -> Result<()> {
    let comparison = Comparison::read(&args.operands())?;
    console.line(comparison.table())?;
    if let Some(file) = args.path(&flags::JSON) {
        comparison.write_json(file)?;
    }
    if let Some(file) = args.path(&flags::SVG) {
        comparison.write_svg(file)?;
    }
    Ok(())
}
