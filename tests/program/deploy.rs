//! `cross/deploy` against ssh servers on this machine: hosts that work, one that refuses, one
//! without disk space, one of another architecture.

use std::process::{Command, Stdio};

use crate::folder::{Folder, is_file, said};
use crate::hosts::{Cluster, Kind, done, mpi, skip, under_mpirun};

#[test]
fn every_host_brings_its_results_back() {
    let Some(cluster) = Cluster::new(&[("a", Kind::Good), ("b", Kind::Good)]) else {
        return;
    };
    let said = cluster.deploy(&cluster.file("run"), &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let mut energies = Vec::new();
    for host in ["a", "b"] {
        let line = format!("[{host}] step 2 ");
        assert!(said.out.contains(&line), "{}", said.out);
        assert!(said.out.contains(&format!("\n{host}  ok ")), "{}", said.out);
        let result = format!("results/cube/{host}");
        let report = cluster.folder.json(&format!("{result}/report.json"));
        assert_eq!(report["steps"], 2);
        energies.push(report["kinetic_energy"].to_string());
        for name in ["log.txt", "cube.pvd", "u_vertical.csv", "check.txt"] {
            let file = format!("{result}/{name}");
            assert!(is_file(&cluster.folder.path(&file)), "{file}");
        }
        // In the host's own home, and nowhere else.
        assert!(is_file(
            &cluster.folder.path(&format!("{host}/run/couloir"))
        ));
    }
    assert_eq!(energies[0], energies[1]);
}

#[test]
fn hosts_work_on_one_case_under_mpirun() {
    let kinds = [("alpha", Kind::Node), ("beta", Kind::Node)];
    let Some((cluster, file)) = under_mpirun(&kinds) else {
        return;
    };
    let said = cluster.deploy(&file, &["--dry-run"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let parts = match mpi() {
        Some("mpich") => ["mpiexec", "-launcher-exec", "-n\\ 2"],
        _ => ["--hostfile", "plm_rsh_agent", "-np\\ 2"],
    };
    for part in parts {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }

    let said = cluster.deploy(&file, &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(said.out.contains("[alpha] step 2 "), "{}", said.out);
    assert!(said.out.contains("\nbeta  ok"), "{}", said.out);
    let report = cluster.folder.json("results/cube/alpha/report.json");
    assert_eq!((&report["ranks"], &report["steps"]), (&2.into(), &2.into()));
    // The parts of both hosts are in one folder.
    for name in ["cube_000002_0000.vtu", "cube_000002_0001.vtu", "log.txt"] {
        let file = format!("results/cube/alpha/{name}");
        assert!(is_file(&cluster.folder.path(&file)), "{file}");
    }
    let own = cluster.folder.list("ranks");
    assert!(own.is_empty(), "not in the hosts' own folders: {own:?}");
}

/// Of hosts that were to work together, one that cannot is named, and nothing is run without it.
#[test]
fn a_run_under_mpirun_takes_every_host_or_none() {
    let kinds = [
        ("alpha", Kind::Good),
        ("refuses", Kind::Refuses),
        ("other", Kind::Other),
    ];
    let Some(cluster) = Cluster::new(&kinds) else {
        return;
    };
    let file = cluster.file("run");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("mpi = 'openmpi'\n{text}")).unwrap();
    let said = cluster.deploy(&file, &[]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(said.err.contains("nothing was run"), "{}", said.err);
    for part in [
        "\nrefuses  FAILED  cannot be reached",
        "Permission denied",
        "\nother  FAILED  is riscv64, not the",
    ] {
        let out = format!("\n{}", said.out);
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!cluster.folder.path("alpha/run/out").exists());
}

#[test]
fn a_host_that_fails_is_named_with_the_reason() {
    let mut kinds = vec![
        ("good", Kind::Good),
        ("down", Kind::Down),
        ("refuses", Kind::Refuses),
        ("other", Kind::Other),
    ];
    if done(Command::new("unshare").args(["--mount", "true"])) {
        kinds.push(("full", Kind::Full));
    } else {
        skip("no small disk can be made without being root");
    }
    let Some(cluster) = Cluster::new(&kinds) else {
        return;
    };
    let said = cluster.deploy(&cluster.file("run"), &[]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    let last: Vec<&str> = said.out.lines().rev().take(kinds.len()).collect();
    for (name, _) in kinds {
        let line = last.iter().find(|l| l.starts_with(&format!("{name}  ")));
        let line = line.unwrap_or_else(|| panic!("{name}: {}", said.out));
        let reason = match name {
            "good" => "ok",
            "down" => "FAILED  cannot be reached: ssh: connect to host 127.0.0.1",
            "refuses" => "Permission denied",
            "other" => "is riscv64, not the",
            _ => "no disk space: 64 kB are free in run",
        };
        assert!(line.contains(reason), "{line}\n{}", said.err);
    }
    assert!(is_file(
        &cluster.folder.path("results/cube/good/report.json")
    ));
}

#[test]
fn a_dry_run_prints_commands_and_touches_nothing() {
    let Some(cluster) = Cluster::new(&[("a", Kind::Down)]) else {
        return;
    };
    let said = cluster.deploy(&cluster.file("run"), &["--dry-run"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    for part in [
        "ssh -F",
        "rsync -az",
        "127.0.0.1:run/couloir",
        "mesh.file=mesh.msh",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    assert!(!cluster.folder.path("results").exists());
}

#[test]
fn a_wrong_cluster_file_ends_it() {
    let folder = Folder::new();
    let host = "[[host]]\nname = 'a'\nboard = 'no-such-board'\n";
    for (text, part) in [
        ("mpi = 'none'", "there is no host; add a [[host]]"),
        (host, "host[0].board: there is no board/no-such-board.toml"),
        (
            "[[host]]\nname = 'a'\nboard = 'rk3558'\n",
            "did you mean rk3588?",
        ),
    ] {
        let file = folder.write("cluster.toml", text);
        let mut command = Command::new("cross/deploy");
        command
            .args([&file, "cases/cube.toml", "--dry-run"])
            .env("COULOIR", env!("CARGO_BIN_EXE_couloir"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null());
        let said = said(&mut command);
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains(part), "{}", said.err);
    }
}

#[test]
fn a_host_gets_a_second_at_least() {
    for patience in ["0", "soon", "-1"] {
        let mut command = Command::new("cross/deploy");
        command
            .args(["a.toml", "b.toml", "--patience", patience])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null());
        let said = said(&mut command);
        assert_eq!(said.code, Some(2), "{}", said.err);
        let part = format!("--patience {patience}: seconds, at least 1");
        assert!(said.err.contains(&part), "{}", said.err);
    }
}
