//! Four "boards" joined by shaped 1 Gbit/s links: the same flow, and what the exchange costs.

use std::process::Command;

use crate::folder::{Folder, said};
use crate::ranks::{ONE_AT_A_TIME, difference, fields, mpirun};

const PROGRAM: &str = env!("CARGO_BIN_EXE_couloir");

/// A shell command in the network of `tools/network`, `$0` being the program; `None`, said
/// loudly, where there is no such network.
fn on_boards(folder: &Folder, shell: &str) -> Option<crate::folder::Said> {
    mpirun(folder, 1)?;
    let mut command = Command::new("tools/network");
    command
        .args(["4", "bash", "-c", shell, PROGRAM])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("XDG_CACHE_HOME", folder.path(""))
        .env("OUT", folder.path(""))
        .env("CASE", folder.path("case.toml"));
    if couloir::cluster::mpi_library().is_some_and(|name| name.contains("MPICH")) {
        command.env("MPI", "mpich");
    }
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let said = said(&mut command);
    if said.code == Some(77) {
        eprintln!("SKIPPED: {}", said.err);
        return None;
    }
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    Some(said)
}

#[test]
fn four_boards_compute_what_one_process_does() {
    let text = r#"
        mesh.box = { cells = [8, 6, 6] }
        fluid.viscosity = 1e-2
        time = { steps = 10, max_courant = 0.5 }
        poisson.tolerance = 1e-12
        boundary.xmin = { type = "wall" }
        boundary.xmax = { type = "wall" }
        boundary.ymin = { type = "wall" }
        boundary.ymax = { type = "wall", velocity = [1, 0, 0] }
        boundary.zmin = { type = "wall" }
        boundary.zmax = { type = "wall" }
    "#;
    let (alone, four) = (Folder::new(), Folder::new());
    let case = alone.write("case.toml", text);
    four.write("case.toml", text);
    let run =
        "$LAUNCHER -n 4 $0 run $CASE --device none --quiet --out $OUT/out --json $OUT/report.json";
    let Some(_) = on_boards(&four, run) else {
        return;
    };
    let want = alone.report(&[&case, "--device", "none"]);
    let got = four.json("report.json");
    assert_eq!(got["ranks"], 4);
    let energy = |r: &serde_json::Value| r["kinetic_energy"].as_f64().expect("a number");
    assert!((energy(&got) / energy(&want) - 1.0).abs() < 1e-10);
    let [u, p] = difference(&fields(&four), &fields(&alone));
    assert!(u < 1e-8 && p < 1e-6, "{u} {p}");
}

#[test]
fn the_exchange_costs_what_the_link_takes() {
    let folder = Folder::new();
    let scale = "$0 scale 8000 --ranks 4 --device none --launcher \"$LAUNCHER\" --out $OUT/scale \
                 --json $OUT/scale.json";
    let Some(said) = on_boards(&folder, scale) else {
        return;
    };
    assert!(said.out.contains("weak scaling"), "{}", said.out);
    let point = folder.json("scale.json")["weak"][0].clone();
    let median = |name: &str| point[name]["median_s"].as_f64().expect("a time");
    let halo = point["halo_most"].as_f64().expect("a number");
    // 1.2 Gbit/s take 6.7 ns a byte; the bucket lets 8 KB through at once.
    let least_s = (8.0 * halo - 8192.0).max(0.0) * 6.6e-9;
    assert!(median("exchange") > least_s, "{point}");
    assert!(median("first") > median("exchange"), "{point}");
    assert!(median("hidden") > median("alone") * 0.5, "{point}");
}
