//! A leg of iterations of conjugate gradients by one launch: groups, no more than the device runs at once,
//! do products and steps, block after block, and wait for each other in between. There is then no time
//! between launches (1.3 us each on an H100, where products and steps of a million rows take 11), what
//! has come to the caches stays there, and the leg ends by itself.
//!
//! Nothing in OpenCL says that groups run at once. As many as a test finds when a solver is made do, by
//! the model of Sorensen et al. (2016): groups that have started go on. Who waits for too long all the
//! same gives up, and the call is an error. The numbers have the bits of calls one by one.

mod form;

use form::{Form, clear, patience, start};

use super::call::Args;
use super::engine::Engine;
use super::finish::partial;
#[cfg(test)]
use super::first::NOTHING;
use super::site::Site;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::LENGTH;
use crate::node::memory::Arg;
use crate::node::opencl::DeviceInfo;
use crate::node::{BLOCK, Buffer};
use crate::sparse::Sell;
use crate::{Error, Result};

/// The device's side, part of programs that have products and steps.
pub(super) const SOURCE: &str = include_str!("../../cl/pcg_leg.cl");
/// Kernels that it is made of.
pub(super) const PARTS: [&str; 2] = ["pcg_product", "pcg_step"];
/// Its name.
pub(super) const NAME: &str = "pcg_leg_kernel";

/// How often a group asks for the others before it gives up, by a test and by a leg: milliseconds and
/// seconds.
const PATIENCE: [u32; 2] = [1 << 14, 1 << 24];
/// The same of cores, which ask much more often and may have other work.
const SOFTWARE_PATIENCE: [u32; 2] = [1 << 22, 1 << 30];
/// Where groups ask for what all wait for: a line each, of so many words, in the room. See
/// `cl/pcg_leg.cl`.
const PLACES: usize = 8;
const LINE: usize = 32;
/// Lines before those of the places, and of each place.
const LINES: [usize; 2] = [2, 3];
/// Numbers of the room, of one word each at least.
const ROOM: usize = LINE * (LINES[0] + LINES[1] * PLACES);
/// Where it says that a group has given up.
const STUCK: usize = LINE;

/// What the device's side has to know.
pub(super) fn defines() -> String {
    format!("-D LEG=1 -D LEG_PLACES={PLACES}")
}

impl DeviceInfo {
    /// Whether its compiler takes the kernel of a leg, which has barriers in loops around other loops: on
    /// it PoCL 5.0 aborts and what 6.0 makes of it faults; 3.1 is right, 4 was not tried. No other driver is
    /// known to fail.
    pub(crate) fn compiles_legs(&self) -> bool {
        let release = self.driver.split('.').next().unwrap_or_default();
        !self.is_pocl() || release.parse::<u32>().is_ok_and(|n| n < 4)
    }
}

/// The legs of a solver.
pub struct Legs<T: Real> {
    /// By what their iterations move; those that move more than any takes are faster one by one.
    forms: Vec<Form>,
    /// How often one asks for the others before it gives up.
    patience: u32,
    /// Where they meet.
    room: Buffer<T>,
}

#[cfg(test)]
impl<T: Real> Legs<T> {
    /// So many groups at most, or, where they have that patience, exactly so many; how many they were.
    pub(crate) fn limit(&mut self, groups: usize, patience: Option<u32>) -> usize {
        let before = self.forms[0].groups;
        for form in &mut self.forms {
            form.groups = match patience {
                Some(_) => groups,
                None => groups.min(form.groups),
            };
        }
        self.patience = patience.unwrap_or(self.patience);
        before
    }

    /// Whether so many meet, in every form.
    pub(crate) fn meet(&mut self, engine: &Engine<T>, groups: usize) -> bool {
        let d = engine.node.device.as_ref().unwrap();
        let mut meet = |form: &Form| form::meets(d, &form.kernel, groups, &mut self.room).unwrap();
        let all: Vec<bool> = self.forms.iter().map(&mut meet).collect();
        assert!(all.iter().all(|&meet| meet == all[0]), "{all:?}");
        all[0]
    }

    /// Most bytes of an iteration of each form.
    pub(crate) fn most_bytes(&self) -> Vec<f64> {
        self.forms.iter().map(|form| form.most_bytes).collect()
    }

    /// Whether the room is as it was before the last leg, but for the phase.
    pub(crate) fn left_clear(&self) -> bool {
        let words: &[u32] = bytemuck::cast_slice(self.room.read().unwrap());
        let lines = words.chunks(LINE).enumerate();
        let phases = LINES[0]..LINES[0] + PLACES;
        let mut rest = lines.map(|(n, line)| (n < 2, &line[usize::from(phases.contains(&n))..]));
        rest.all(|(zero, words)| words.iter().all(|&w| w == if zero { 0 } else { NOTHING }))
    }

    /// Iterations are too large for legs from now on.
    pub(crate) fn refuse(&mut self) {
        self.forms.clear();
    }
}

/// What a leg works on.
pub struct Leg<'a, T: Real> {
    /// `y`, the direction before `p`, `p` and `s`. The two directions have changed places after an odd
    /// number of steps.
    pub vectors: [&'a mut Buffer<T>; 4],
    /// Of products, with the row's own share of the diagonal.
    pub matrix: (&'a Sell<T>, f64),
    /// Scalars.
    pub state: &'a mut Buffer<T>,
    /// What they are, where the device has not been given them yet: then no launch before this one has to.
    pub given: Option<[T; LENGTH]>,
    /// Which reduction of whose call is `r . r`, if not the last step's first.
    pub before: Option<(&'a Site<T>, usize)>,
    /// Most steps.
    pub steps: usize,
    /// The first product has been done.
    pub multiplied: bool,
}

impl<T: Real> Engine<T> {
    /// Prepares legs of products of `matrix`, where groups of the device run at once.
    ///
    /// # Errors
    /// The device failed; out of memory.
    pub fn legs(&self, matrix: &Sell<T>) -> Result<Option<Legs<T>>> {
        let (Some(program), Some(d)) = (&self.program, &self.node.device) else {
            return Ok(None);
        };
        // Scalars are divided as the host divides.
        let exact = T::CL == "double" || d.info.exact_division;
        let Some(most) = d.tuning.together.filter(|_| exact && self.totals.is_some()) else {
            return Ok(None);
        };
        let kernels = program.legs(matrix.is_same(), &d.tuning)?;
        if kernels.is_empty() {
            log::info!(
                "{}: its compiler cannot do iterations in one launch, so that they are launched one by one",
                d.info.name
            );
            return Ok(None);
        }
        let mut room = self.node.buffer(ROOM)?;
        let mut forms = Vec::new();
        for (kernel, most_bytes) in kernels {
            match Form::new(d, kernel, most, most_bytes, &mut room)? {
                Some(form) => forms.push(form),
                None => {
                    log::info!(
                        "{}: groups do not run at once, so that iterations are launched one by one",
                        d.info.name
                    );
                    return Ok(None);
                }
            }
        }
        Ok(Some(Legs {
            forms,
            patience: patience(d)[1],
            room,
        }))
    }

    /// Whether the device does the next calls of `product` and `step` by a leg, once it has what they begin
    /// with.
    pub fn takes_leg(&self, legs: &Legs<T>, sites: [&Site<T>; 2]) -> bool {
        self.form_of(legs, sites).is_some()
    }

    /// The number of the form that does that, if any does.
    pub(crate) fn form_of(&self, legs: &Legs<T>, [product, step]: [&Site<T>; 2]) -> Option<usize> {
        let bytes = product.stats.call_bytes + step.stats.call_bytes;
        let wholly = self.is_the_devices(product) && self.is_the_devices(step);
        let takes = |form: &Form| wholly && bytes <= form.most_bytes;
        legs.forms.iter().position(takes)
    }

    /// Starts a leg, of the next calls of `product` and `step`, until the state says stop; returns
    /// whether the device does it. What state comes of it has its number, unless groups have given up.
    ///
    /// # Errors
    /// The device failed.
    pub fn start_leg(
        &self,
        legs: &mut Legs<T>,
        [product, step]: [&mut Site<T>; 2],
        leg: Leg<'_, T>,
    ) -> Result<bool> {
        let form = self.form_of(legs, [product, step]);
        let (before, at) = leg.before.unwrap_or((step, 0));
        let sums = [(before, at), (&*product, 0)];
        let done = self.done_by_device(&sums[..1 + usize::from(leg.multiplied)]);
        let blocks = step.rows / BLOCK;
        let (true, Some(form), Some(d)) = (done, form, &self.node.device) else {
            return Ok(false);
        };
        let (m, own) = leg.matrix;
        let before = partial(before, at)?;
        m.view(true, false)?;
        let mut args = Args::default();
        for v in leg.vectors {
            args.push(v.split_at(usize::MAX, true)?.0.arg);
        }
        for partial in step
            .device_partial
            .iter_mut()
            .chain(&mut product.device_partial)
        {
            args.push(partial.split_at(usize::MAX, true)?.0.arg);
        }
        args.push(before);
        args.push(m.slices().arg());
        args.push(m.index().arg());
        args.push(Arg::Words(m.usual()));
        args.push(m.planes()[0].arg());
        args.push(Arg::Words(m.same()));
        args.push(leg.state.split_at(usize::MAX, true)?.0.arg);
        args.push(legs.room.split_at(usize::MAX, true)?.0.arg);
        (product.cut, step.cut) = (product.rows, step.rows);
        let counts = [
            u32::from(leg.given.is_some()),
            blocks as u32,
            leg.steps as u32,
            u32::from(leg.multiplied),
            legs.patience,
        ];
        // One has no rows, if there are others, even where with it all would have a block less; of those no
        // more than have to take as many blocks as some do.
        let form = &legs.forms[form];
        let adds = usize::from(form.groups > 1);
        let groups = blocks.div_ceil(blocks.div_ceil(form.groups - adds)) + adds;
        let given = leg.given.unwrap_or([T::ZERO; LENGTH]);
        let values = (T::of(own), &given, counts);
        start(d, &form.kernel, groups, args.all(), values)?;
        Ok(true)
    }

    /// Counts so many calls of `site` that a leg has done.
    pub fn count_leg(&self, site: &mut Site<T>, calls: usize) {
        if let Some(d) = &self.node.device {
            site.put_down(&d.link.queue, calls as u64);
        }
    }

    /// The error of a leg whose groups have given up.
    pub fn stuck(&self, legs: &mut Legs<T>) -> Error {
        let cleared = clear(&mut legs.room);
        let name = self.node.device.as_ref().map(|d| d.info.name.clone());
        cleared.err().unwrap_or_else(|| Error::Device {
            device: name.unwrap_or_default(),
            what: "groups of a kernel that wait for each other no longer run at once".into(),
            remedy: "leave the device to this process, or run with `together = 0` in a file named by COULOIR_TUNING".into(),
        })
    }
}
