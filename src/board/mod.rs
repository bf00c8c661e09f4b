//! What is known of a board: cores, memory bandwidth, device, sensors, power.
//!
//! A board is data, `board/NAME.toml` in the schema of [`Profile`]; all of them are in the
//! binary. To add one, add its file.

mod find;
mod profile;

use std::path::Path;

use crate::input::{self, nearest};
use crate::node::Tree;
use crate::{Error, Result};

pub use profile::{Cluster, Energy, Gpu, Match, Power, Profile, Rail, Tuned};

/// Names and texts of `board/*.toml`, in the order of the alphabet.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/boards.rs"));

/// The value of `node.board` for a board that is recognised, not named.
pub const AUTO: &str = "auto";

/// A board, and why it is this one.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// Stem of its file.
    pub id: String,
    /// What its file says.
    pub profile: Profile,
    /// How it was recognised, such as `compatible: rockchip,rk3588`.
    pub reason: String,
}

impl Board {
    /// The board called `asked`: `auto` for the one that `tree` shows this machine to be (none
    /// if nothing fits), the name of a built-in board, or a file.
    ///
    /// # Errors
    /// [`Error::Input`] for an unknown name, with the nearest there is; for a file that is not a
    /// board, with line and key.
    pub fn open(asked: &str, tree: &Tree) -> Result<Option<Self>> {
        if asked == AUTO {
            return find::find(tree);
        }
        if is_file(asked) {
            let path = Path::new(asked);
            let example = "board/rk3588.toml";
            let text = input::text(path, "board", example)?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            return Ok(Some(Self {
                id: stem.into_owned(),
                profile: Profile::parse(&text, path)?,
                reason: format!("read from {asked}"),
            }));
        }
        let names = FILES.iter().map(|(name, _)| *name);
        let Some((id, text)) = FILES.iter().find(|(name, _)| *name == asked) else {
            let list = names.clone().collect::<Vec<_>>().join(", ");
            let remedy = match nearest(asked, names) {
                Some(near) => format!("did you mean {near}? There are: {list}"),
                None => format!("give auto, a file that ends in .toml, or one of: {list}"),
            };
            return Err(Error::input(
                format!("--board {asked}"),
                "there is no such board",
                remedy,
            ));
        };
        Ok(Some(Self {
            id: (*id).to_owned(),
            profile: built_in(id, text)?,
            reason: "asked for".to_owned(),
        }))
    }

    /// Watts for an estimate where no sensor is found: under load, or else what the nameplate
    /// says.
    pub fn watts(&self) -> Option<f64> {
        self.profile.power.load_w.or(self.profile.power.nameplate_w)
    }
}

/// Whether a value of `node.board` is a path, not a name.
pub fn is_file(asked: &str) -> bool {
    asked.ends_with(".toml") || asked.contains('/')
}

/// A built-in profile; the tests read all of them, so an error is a defect of the build.
fn built_in(name: &str, text: &str) -> Result<Profile> {
    Profile::parse(text, Path::new(&format!("board/{name}.toml")))
}
