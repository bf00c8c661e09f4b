//! `couloir devices`: what this node has.

use std::path::Path;

use super::{Args, Command, Console, flags};
use crate::Result;
use crate::energy::{self, Context, Nameplate};
use crate::node::opencl::{self, DeviceInfo};
use crate::node::topology;
use crate::report::table::{bytes, columns};

pub(super) const COMMAND: Command = Command {
    name: "devices",
    operand: None,
    about: "List the cores, OpenCL devices and energy meters of this node",
    flags: &[flags::BOARD],
    call,
};

fn call(args: &Args, console: &mut Console) -> Result<()> {
    let board = args.board()?;
    let cores = topology::allowed_cores();
    let host = topology::host_name();
    console.line(format!(
        "{host}: {} CPU cores for this process",
        cores.len()
    ))?;
    console.line(match &board {
        Some(board) => format!("board: {} ({})\n", board.profile.name, board.reason),
        None => "board: not known; describe it in a file for --board\n".to_owned(),
    })?;
    match opencl::devices() {
        Ok(devices) => console.line(table(&devices))?,
        Err(why) => console.line(format!("no OpenCL device: {why}"))?,
    }
    console.line("")?;
    let context = Context {
        nameplate: Nameplate::of(board.as_ref(), None),
        ..Context::at(Path::new("/"))
    };
    let (_, choice) = energy::find(&context)?;
    choice.log.iter().try_for_each(|line| console.line(line))
}

fn table(devices: &[DeviceInfo]) -> String {
    let head = [
        "index", "device", "kind", "units", "memory", "buffers", "fp64", "version", "driver",
    ];
    let rows: Vec<_> = devices
        .iter()
        .map(|device| {
            [
                device.index.to_string(),
                device.name.clone(),
                match device.software {
                    true => format!("{} (software)", device.kind),
                    false => device.kind.to_owned(),
                },
                device.units.to_string(),
                bytes(device.memory_bytes as f64),
                device.best_memory().name().to_owned(),
                if device.fp64 { "yes" } else { "no" }.to_owned(),
                device.version.clone(),
                format!("{} {}", device.platform, device.driver),
            ]
        })
        .collect();
    let hint = "`--device INDEX` chooses one; the default is the best that passes its self-check";
    format!("{}\n\n{hint}", columns(&head, &rows))
}
