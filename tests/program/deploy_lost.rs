//! Hosts that die while `cross/deploy` has a case run there: it ends soon, and says which.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::Said;
use crate::hosts::{Cluster, Kind, can_unshare, done, under_mpirun};

const BOARDS: [(&str, Kind); 2] = [("alpha", Kind::Board), ("beta", Kind::Board)];

/// How long hosts are waited for: with other tests beside it, mpirun's processes once took more than 4 s
/// to find each other.
const PATIENCE_S: &str = "12";

/// A case that runs until `host` gets `signal`; what is said then, and how long that took.
fn lose(
    cluster: &Cluster,
    file: &str,
    host: &str,
    signal: &str,
    flags: &[&str],
) -> (Said, Duration) {
    // The log of a run under mpirun is the first host's.
    let logs = [host, "alpha"].map(|h| cluster.folder.path(&format!("results/cube/{h}/log.txt")));
    let runs = |log: &std::path::PathBuf| {
        std::fs::read_to_string(log).is_ok_and(|text| text.contains("step 3 "))
    };
    std::thread::scope(|threads| {
        let deploy =
            threads.spawn(|| cluster.deploy_with(file, &["--patience", PATIENCE_S], flags));
        while !logs.iter().any(runs) {
            if deploy.is_finished() {
                let said = deploy.join().unwrap();
                panic!("it has ended: {}{}", said.out, said.err);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let lost = Instant::now();
        cluster.signal(host, signal);
        (deploy.join().unwrap(), lost.elapsed())
    })
}

/// The verdict on `host`.
fn verdict<'a>(said: &'a Said, host: &str) -> &'a str {
    let line = said
        .out
        .lines()
        .rfind(|l| l.starts_with(&format!("{host}  ")));
    line.unwrap_or_else(|| panic!("{host}: {}{}", said.out, said.err))
}

#[test]
fn a_host_that_dies_alone_leaves_the_others_their_run() {
    if !can_unshare(&BOARDS) {
        return;
    }
    for signal in ["KILL", "STOP"] {
        let Some(cluster) = Cluster::new(&BOARDS) else {
            return;
        };
        let file = cluster.file("run");
        let flags = ["--threads", "1", "--set", "time.end=1e9", "--steps", "150"];
        let (said, took) = lose(&cluster, &file, "beta", signal, &flags);
        assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
        let line = verdict(&said, "beta");
        assert!(
            line.contains("FAILED  was lost while the case ran; last heard: "),
            "{line}"
        );
        assert!(
            verdict(&said, "alpha").contains("  ok  "),
            "{}{}",
            said.out,
            said.err
        );
        let report = cluster.folder.json("results/cube/alpha/report.json");
        assert_eq!(report["steps"], 150);
        assert!(took < Duration::from_secs(150), "{signal}: {took:?}");
    }
}

/// Whichever host of two it is, and whether it says good-bye: without them the run ends.
#[test]
fn a_run_under_mpirun_ends_with_a_host() {
    for (host, other, signal) in [
        ("alpha", "beta", "KILL"),
        ("beta", "alpha", "KILL"),
        ("alpha", "beta", "STOP"),
        ("beta", "alpha", "STOP"),
    ] {
        let Some((cluster, file)) = under_mpirun(&BOARDS) else {
            return;
        };
        let flags = [
            "--threads",
            "1",
            "--set",
            "time.end=1e9",
            "--steps",
            "1000000000",
            "--set",
            "cluster.timeout_s=600",
        ];
        let (said, took) = lose(&cluster, &file, host, signal, &flags);
        assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
        let line = verdict(&said, host);
        assert!(
            line.contains("FAILED  was lost while the case ran"),
            "{line}"
        );
        assert!(
            took < Duration::from_secs(150),
            "{host}, {signal}: {took:?}"
        );
        // Nothing computes there any more.
        let start = Instant::now();
        while cluster.computes(other) {
            let patience = Duration::from_secs(60);
            assert!(
                start.elapsed() < patience,
                "{host}, {signal}: {other} goes on"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Some launchers wait for ever for processes that cannot be started, or cannot be reached.
#[test]
fn hosts_that_do_not_find_each_other_are_not_waited_for() {
    let Some((cluster, file)) = under_mpirun(&BOARDS) else {
        return;
    };
    let start = Instant::now();
    let said = cluster.deploy_apart(&file, &["--patience", "8"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(
        verdict(&said, "alpha").contains("FAILED  the "),
        "{}",
        said.out
    );
    assert!(
        said.out
            .contains("[alpha] ssh: connect to host 127.0.0.1 port 1"),
        "{}",
        said.out
    );
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
    assert!(!cluster.computes("alpha"), "alpha goes on");
}

/// Nobody who ends it leaves hosts that compute for hours.
#[test]
fn hosts_end_with_the_script() {
    if !can_unshare(&BOARDS) {
        return;
    }
    let Some(cluster) = Cluster::new(&BOARDS) else {
        return;
    };
    let mut command = cluster.command(&cluster.file("run"), &[], &["--set", "time.end=1e9"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = child.spawn().expect("a script");
    let start = Instant::now();
    while !BOARDS.iter().all(|(name, _)| cluster.computes(name)) {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "nothing is computed"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(done(Command::new("kill").arg(child.id().to_string())));
    let output = child.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("deploy: interrupted"), "{said}");
    for (name, _) in BOARDS {
        assert!(!cluster.computes(name), "{name} goes on: {said}");
    }
}
