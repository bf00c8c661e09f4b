//! The memory's roofs: what moves most bytes in a second, for each mix of reads and writes.

mod gauge;
#[cfg(test)]
mod tests;

pub use gauge::{Arrays, Gauge};

use super::engine::Engine;
use super::launch::Programs;
use super::site::{Site, Traffic};
use crate::Result;
use crate::kernel::{Kernel, Real, axpy, dot, stream};
use crate::node::program::cache_dir;
use crate::node::{BLOCK, Tuning};

/// Bandwidths of the loops of [`stream`] and of AXPY, GB/s: the best of several paths and calls
/// over arrays larger than the caches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Roofs {
    /// `sum x` or `x . y`: reads alone.
    pub read_gb_s: f64,
    /// `y <- x`: a read and a write.
    pub copy_gb_s: f64,
    /// `z <- x + a y`: two reads and a write.
    pub triad_gb_s: f64,
    /// `y <- a x + y`: two reads, and a write to one of them.
    pub axpy_gb_s: f64,
}

impl Roofs {
    /// Least time of `traffic`: each byte takes the time per byte that follows from the loops.
    /// Reads by `read`; writes by what is left of `copy` or `triad` without its reads; updates
    /// by what is left of `axpy`.
    pub fn seconds(&self, traffic: &Traffic) -> f64 {
        let per_byte = |gb_s: f64| 1e-9 / gb_s.max(f64::MIN_POSITIVE);
        let read_s = per_byte(self.read_gb_s);
        let updated_s = (3.0 * per_byte(self.axpy_gb_s) - read_s).max(read_s);
        let by_copy_s = 2.0 * per_byte(self.copy_gb_s) - read_s;
        let by_triad_s = 3.0 * per_byte(self.triad_gb_s) - 2.0 * read_s;
        let written_s = by_copy_s.min(by_triad_s).max(0.0);
        traffic.read_bytes * read_s
            + traffic.written_bytes * written_s
            + traffic.updated_bytes * updated_s
    }

    /// The higher one of each.
    pub fn max(self, other: Self) -> Self {
        self.with(other, f64::max)
    }

    /// The lower one of each.
    pub fn min(self, other: Self) -> Self {
        self.with(other, f64::min)
    }

    /// Those of read, copy, triad and AXPY, GB/s.
    pub fn rates(&self) -> [f64; 4] {
        [
            self.read_gb_s,
            self.copy_gb_s,
            self.triad_gb_s,
            self.axpy_gb_s,
        ]
    }

    fn with(self, other: Self, of: fn(f64, f64) -> f64) -> Self {
        Self {
            read_gb_s: of(self.read_gb_s, other.read_gb_s),
            copy_gb_s: of(self.copy_gb_s, other.copy_gb_s),
            triad_gb_s: of(self.triad_gb_s, other.triad_gb_s),
            axpy_gb_s: of(self.axpy_gb_s, other.axpy_gb_s),
        }
    }
}

/// Rows per vector instruction of the other program of a device that is tuned for fewer.
const WIDE: usize = 2;

/// A program of the loops, and how it is launched.
struct Loops {
    programs: Programs,
    tuning: Tuning,
}

impl<T: Real> Engine<T> {
    /// The device's programs of the loops, which no other run needs: as it is tuned, and, for the
    /// device alone, with wider loads.
    fn stream_programs(&self, ratio: f64) -> Result<Vec<Loops>> {
        let Some(device) = &self.node.device else {
            return Ok(Vec::new());
        };
        let cache = cache_dir().map(|d| d.join("kernels"));
        let mut kernels = stream::list();
        kernels.extend([axpy::kernel(), dot::kernel()]);
        let t = device.tuning;
        let mut tunings = vec![t];
        if ratio >= 1.0 && t.item < WIDE {
            tunings.push(Tuning {
                vector: WIDE,
                item: WIDE,
                group: t.group.min(BLOCK / WIDE),
                ..t
            });
        }
        let loops = tunings.into_iter().map(|tuning| {
            let programs = Self::compile_as(device, tuning, &kernels, cache.as_deref())?;
            Ok(Loops { programs, tuning })
        });
        loops.collect()
    }

    /// A site of exactly this kernel, from `loops`.
    fn stream_site(
        &self,
        loops: Option<&Loops>,
        kernel: Kernel<T>,
        rows: usize,
    ) -> Result<Site<T>> {
        let handle = match loops {
            Some(l) => Some(l.programs.handle(kernel.name, &kernel.shape)?),
            None => None,
        };
        let mut site = Site::new(&self.node, kernel, "roof", rows, handle)?;
        site.tuning = loops.map(|l| l.tuning);
        Ok(site)
    }
}
