//! Questions: the reductions of calls, asked of a device that adds them up, and told later; what follows from
//! them may be part of the question.

use super::engine::Engine;
use super::rule::Following;
use super::site::Site;
use super::totals::MAX_SUMS;
use crate::Result;
use crate::kernel::Real;
use crate::kernel::total::Total;
use crate::node::memory::Arg;

/// Reductions that a device was asked for: see [`Engine::ask`].
pub struct Asked {
    /// Which of the questions it was.
    turn: Option<u64>,
}

impl Asked {
    /// Whether the device is at it: else it is done when they are told.
    pub fn is_under_way(&self) -> bool {
        self.turn.is_some()
    }
}

impl<T: Real> Engine<T> {
    /// Asks for the reductions of the last calls of `sites`, to be [told](Self::told) later: other
    /// calls may follow, and run meanwhile.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn ask<const N: usize>(&self, sites: [&mut Site<T>; N]) -> Result<Asked> {
        self.ask_and_follow(sites, None).map(|(asked, _)| asked)
    }

    /// The same with what is `following`; and whether the device does that, too.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn ask_and_follow<const N: usize>(
        &self,
        mut sites: [&mut Site<T>; N],
        mut following: Option<Following<'_, T>>,
    ) -> Result<(Asked, bool)> {
        let done = self.ask_of(&mut sites, following.as_mut())?;
        let turn = self.totals.as_ref().map(|t| t.turn.get());
        let asked = Asked {
            turn: turn.filter(|_| done.is_some()),
        };
        let follows = match (done, following) {
            (Some(false), Some(following)) => self.follow(&asked, following)?,
            (follows, _) => follows.unwrap_or(false),
        };
        Ok((asked, follows))
    }

    /// What that question has come to, where no more than one other was asked since.
    pub(super) fn answer(&self, asked: &Asked) -> Result<Option<[Total<T>; MAX_SUMS]>> {
        match (&self.totals, asked.turn) {
            (Some(totals), Some(turn)) if turn + 1 >= totals.turn.get() => {
                totals.end(turn).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Where the device has what that question comes to, value and rest of each, where no other was
    /// asked since.
    pub(super) fn totals_asked(&self, asked: &Asked) -> Result<Option<Arg>> {
        let totals = self.totals.as_ref();
        let Some(totals) = totals.filter(|t| asked.turn == Some(t.turn.get())) else {
            return Ok(None);
        };
        let at = totals.of(totals.turn.get()).borrow();
        Ok(Some(at.1.share(usize::MAX, usize::MAX)?.device))
    }
}
