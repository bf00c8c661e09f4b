//! Interfaces on which MPI over TCP hangs: it believes that other nodes are behind them.

use super::{Finding, Scene, ok, warning};

/// Starts of the names of bridges and tunnels inside one machine.
const INNER: [&str; 10] = [
    "docker", "virbr", "br-", "lxcbr", "lxdbr", "cni", "flannel", "podman", "vmnet", "vboxnet",
];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let names = scene.tree.list("sys/class/net");
    let inner: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| INNER.iter().any(|start| name.starts_with(start)))
        .collect();
    vec![match inner.is_empty() {
        true => ok(format!("interfaces: {}", list(&names))),
        false => {
            let what = format!("MPI over TCP can hang on {}", inner.join(", "));
            let names = inner.join(",");
            let remedy = format!(
                "mpirun --mca btl_tcp_if_exclude lo,{names} --mca oob_tcp_if_exclude lo,{names}"
            );
            warning(what, remedy)
        }
    }]
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        _ => names.join(", "),
    }
}
