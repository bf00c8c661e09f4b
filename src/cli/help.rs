//! Help texts, made from the table of commands and flags.

use super::{COMMANDS, Command};

/// All commands.
pub(super) fn overview() -> String {
    let rows = COMMANDS.map(|command| (usage(command), command.about));
    format!(
        "couloir: incompressible flow on fused CPU+GPU nodes, in seconds and joules\n\n\
         {}\n\n\
         `couloir COMMAND --help` lists a command's flags; `couloir --version` its version.",
        aligned(&rows)
    )
}

/// One command with its flags.
pub(super) fn of(command: &Command) -> String {
    let title = format!("{}\n\n{}", usage(command), command.about);
    if command.flags.is_empty() {
        return title;
    }
    let rows: Vec<_> = command
        .flags
        .iter()
        .map(|flag| match flag.value {
            Some(value) => (format!("--{} {value}", flag.name), flag.about),
            None => (format!("--{}", flag.name), flag.about),
        })
        .collect();
    format!("{title}\n\n{}", aligned(&rows))
}

fn usage(command: &Command) -> String {
    let operand = command.operand.map(|operand| format!(" {operand}"));
    let flags = if command.flags.is_empty() {
        ""
    } else {
        " [FLAGS]"
    };
    format!(
        "couloir {}{}{flags}",
        command.name,
        operand.unwrap_or_default()
    )
}

fn aligned(rows: &[(String, &str)]) -> String {
    let width = rows.iter().map(|(left, _)| left.len()).max().unwrap_or(0);
    let lines: Vec<_> = rows
        .iter()
        .map(|(l, r)| format!("  {l:width$}  {r}"))
        .collect();
    lines.join("\n")
}
