//! What a user of a new board stumbles over, each with its remedy.
//!
//! A check is a file with a function over a [`Scene`], so that made trees test it, and one word
//! in the list below.

mod files;
mod report;
mod scene;

use serde::Serialize;

pub use report::Report;
pub use scene::{Disk, OpenCl, Platform, Scene, Seen};

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// It works, but slower, with less precision, or without figures.
    Warning,
    /// Something that is there does not work.
    Problem,
}

impl Status {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// How it came out.
    pub status: Status,
    /// What was found.
    pub what: String,
    /// What to do about it; none if all is well.
    pub remedy: Option<String>,
}

fn ok(what: impl Into<String>) -> Finding {
    finding(Status::Ok, what.into(), None)
}

fn warning(what: impl Into<String>, remedy: impl Into<String>) -> Finding {
    finding(Status::Warning, what.into(), Some(remedy.into()))
}

fn problem(what: impl Into<String>, remedy: impl Into<String>) -> Finding {
    finding(Status::Problem, what.into(), Some(remedy.into()))
}

fn finding(status: Status, what: String, remedy: Option<String>) -> Finding {
    Finding {
        check: "",
        status,
        what,
        remedy,
    }
}

/// A check: its name, and what it finds in a scene.
type Check = (&'static str, fn(&Scene) -> Vec<Finding>);

/// The one list of checks.
macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        /// Every check, in the order of the report.
        pub const CHECKS: &[Check] = &[$((stringify!($name), $name::check)),*];
    };
}

checks!(
    board, icd, mali, devices, meters, governor, thermal, pages, mpi, network, space,
);

/// Every check of the list.
pub fn examine(scene: &Scene) -> Vec<Finding> {
    let named = |&(name, check): &Check| {
        let found = check(scene).into_iter();
        found.map(move |f| Finding { check: name, ..f })
    };
    CHECKS.iter().flat_map(named).collect()
}

/// The findings of the check called `name`.
pub fn examine_one(scene: &Scene, name: &str) -> Vec<Finding> {
    let mut all = examine(scene);
    all.retain(|f| f.check == name);
    all
}
