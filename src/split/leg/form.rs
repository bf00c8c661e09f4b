//! A form of a leg: its kernel, for iterations that move so much, and how many of its groups run at once.

use opencl3::kernel::Kernel as ClKernel;

use super::super::first::nothing;
use super::super::launch::set_args;
use super::{LINE, LINES, NAME, PATIENCE, PLACES, SOFTWARE_PATIENCE, STUCK};
use crate::Result;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::LENGTH;
use crate::node::memory::Arg;
use crate::node::{Buffer, Device};

/// One kernel of legs.
pub(super) struct Form {
    pub kernel: ClKernel,
    /// How many run at once.
    pub groups: usize,
    /// Iterations that move more are not done by it.
    pub most_bytes: f64,
}

impl Form {
    /// With as many groups as meet in the `room`, `most` of each unit at most; none if not even one of each
    /// does.
    pub fn new<T: Real>(
        d: &Device,
        kernel: ClKernel,
        most: usize,
        most_bytes: f64,
        room: &mut Buffer<T>,
    ) -> Result<Option<Self>> {
        // A thread of PoCL may be dealt several groups, one after the other: those that meet in one
        // launch need not in the next.
        let (most, units) = match d.info.software {
            true => (1, 1),
            false => (most, d.info.units as usize),
        };
        for groups in (1..=most).rev().map(|n| n * units) {
            if meets(d, &kernel, groups, room)? {
                return Ok(Some(Self {
                    kernel,
                    groups,
                    most_bytes,
                }));
            }
        }
        Ok(None)
    }
}

pub(super) fn patience(d: &Device) -> [u32; 2] {
    match d.info.software {
        true => SOFTWARE_PATIENCE,
        false => PATIENCE,
    }
}

/// Whether so many groups meet.
pub(super) fn meets<T: Real>(
    d: &Device,
    kernel: &ClKernel,
    groups: usize,
    room: &mut Buffer<T>,
) -> Result<bool> {
    clear(room)?;
    let at = room.split_at(usize::MAX, true)?.0.arg;
    let none = Arg::Words([0; 16]);
    // The room stands for what is not touched without steps, and for the state, which is.
    let args = [[at; 10].as_slice(), &[none, at, none, at, at]].concat();
    let counts = [0, 0, 0, 0, patience(d)[0]];
    let values = (T::ZERO, &[T::ZERO; LENGTH], counts);
    start(d, kernel, groups, &args, values)?;
    let words: &[u32] = bytemuck::cast_slice(room.read()?);
    Ok(words[STUCK] == 0)
}

/// Nobody has met in the room.
pub(super) fn clear<T: Real>(room: &mut Buffer<T>) -> Result<()> {
    let words = nothing(room)?;
    words[..LINE * LINES[0]].fill(0);
    let phases = words.chunks_mut(LINE).skip(LINES[0]).take(PLACES);
    phases.for_each(|line| line[0] = 0);
    Ok(())
}

pub(super) fn start<T: Real>(
    d: &Device,
    kernel: &ClKernel,
    groups: usize,
    args: &[Arg],
    (own, given, counts): (T, &[T; LENGTH], [u32; 5]),
) -> Result<()> {
    let (fail, kernel) = (|code| d.link.error(NAME, code), kernel.get());
    d.link.queue.order().map_err(fail)?;
    let index = set_args(kernel, 0, args, &[own]).map_err(fail)?;
    let index = set_args(kernel, index, &[], given).map_err(fail)?;
    set_args(kernel, index, &[], &counts).map_err(fail)?;
    let group = d.tuning.group_of(true, true);
    let started = d.link.queue.start(kernel, groups * group, group);
    started.map_err(fail)
}
