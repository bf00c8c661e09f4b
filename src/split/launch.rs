//! Programs for the device and their launches.

use std::ops::Range;
use std::path::Path;

use bytemuck::Pod;
use opencl3::kernel::{Kernel as ClKernel, set_kernel_arg, set_kernel_arg_svm_pointer};
use opencl3::types::cl_kernel;

use super::call::Args;
use super::engine::{Engine, Operands};
use super::first::{self, ADDERS};
use super::leg;
use super::site::Site;
use super::source::{source, streamed};
use crate::kernel::elements::ELEMENTS;
use crate::kernel::scalars::{self, Scalars, TOTAL_LANES};
use crate::kernel::{Kernel, LANES, Real, SLICE, Shape, pcg_scalars};
use crate::node::memory::Arg;
use crate::node::program::Program;
use crate::node::{BLOCK, Device, Tuning};
use crate::sparse::{STEPS_AHEAD, Sell};
use crate::{Error, Result};

/// The programs of some kernels.
pub(super) struct Programs {
    all: Program,
    /// Kernels of one matrix and one vector, and those whose groups wait: they need few registers.
    small: Option<Program>,
    /// The former for matrices of long rows.
    long: Option<Program>,
    /// Those of them that load ahead, for matrices of the same slices.
    ahead: Option<Program>,
    /// Products and steps in one kernel.
    leg: Option<Program>,
    /// The same with products that load ahead; and that for large iterations.
    leg_ahead: Option<Program>,
    leg_large: Option<Program>,
}

impl Programs {
    /// The function `name`.
    pub fn kernel(&self, name: &str) -> Result<ClKernel> {
        self.all.kernel(name)
    }

    /// The function that does its scalars first; it needs few registers, too.
    pub fn waiting<T: Real>(&self, scalars: &Scalars<T>) -> Result<ClKernel> {
        let program = self.small.as_ref().unwrap_or(&self.all);
        program.kernel(&scalars.waiting())
    }

    /// The kernels of legs, for matrices of the `same` slices if there are such, each with the most bytes
    /// that an iteration may move there; those of fewer bytes come first.
    pub fn legs(&self, same: bool, t: &Tuning) -> Result<Vec<(ClKernel, f64)>> {
        let bytes = |mb: Option<u32>| mb.map_or(f64::INFINITY, |mb| 1e6 * f64::from(mb));
        let forms = match (same, &self.leg, &self.leg_ahead, &self.leg_large) {
            (true, _, Some(ahead), Some(large)) => {
                vec![(ahead, bytes(t.together_large_mb)), (large, f64::INFINITY)]
            }
            (true, _, Some(ahead), None) => vec![(ahead, bytes(t.together_mb))],
            (_, Some(leg), _, _) => vec![(leg, bytes(t.together_mb))],
            _ => Vec::new(),
        };
        let kernels = forms.into_iter();
        kernels
            .map(|(program, most)| Ok((program.kernel(leg::NAME)?, most)))
            .collect()
    }

    /// The kernel `name` of that shape.
    pub fn handle(&self, name: &str, shape: &Shape) -> Result<ClKernel> {
        let program = match &self.small {
            Some(small) if is_small(shape) => small,
            _ => &self.all,
        };
        program.kernel(&format!("{name}_kernel"))
    }

    /// The kernel `name` of that shape for matrices of long rows, if there is one of its own.
    pub fn long(&self, name: &str, shape: &Shape) -> Result<Option<ClKernel>> {
        let long = self.long.as_ref().filter(|_| is_small(shape));
        let kernel = |p: &Program| p.kernel(&format!("{name}_kernel"));
        long.map(kernel).transpose()
    }

    /// The form of `kernel` that loads ahead, if it has one.
    pub fn ahead<T: Real>(&self, kernel: &Kernel<T>) -> Result<Option<ClKernel>> {
        let ahead = self.ahead.as_ref().filter(|_| loads_ahead(kernel));
        let named = |p: &Program| p.kernel(&format!("{}_kernel", kernel.name));
        ahead.map(named).transpose()
    }
}

/// Whether scalars may be computed within a kernel.
fn waits<T: Real>(kernel: &Kernel<T>) -> bool {
    scalars::list::<T>().iter().any(|s| s.within == kernel.name)
}

/// Whether a kernel has a form that loads ahead: see `cl/ahead.cl`.
fn loads_ahead<T: Real>(kernel: &Kernel<T>) -> bool {
    is_small(&kernel.shape) && kernel.source.contains("EACH_ENTRY_OF(")
}

/// Whether a kernel has one matrix, of one plane, and one vector; it is given the values that many
/// rows share, too.
pub(super) fn is_small(shape: &Shape) -> bool {
    shape.mats == [1] && shape.gather == 1
}

impl<T: Real> Engine<T> {
    pub(super) fn compile(
        device: &Device,
        kernels: &[Kernel<T>],
        cache: Option<&Path>,
    ) -> Result<Programs> {
        Self::compile_as(device, device.tuning, kernels, cache)
    }

    /// Compiles for launches by `t`.
    pub(super) fn compile_as(
        device: &Device,
        t: Tuning,
        kernels: &[Kernel<T>],
        cache: Option<&Path>,
    ) -> Result<Programs> {
        let double = T::CL == "double";
        if double && !device.info.fp64 {
            return Err(Error::input(
                format!("--device {}", device.info.index),
                format!("{} has no double precision", device.info.name),
                "run with --precision mixed, take another from `couloir devices`, or run with --device none",
            ));
        }
        let exact = if double || !device.info.exact_division {
            ""
        } else {
            "-cl-fp32-correctly-rounded-divide-sqrt "
        };
        let options = format!(
            "-w {exact}-D REAL={} -D VECTOR={} -D ITEM={} -D BLOCK={BLOCK} -D LANES={LANES} -D SLICE={SLICE} -D ELEMENTS={ELEMENTS} -D TOTAL_LANES={TOTAL_LANES} -D PAIRED={} -D KEEPS={} {} {}",
            T::CL,
            t.vector,
            t.item,
            u8::from(T::PAIRED),
            u8::from(device.info.keeps),
            pcg_scalars::defines(),
            first::defines()
        );
        let adding = t.adding.map(|n| format!(" -D ADDING={n}"));
        let mut options = options + &adding.unwrap_or_default();
        if device.info.software {
            // PoCL 3.1 on ARM miscomputes sums by groups in loops that it is told to unroll.
            options += " -D UNROLL_=";
        }
        let build = |kernels: &[Kernel<T>], more: String| {
            let source = source(kernels, &t);
            Program::build(device, &source, &format!("{options} {more}"), cache)
        };
        let all = build(kernels, "-D SMALL=0 -D LONG=0".to_owned())?;
        let few = |registers: Option<u32>, kernels: &[Kernel<T>], more: &str| {
            let registers = registers.map(|n| format!("-cl-nv-maxrregcount={n} "));
            let registers = registers.unwrap_or_default();
            match t.vector {
                1 if !kernels.is_empty() => {
                    build(kernels, format!("{registers}-D SMALL=1 {more}")).map(Some)
                }
                _ => Ok(None),
            }
        };
        let mut small = kernels.to_vec();
        small.retain(|k| is_small(&k.shape) || t.waits && waits(k));
        let mut long = small.clone();
        long.retain(|k| t.long_registers.is_some() && is_small(&k.shape));
        let mut ahead = small.clone();
        ahead.retain(|k| t.ahead && loads_ahead(k));
        let mut parts = kernels.to_vec();
        let legs = t.together.is_some() && device.info.compiles_legs();
        parts.retain(|k| legs && leg::PARTS.contains(&k.name));
        if parts.len() < leg::PARTS.len() {
            parts.clear();
        }
        let ahead_too = |more: &str| format!("{more} -D LONG=0 -D AHEAD={STEPS_AHEAD}");
        let as_leg = leg::defines();
        let parts_ahead = if t.ahead { &parts[..] } else { &[] };
        let parts_large = t.together_large_mb.map_or(&[][..], |_| parts_ahead);
        Ok(Programs {
            all,
            small: few(t.registers, &small, "-D LONG=0")?,
            long: few(t.long_registers, &long, "-D LONG=1")?,
            ahead: few(t.registers, &ahead, &ahead_too(""))?,
            leg: few(t.together_registers, &parts, &format!("{as_leg} -D LONG=0"))?,
            leg_ahead: few(t.together_ahead_registers, parts_ahead, &ahead_too(&as_leg))?,
            leg_large: few(t.together_large_registers, parts_large, &ahead_too(&as_leg))?,
        })
    }

    /// Starts `rows` on the device.
    pub(super) fn launch(
        &self,
        site: &Site<T>,
        args: &Args,
        o: &Operands<'_, '_, T>,
        rows: Range<usize>,
    ) -> Result<()> {
        let (Some(d), Some(kernel), false) = (&self.node.device, &site.handle, rows.is_empty())
        else {
            return Ok(());
        };
        let t = site.tuning.unwrap_or(d.tuning);
        let any = |of: fn(&Sell<T>) -> bool| o.mats.iter().any(|m| of(m));
        let long = site.long.as_ref().filter(|_| any(Sell::is_long));
        let ahead = site.ahead.as_ref().filter(|_| any(Sell::is_same));
        let kernel = long.or(ahead).unwrap_or(kernel);
        let k = o.first.as_ref().map_or(kernel, |f| &f.kernel).get();
        let fail = |code| d.link.error(site.kernel.name, code);
        d.link.queue.order().map_err(fail)?;
        let index = set_args(k, 0, args.all(), o.scalars).map_err(fail)?;
        let index = match o.state {
            Some(state) => set_args::<T>(k, index, &[state.arg()], &[]).map_err(fail)?,
            None => index,
        };
        let shape = &site.kernel.shape;
        let (items, group) = if streamed(shape, t.item) {
            // Two blocks keep a core of the device busier, if they come in pairs.
            let (blocks, items) = (rows.len() / BLOCK, LANES / t.vector);
            (blocks * items, items << u32::from(blocks.is_multiple_of(2)))
        } else {
            let block = !shape.reduce.is_empty() || shape.by_element;
            let group = t.group_of(block, !shape.mats.is_empty());
            (rows.len() / t.item, group)
        };
        let first = rows.start * items / rows.len();
        let items = match &o.first {
            Some(f) => {
                set_args(k, index, &f.buffers, &f.counts).map_err(fail)?;
                items + ADDERS * group
            }
            None => items,
        };
        d.link
            .queue
            .start_from(k, first, items, group)
            .map_err(fail)?;
        if let Some(f) = &o.first {
            f.launched();
        }
        Ok(())
    }
}

/// Sets the arguments of `kernel` from number `index` on; returns the number after the last.
pub(super) fn set_args<V: Pod>(
    kernel: cl_kernel,
    mut index: u32,
    buffers: &[Arg],
    values: &[V],
) -> std::result::Result<u32, i32> {
    for arg in buffers {
        // SAFETY: each argument is a live buffer of the kernel's context, of the role that the
        // kernel's source gives to this index (checked for every kernel by the self-check).
        unsafe {
            match arg {
                Arg::Mem(m) => {
                    set_kernel_arg(kernel, index, size_of_val(m), (&raw const *m).cast())
                }
                Arg::Svm(p) => set_kernel_arg_svm_pointer(kernel, index, (*p).cast()),
                Arg::Words(w) => set_kernel_arg(kernel, index, size_of_val(w), w.as_ptr().cast()),
                Arg::None => Err(-38),
            }
        }?;
        index += 1;
    }
    for v in values {
        // SAFETY: the kernel's values at these numbers are of the type that V is: REALs are T.
        unsafe { set_kernel_arg(kernel, index, size_of::<V>(), (&raw const *v).cast()) }?;
        index += 1;
    }
    Ok(index)
}
