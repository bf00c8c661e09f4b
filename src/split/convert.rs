//! Between double and single precision: the one place where buffers of both meet in a call. Cuts
//! follow those of the product before, so that no vector moves for a conversion.

use std::time::Instant;

use opencl3::kernel::Kernel as ClKernel;

use super::engine::Engine;
use super::host::Span;
use super::launch::set_args;
use super::site::{Place, Site};
use super::tuner::Tuner;
use crate::Result;
use crate::kernel::Real;
use crate::node::memory::Arg;
use crate::node::{BLOCK, Buffer, Pool};

/// The device's side, part of every program in double precision.
pub(super) const SOURCE: &str = include_str!("../../cl/convert.cl");

/// A conversion of `rows` rows.
pub struct Convert {
    place: Place,
    handle: Option<ClKernel>,
}

impl Convert {
    /// For reports.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

impl Engine<f64> {
    /// `y <- a x`, x in double and y in single precision: for [`Engine::narrow`].
    ///
    /// # Errors
    /// The device has no such kernel.
    pub fn narrowing(&self, label: &str, like: &Site<f64>) -> Result<Convert> {
        self.convert("narrow", "y <- a x", label, 12.0, like)
    }

    /// `x <- x + a d`, `d <- 0`, x in double and d in single precision: for [`Engine::widen`].
    ///
    /// # Errors
    /// The device has no such kernel.
    pub fn widening(&self, label: &str, like: &Site<f64>) -> Result<Convert> {
        self.convert("widen", "x <- x + a d", label, 24.0, like)
    }

    fn convert(
        &self,
        name: &'static str,
        formula: &'static str,
        label: &str,
        row_bytes: f64,
        like: &Site<f64>,
    ) -> Result<Convert> {
        let handle = match &self.program {
            Some(p) => Some(p.kernel(&format!("{name}_kernel"))?),
            None => None,
        };
        let mut place = Place::new(label, [name, formula, f64::NAME], like.rows);
        place.stats.call_bytes = row_bytes * like.rows as f64;
        place.stats.call_flops = 2.0 * like.rows as f64;
        Ok(Convert { place, handle })
    }

    /// `y <- a x`, cut where `like` is. `a` is a power of two.
    ///
    /// # Errors
    /// The device failed.
    pub fn narrow(
        &self,
        c: &mut Convert,
        like: &Site<f64>,
        a: f64,
        y: &mut Buffer<f32>,
        x: &Buffer<f64>,
    ) -> Result<()> {
        let (start, rows, cut) = (self.measure()?, c.place.rows, self.cut_of(c, like));
        let (device, host) = y.split_at(self.ends(cut, rows), false)?;
        let from = x.share(
            if cut > 0 { usize::MAX } else { 0 },
            if cut < rows { cut } else { usize::MAX },
        )?;
        self.begin(c, &[device.arg, from.device], a, cut)?;
        let (out, x) = (Span::new(host.rows, cut), from.host);
        self.on_threads(cut, rows, &|from, to| {
            // SAFETY: `out` was made from a slice that is borrowed until the threads have
            // finished, and their ranges do not overlap.
            let y = unsafe { out.part(from, to) };
            for (y, x) in y.iter_mut().zip(&x[from - cut..to - cut]) {
                *y = (a * x) as f32;
            }
        });
        self.end(c, start, cut)
    }

    /// `x <- x + a d`, `d <- 0`, cut where `like` is. `a` is a power of two.
    ///
    /// # Errors
    /// The device failed.
    pub fn widen(
        &self,
        c: &mut Convert,
        like: &Site<f64>,
        a: f64,
        x: &mut Buffer<f64>,
        d: &mut Buffer<f32>,
    ) -> Result<()> {
        let (start, rows, cut) = (self.measure()?, c.place.rows, self.cut_of(c, like));
        let ends = self.ends(cut, rows);
        let (device_x, host_x) = x.split_at(ends, true)?;
        let (device_d, host_d) = d.split_at(ends, true)?;
        self.begin(c, &[device_x.arg, device_d.arg], a, cut)?;
        let (x, d) = (Span::new(host_x.rows, cut), Span::new(host_d.rows, cut));
        self.on_threads(cut, rows, &|from, to| {
            // SAFETY: as in `narrow`, for both spans.
            let (x, d) = unsafe { (x.part(from, to), d.part(from, to)) };
            for (x, d) in x.iter_mut().zip(d) {
                *x += a * f64::from(*d);
                *d = 0.0;
            }
        });
        self.end(c, start, cut)
    }

    fn cut_of(&self, c: &Convert, like: &Site<f64>) -> usize {
        match c.handle {
            Some(_) => self.cut(like),
            None => 0,
        }
    }

    fn on_threads(&self, cut: usize, rows: usize, part: &(dyn Fn(usize, usize) + Sync)) {
        if cut == rows {
            return;
        }
        let pool: &Pool = &self.node.pool;
        pool.run(&|t| {
            let blocks = pool.part(t, cut / BLOCK..rows / BLOCK);
            if !blocks.is_empty() {
                part(blocks.start * BLOCK, blocks.end * BLOCK);
            }
        });
    }

    /// Starts the device's rows `[0, cut)`.
    fn begin(&self, c: &Convert, args: &[Arg], a: f64, cut: usize) -> Result<()> {
        let (true, Some(d), Some(kernel)) = (cut > 0, &self.node.device, &c.handle) else {
            return Ok(());
        };
        let k = kernel.get();
        let fail = |code| d.link.error(c.place.name, code);
        d.link.queue.order().map_err(fail)?;
        set_args(k, 0, args, &[a]).map_err(fail)?;
        let t = d.tuning;
        d.link.queue.start(k, cut / t.item, t.group).map_err(fail)
    }

    /// Waits for the device, and books the call.
    fn end(&self, c: &mut Convert, start: Instant, cut: usize) -> Result<()> {
        if let (true, Some(d)) = (cut > 0, &self.node.device) {
            let settled = d.link.queue.settle();
            settled.map_err(|code| d.link.error(c.place.name, code))?;
        }
        let ratio = cut as f64 / c.place.rows as f64;
        c.place.tuner = Tuner::fixed(c.place.rows, BLOCK, ratio);
        c.place.stats.add(start.elapsed().as_secs_f64());
        Ok(())
    }
}
