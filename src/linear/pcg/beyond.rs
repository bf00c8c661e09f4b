//! What comes after the iterations of a solve: the true residual is asked for, and what is made of the
//! solution is started. Where the device does all that alone, it is given this behind the iterations, before
//! anybody knows that they are the last: else it would have nothing to do while the host learns of their
//! end and starts kernel after kernel, each 10 us of an H200's host. There, with the first [leg](super::ahead)
//! started so, too, `couloir bench step --rows 1000000 --device 1 --where device`, in turns, 734, 748, 733 us ->
//! 729, 691, 714, and 600 steps of such a cavity by `couloir run` 870, 898, 839 -> 829, 871, 842 us each.

use super::Pcg;
use super::start::place_of;
use crate::Result;
use crate::kernel::Real;
use crate::linear::Follow;
use crate::node::Buffer;
use crate::split::{Asked, Engine};

/// See the module.
pub(super) struct Beyond<'a, 'f, T: Real> {
    /// The solution.
    pub x: &'a mut Buffer<T>,
    pub follow: Option<Follow<'f, T>>,
    /// The next look at the residual is likely to be the last one, after so many iterations or fewer.
    pub likely: Option<usize>,
    /// The question for the residual of the present `y`, if it has been put.
    pub asked: Option<Asked>,
    /// `x` is that of the present `y`.
    pub left: bool,
    /// What follows has been started of it.
    pub followed: bool,
}

impl<'a, 'f, T: Real> Beyond<'a, 'f, T> {
    pub fn new(x: &'a mut Buffer<T>, follow: Option<Follow<'f, T>>) -> Self {
        Self {
            x,
            follow,
            likely: None,
            asked: None,
            left: false,
            followed: false,
        }
    }

    /// Another `y` is to come.
    pub fn forget(&mut self) {
        self.asked = None;
        (self.left, self.followed) = (false, false);
    }
}

impl<T: Real> Pcg<T> {
    /// Starts the true residual, and leaves the solution.
    pub(super) fn check(
        &mut self,
        engine: &Engine<T>,
        beyond: &mut Beyond<'_, '_, T>,
    ) -> Result<()> {
        beyond.forget();
        let t = place_of(&mut self.factor, &mut self.s);
        self.system.check(engine, t, beyond.x)?;
        beyond.left = true;
        Ok(())
    }

    /// Asks for the residual, which has been started; starts what follows the solution, too, where that is
    /// likely to be of use. Returns the question.
    pub(super) fn go_beyond(
        &mut self,
        engine: &Engine<T>,
        beyond: &mut Beyond<'_, '_, T>,
    ) -> Result<Asked> {
        let asked = engine.ask([&mut self.system.check])?;
        beyond.followed = asked.is_under_way() && beyond.likely.is_some();
        if let (true, Some(follow)) = (beyond.followed, &mut beyond.follow) {
            follow(beyond.x)?;
        }
        Ok(asked)
    }
}
