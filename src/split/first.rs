//! Scalars that the first groups of the next call compute, while its others load what they will
//! need: there is then no launch between a call's sums and the call that follows from them.

use std::cell::Cell;
use std::rc::Rc;

use opencl3::kernel::Kernel as ClKernel;

use super::engine::Engine;
use super::finish::{Finish, partial};
use super::launch::Programs;
use super::site::Site;
use crate::Result;
use crate::kernel::Real;
use crate::kernel::scalars::{Scalars, TOTAL_LANES};
use crate::node::memory::Arg;
use crate::node::{BLOCK, Buffer, Node};

/// The device's side, part of every program.
pub(super) const SOURCE: &str = include_str!("../../cl/first.cl");

/// Groups that add up, as many for each sum. `couloir bench pcg --matrix grid:160 --device 1 --where
/// device` and `grid:256` on an H100, us an iteration: with 12, which announced what they had, 101.5 and
/// 415, so 100.5 and 412.
pub(super) const ADDERS: usize = 48;
/// Sums that they add up.
const SUMS: usize = 3;
/// Groups of each.
pub(super) const SHARES: usize = ADDERS / SUMS;
/// Lanes that each leaves.
const LANES_LEFT: usize = 4;
/// Where the room that they share has what follows from the sums: behind what is left, pairs at most.
const ROOM_TOLD: usize = SUMS * LIST_LEFT;
/// Numbers that may follow from the sums.
const TOLD_ROOM: usize = 16;

const _: () = assert!(ADDERS.is_multiple_of(SUMS) && TOTAL_LANES.is_multiple_of(SHARES));
const _: () = assert!(TOTAL_LANES / SHARES >= 4 * LANES_LEFT);

/// The same for the device's compiler.
pub(super) fn defines() -> String {
    format!(
        "-D ADDERS={ADDERS} -D LANES_LEFT={LANES_LEFT} -D ROOM_TOLD={ROOM_TOLD} -D TOLD_ROOM={TOLD_ROOM}"
    )
}

/// What stands where a number is not there yet, in each half of its bits.
pub(super) const NOTHING: u32 = 0xfffe_5eed;

/// Numbers that the groups leave of a list that they share, pairs at most.
pub(super) const LIST_LEFT: usize = 2 * SHARES * LANES_LEFT;

/// No number is there.
pub(super) fn nothing<T: Real>(room: &mut Buffer<T>) -> Result<&mut [u32]> {
    let words = bytemuck::cast_slice_mut(room.write()?);
    words.fill(NOTHING);
    Ok(words)
}

/// The kernel that does this, on devices whose groups may wait for earlier ones.
pub(super) struct Waiting<T: Real> {
    kernel: Rc<ClKernel>,
    /// Where the groups meet.
    room: Buffer<T>,
    /// Number of the last launch: what has not been launched leaves no number behind.
    turn: Rc<Cell<u32>>,
}

/// What the first groups of a call do.
pub struct First {
    pub(super) kernel: Rc<ClKernel>,
    /// Partial results of the sums; the room.
    pub(super) buffers: [Arg; SUMS + 1],
    /// Blocks of each; the launch.
    pub(super) counts: [u32; 2],
    /// See [`Waiting`].
    last: Rc<Cell<u32>>,
}

impl First {
    /// They have been launched.
    pub(super) fn launched(&self) {
        self.last.set(self.counts[1]);
    }
}

impl<T: Real> Waiting<T> {
    pub fn new(node: &Node, program: &Programs, scalars: &Scalars<T>) -> Result<Option<Self>> {
        let waits = node.device.as_ref().is_some_and(|d| d.tuning.waits);
        if !waits || scalars.sums != SUMS {
            return Ok(None);
        }
        let mut room = node.buffer(ROOM_TOLD + 2 * TOLD_ROOM)?;
        nothing(&mut room)?;
        Ok(Some(Self {
            kernel: Rc::new(program.waiting(scalars)?),
            room,
            turn: Rc::default(),
        }))
    }
}

impl<T: Real> Engine<T> {
    /// As [`Engine::reduce`], left to the next call of `site` where the device does all of that
    /// call, too: to be given to it as [`Operands::first`](super::Operands::first). None where it
    /// cannot be left to it.
    ///
    /// # Errors
    /// The device failed.
    pub fn leave_to(
        &self,
        site: &Site<T>,
        finish: &mut Finish<T>,
        sums: &[(&Site<T>, usize)],
        state: &mut Buffer<T>,
    ) -> Result<Option<First>> {
        let wholly = self.done_by_device(sums) && self.cut(site) == site.rows;
        let like = site.kernel.name == finish.scalars.within && site.tuning.is_none();
        let (true, true, Some(waiting)) = (wholly, like, &mut finish.waiting) else {
            return Ok(None);
        };
        let mut buffers = [waiting.room.split_at(usize::MAX, true)?.0.arg; SUMS + 1];
        for (arg, (site, k)) in buffers.iter_mut().zip(sums) {
            *arg = partial(site, *k)?;
        }
        // The device's from now on.
        state.split_at(usize::MAX, true)?;
        let blocks = sums.first().map_or(0, |(s, _)| s.rows / BLOCK);
        Ok(Some(First {
            kernel: Rc::clone(&waiting.kernel),
            buffers,
            counts: [blocks as u32, waiting.turn.get().wrapping_add(1)],
            last: Rc::clone(&waiting.turn),
        }))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::kernel::pcg_scalars::{self, ALPHA, BOUND, LATER, LENGTH, STOP, WEIGHT};
    use crate::kernel::{dot, pcg_step};
    use crate::node::tuning::tests::launched;
    use crate::node::{Config, DeviceChoice, MemoryKind, opencl};
    use crate::split::{Operands, Policy};

    /// Set in the process whose launch parameters let groups wait.
    pub(in crate::split) const WAITS: &str = "COULOIR_TEST_WAITS";

    /// A call that sums `a . b`.
    pub(in crate::split) fn sum<T: Real>(
        engine: &Engine<T>,
        a: &Buffer<T>,
        b: &Buffer<T>,
    ) -> Site<T> {
        let mut site = engine.site(dot::kernel(), "sum", a.len()).unwrap();
        let operands = Operands {
            own: &[a, b],
            ..Operands::default()
        };
        engine.run(&mut site, operands).unwrap();
        site
    }

    /// All that two steps leave, the scalars of which are left to them where that is possible;
    /// and how many were.
    fn two_steps<T: Real>(config: &Config, rows: usize) -> (Vec<f64>, usize) {
        let engine = Engine::<T>::open(config, Policy::Fixed(1.0)).unwrap();
        let vector = |power: f64| {
            let values: Vec<T> = (0..rows)
                .map(|i| T::of((i as f64 + 3.0).powf(power)))
                .collect();
            engine.node.buffer_from(&values).unwrap()
        };
        let (s, mut state) = (vector(-0.52), engine.node.buffer(LENGTH).unwrap());
        // It goes on, whatever comes of it.
        state.write().unwrap()[WEIGHT] = T::of(1.0);
        state.write().unwrap()[BOUND] = T::of(-1e30);
        let mut vectors = [vector(-0.1), vector(-0.5), vector(-0.4)];
        let mut before = sum(&engine, &vectors[1], &vectors[1]);
        let scalars = pcg_scalars::scalars();
        let mut finish = engine.finish(scalars, "scalars").unwrap();
        let mut step = engine.site(pcg_step::kernel(), "step", rows).unwrap();
        let mut left = 0;
        for _ in 0..2 {
            let [y, old, p] = &mut vectors;
            let sites = [sum(&engine, p, &s), sum(&engine, &s, &s)];
            let sums = [(&before, 0), (&sites[0], 0), (&sites[1], 0)];
            let mut leave = || {
                let first = engine.leave_to(&step, &mut finish, &sums, &mut state);
                first.unwrap()
            };
            // What is given up takes no turn: the place of its numbers would not be empty.
            let turns = [leave(), leave()].map(|f| f.map(|f| f.counts[1]));
            assert_eq!(turns[0], turns[1]);
            let first = leave();
            match &first {
                Some(_) => left += 1,
                None => drop(engine.reduce(&mut finish, &sums, &mut state).unwrap()),
            }
            let operands = Operands {
                inout: &mut [y, old],
                own: &[p, &s],
                state: Some(&state),
                first,
                ..Operands::default()
            };
            engine.post(&mut step, operands).unwrap();
            engine.settle().unwrap();
            vectors.swap(1, 2);
            before = sum(&engine, &vectors[1], &vectors[1]);
        }
        let mut all: Vec<f64> = state.read().unwrap().iter().map(|x| x.f64()).collect();
        assert!(all[ALPHA] > 0.0 && all[STOP] == 0.0, "{:?}", &all[..LENGTH]);
        all.truncate(LENGTH);
        for v in &mut vectors {
            all.extend(v.read().unwrap().iter().map(|x| x.f64()));
        }
        (all, left)
    }

    fn same_bits<T: Real>(waits: bool, all_blocks: &[usize]) {
        let on = |device, memory| Config {
            device,
            threads: Some(2),
            memory,
            ..Config::default()
        };
        let devices = opencl::devices().unwrap_or_default();
        let discrete = |d: &&opencl::DeviceInfo| d.fp64 && d.offers(MemoryKind::Discrete);
        for &blocks in all_blocks {
            let rows = blocks * BLOCK - 5;
            let (want, left) = two_steps::<T>(&on(DeviceChoice::None, None), rows);
            assert_eq!(left, 0, "nobody waits on the CPU");
            assert!(want[LATER] == 0.0 || want[LATER] == 1.0);
            for d in devices.iter().filter(discrete) {
                let memory = Some(MemoryKind::Discrete);
                let (got, left) = two_steps::<T>(&on(DeviceChoice::Index(d.index), memory), rows);
                if waits {
                    assert_eq!(left, 2, "{} left scalars to the step", d.name);
                }
                let differs = (0..want.len()).find(|&i| want[i].to_bits() != got[i].to_bits());
                assert_eq!(differs, None, "{blocks} blocks, {}", d.name);
            }
        }
    }

    #[test]
    fn scalars_left_to_the_step_are_the_same_bits() {
        let waits = std::env::var_os(WAITS).is_some();
        let few = [1, 300, 2600, 4 * 1024 + 700];
        same_bits::<f64>(waits, &few);
        same_bits::<f32>(waits, &few);
        // More than the work-items of all adding groups ask for at once.
        same_bits::<f32>(waits, &[33 * 1024 + 5]);
    }

    /// Launch parameters are fixed for a process.
    #[test]
    fn groups_of_any_device_may_wait() {
        if !opencl::devices().is_ok_and(|all| !all.is_empty()) {
            return eprintln!("SKIPPED: no device");
        }
        let of_one = "vector = 8\nrows = \"block\"";
        // As on a GPU.
        let of_many = "vector = 1\nrows = \"vector\"\nadding = 1";
        let all = [of_one, of_many].into_iter();
        // PoCL 3.1 mixes up what larger groups add on 32-bit ARM.
        let most = if cfg!(target_arch = "arm") { 1 } else { 2 };
        for launch in all.take(most) {
            for own in [
                "first::tests::scalars_left_to_the_step_are_the_same_bits",
                "lanes::tests::many_blocks_add_up_to_the_same_bits_wherever_they_are",
                "rule::tests::a_device_begins_a_solve_with_the_same_bits_as_the_host",
                "rule::tests::a_device_chooses_the_same_bits_as_the_host",
            ] {
                let own = format!("split::{own}");
                launched(&format!("{launch}\nwaits = true"), &own, WAITS);
            }
        }
    }
}
