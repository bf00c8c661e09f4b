//! The checks of `couloir doctor` on made trees: each finds what it is for, says the remedy, and
//! is content with what is well.

mod board;
mod command;
mod mpi;
mod opencl;
mod system;

use crate::made::{Made, has};
use couloir::board::Board;
use couloir::doctor::{CHECKS, Finding, Platform, Scene, Seen, Status, examine, examine_one};
use couloir::node::Tree;

fn scene(made: &Made) -> Scene {
    Scene::made(Tree::at(&made.0))
}

fn device(name: &str, fp64: bool, fault: Option<&str>) -> Seen {
    Seen {
        index: 0,
        name: name.to_owned(),
        kind: "gpu",
        version: "OpenCL 3.0".to_owned(),
        fp64,
        fault: fault.map(str::to_owned),
    }
}

fn platform(name: &str, devices: Vec<Seen>) -> Platform {
    Platform {
        name: name.to_owned(),
        devices,
    }
}

fn board(name: &str) -> Option<Board> {
    Board::open(name, &Tree::at("/")).expect("a board")
}

/// The one finding of a check.
fn one(scene: &Scene, check: &str) -> Finding {
    let mut found = examine_one(scene, check);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// `check` finds this status first, and says all of `parts` in what it finds or the remedy.
fn finds(scene: &Scene, check: &str, status: Status, parts: &[&str]) {
    let found = examine_one(scene, check);
    let of_status = found.iter().filter(|f| f.status == status);
    let text: Vec<String> = of_status
        .map(|f| format!("{}; {}", f.what, f.remedy.as_deref().unwrap_or("")))
        .collect();
    assert!(!text.is_empty(), "{check}: no {status:?} in {found:?}");
    has(&text.join("\n"), parts);
}

/// `check` finds nothing to mend.
fn content(scene: &Scene, check: &str) {
    let found = examine_one(scene, check);
    assert!(!found.is_empty(), "{check} says nothing");
    for f in found {
        assert_eq!(f.status, Status::Ok, "{f:?}");
        assert_eq!(f.remedy, None, "{f:?}");
    }
}

#[test]
fn every_finding_that_is_not_ok_has_a_remedy() {
    let made = Made::new();
    let found = examine(&scene(&made));
    for f in &found {
        assert_eq!(f.remedy.is_none(), f.status == Status::Ok, "{f:?}");
        assert!(CHECKS.iter().any(|(name, _)| *name == f.check));
    }
    // Nothing at all is known of an empty tree, and that is no problem yet.
    assert!(
        found.iter().all(|f| f.status < Status::Problem),
        "{found:?}"
    );
}
