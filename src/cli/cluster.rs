//! `couloir cluster`: checks a cluster file; tells scripts what is in it.

use super::{Args, Command, Console, flags};
use crate::board;
use crate::flow::case::{Case, MeshSource};
use crate::input::cluster::{Cluster, Host};
use crate::input::nearest;
use crate::report::table::columns;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "cluster",
    operand: Some("CLUSTER.toml"),
    about: "Check a cluster file and list its hosts",
    flags: &[flags::CASE, flags::LINES],
    call,
};

fn call(args: &Args, console: &mut Console) -> Result<()> {
    let cluster = Cluster::read(args.operand())?;
    let boards = board::FILES.iter().map(|(name, _)| *name);
    for (i, host) in cluster.hosts.iter().enumerate() {
        if !boards.clone().any(|name| name == host.board) {
            let place = format!("{}: host[{i}].board", args.operand().display());
            let what = format!("there is no board/{}.toml", host.board);
            let list = boards.clone().collect::<Vec<_>>().join(", ");
            let remedy = match nearest(&host.board, boards) {
                Some(near) => format!("did you mean {near}? There are: {list}"),
                None => format!("write that file, or give one of: {list}"),
            };
            return Err(Error::input(place, what, remedy));
        }
    }
    let case = args.path(&flags::CASE).map(|path| Case::read(path, &[]));
    let case = case.transpose()?;
    if !args.has(&flags::LINES) {
        return console.line(table(&cluster));
    }
    let mut lines = vec![
        vec!["mpi".to_owned(), cluster.mpi.name().to_owned()],
        vec!["remote".to_owned(), cluster.paths.remote.clone()],
        vec!["results".to_owned(), cluster.paths.results.clone()],
    ];
    if let Some(case) = &case {
        lines.push(vec!["case".to_owned(), case.name.clone()]);
        if let MeshSource::File(path) = &case.mesh {
            let Some(path) = path.to_str().filter(|path| !path.contains(['\t', '\n'])) else {
                let what = "scripts cannot be told a name like this";
                return Err(Error::input(
                    case.place("mesh.file"),
                    what,
                    "rename the file",
                ));
            };
            lines.push(vec!["mesh".to_owned(), path.to_owned()]);
        }
    }
    lines.extend(cluster.hosts.iter().map(|host| {
        let head = std::iter::once("host".to_owned());
        head.chain(row(host)).collect()
    }));
    let mut lines = lines.iter().map(|words| words.join("\t"));
    lines.try_for_each(|line| console.line(line))
}

fn row(host: &Host) -> [String; 6] {
    [
        host.name.clone(),
        host.address().to_owned(),
        host.port.to_string(),
        host.user.clone().unwrap_or_else(|| "-".to_owned()),
        host.board.clone(),
        host.slots.to_string(),
    ]
}

fn table(cluster: &Cluster) -> String {
    let rows: Vec<_> = cluster.hosts.iter().map(row).collect();
    let hosts = columns(
        &["host", "address", "port", "user", "board", "slots"],
        &rows,
    );
    let network = match cluster.network {
        Some(n) => format!(
            "network: {:.1} us, {:.1} MB/s",
            n.latency_s * 1e6,
            n.bandwidth_bytes_s / 1e6
        ),
        None => "network: not given".to_owned(),
    };
    format!("{hosts}\n\nmpi: {}; {network}", cluster.mpi.name())
}
