//! `couloir predict`: what a step would cost on more nodes, over this or another network.

use std::path::Path;

use super::ranks::Ranks;
use super::{Args, Command, Console, flags, scale};
use crate::cluster::network::Network;
use crate::flow::prediction::{Part, measure, predict};
use crate::input::cluster::Cluster;
use crate::report::prediction::{Over, PredictionReport};
use crate::report::write::ensure_writable;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "predict",
    operand: Some("CASE.toml"),
    about: "Predict steps on more nodes from kernels measured here and a model of the network",
    flags: &[
        flags::NODES,
        flags::NETWORK,
        flags::STEPS,
        flags::SET,
        flags::SPLIT,
        flags::DEVICE,
        flags::THREADS,
        flags::OVERLAP,
        flags::OUT,
        flags::JSON,
        flags::QUIET,
    ],
    call,
};

/// Steps that are measured where the user does not say.
const STEPS: usize = 5;

fn call(args: &Args, console: &mut Console) -> Result<()> {
    let ranks = Ranks::open()?;
    report(args, console, &ranks).map_err(|e| ranks.comm.sign(e))
}

fn report(args: &Args, console: &mut Console, ranks: &Ranks) -> Result<()> {
    let (case, steps) = scale::case(args)?;
    let steps = if steps == 0 { STEPS } else { steps };
    ranks.same(&case)?;
    let leads = ranks.comm.leads();
    let nodes = nodes(args.text(&flags::NODES)?.unwrap_or("64"))?;
    let names = args.text(&flags::NETWORK)?.unwrap_or("gige,ib-qdr");
    let mut networks = Vec::new();
    for name in names.split(',').map(str::trim) {
        networks.push((name.to_owned(), network(name, ranks)?));
    }
    let folder = args.path(&flags::OUT).unwrap_or(Path::new("out/predict"));
    if leads {
        ensure_writable(folder)?;
    }
    let mut parts: Vec<Part> = Vec::new();
    for n in nodes {
        log::info!("a part of {n}: {steps} steps are measured");
        parts.push(measure(&case, n, steps, &ranks.comm, &ranks.place)?);
    }
    if !leads {
        return Ok(());
    }
    let over = |(name, network): (String, Network)| Over {
        points: predict(&parts, &network, name == "this"),
        network: name,
        latency_s: network.latency_s,
        bandwidth_bytes_s: network.bandwidth_bytes_s,
        hop_s: network.hop_s,
        busy_s: network.busy_s,
        busy_per_byte_s: network.busy_per_byte_s,
    };
    let report = PredictionReport {
        case: case.name.clone(),
        cells: parts.first().map_or(0, |p| p.cells),
        iterations: parts.first().map_or(0.0, |p| p.iterations),
        measured_beside: ranks.comm.size(),
        networks: networks.into_iter().map(over).collect(),
    };
    console.line(report.table())?;
    report.chart().write(&folder.join("efficiency.svg"))?;
    let json = args.path(&flags::JSON);
    report.write(json.unwrap_or(&folder.join("predict.json")))
}

/// One node, and those that `text` names: a number stands for all powers of two up to it.
fn nodes(text: &str) -> Result<Vec<usize>> {
    let given = text.split(',').map(|n| n.trim().parse().ok());
    let given: Option<Vec<usize>> = given.collect();
    let fits = |g: &Vec<usize>| g.iter().all(|n| (1..=65536).contains(n));
    let mut given = given.filter(fits).ok_or_else(|| {
        Error::input(
            format!("--nodes {text}"),
            "this is no number of nodes, nor a list of such",
            "give one such as 64, or several such as 2,4",
        )
    })?;
    if let [most] = given[..] {
        given.extend((0..17).map(|k| 1 << k).filter(|&n| n < most));
    }
    given.push(1);
    given.sort_unstable();
    given.dedup();
    Ok(given)
}

/// A network by name, from a cluster file, or as it is measured between the ranks.
pub(super) fn network(name: &str, ranks: &Ranks) -> Result<Network> {
    match name {
        "this" => Network::measure(&ranks.comm),
        _ => named(name),
    }
}

/// A network by name, or from a cluster file.
pub(super) fn named(name: &str) -> Result<Network> {
    if let Some((_, known)) = Network::KNOWN.iter().find(|(n, _)| *n == name) {
        return Ok(*known);
    }
    let file = Path::new(name);
    if !name.ends_with(".toml") {
        let known: Vec<&str> = Network::KNOWN.iter().map(|(n, _)| *n).collect();
        return Err(Error::input(
            format!("--network {name}"),
            "this network is not known",
            format!("name {}, this, or a cluster file (.toml)", known.join(", ")),
        ));
    }
    let network = Cluster::read(file)?.network.ok_or_else(|| {
        Error::input(
            file.display().to_string(),
            "it tells nothing of a network",
            "add [network] with latency_s and bandwidth_bytes_s",
        )
    })?;
    Ok(Network::plain(network.latency_s, network.bandwidth_bytes_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_of_nodes_stands_for_those_below() {
        assert_eq!(nodes("10").expect("a number"), [1, 2, 4, 8, 10]);
        assert_eq!(nodes("4, 2").expect("numbers"), [1, 2, 4]);
        for bad in ["", "0", "x", "2,,3"] {
            let e = nodes(bad).expect_err("no number");
            assert!(e.to_string().contains("--nodes"), "{e}");
        }
    }
}
