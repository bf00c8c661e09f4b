//! The memory's roofs: what moves most bytes in a second, for each mix of reads and writes.

#[cfg(test)]
mod tests;

use std::time::Instant;

use super::engine::{Engine, Operands};
use super::launch::Programs;
use super::site::{Site, Traffic};
use crate::Result;
use crate::kernel::{Kernel, Real, axpy, dot, stream};
use crate::node::program::cache_dir;
use crate::node::{BLOCK, Buffer, MemoryKind, Tuning};

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
}

/// Bytes of each array: four times a large last-level cache, yet a fraction of a second in all.
const ARRAY_BYTES: usize = 128 << 20;
/// The same on a device alone that has memory of its own and much of it: its caches are larger.
const DEVICE_ARRAY_BYTES: usize = 512 << 20;
/// Arrays that such a device must have room for.
const ROOM: u64 = 32;
/// Calls of each path; the first warms up, the fastest counts.
const CALLS: usize = 6;
/// Calls one after the other that a device is timed for, since starting the first and hearing of
/// the last takes as long as a call.
const BATCH: usize = 10;

/// Rows per vector instruction of the other program of a device that is tuned for fewer.
const WIDE: usize = 2;

/// A program of the loops, and how it is launched.
struct Loops {
    programs: Programs,
    tuning: Tuning,
}

impl<T: Real> Engine<T> {
    /// Measures the roofs with the share `ratio` of the rows on the device: 0 is the CPU alone,
    /// 1 the device alone. `before` each call comes what comes before those of the kernels that are
    /// held against them, such as a sweep of the caches.
    ///
    /// # Errors
    /// Out of memory, or the device failed.
    pub fn roofs(&self, ratio: f64, before: &dyn Fn(&Self)) -> Result<Roofs> {
        let bytes = match &self.node.device {
            Some(d)
                if ratio >= 1.0
                    && self.node.memory == MemoryKind::Discrete
                    && d.info.memory_bytes >= ROOM * DEVICE_ARRAY_BYTES as u64 =>
            {
                DEVICE_ARRAY_BYTES
            }
            _ => ARRAY_BYTES,
        };
        let n = bytes / size_of::<T>();
        let mut v = [
            self.node.buffer::<T>(n)?,
            self.node.buffer::<T>(n)?,
            self.node.buffer::<T>(n)?,
        ];
        // What was never written is one page of zeros, read from the caches.
        for buffer in &mut v {
            buffer.write()?.fill(T::of(1.0));
        }
        let read = stream::read::paths().map(|host| Kernel {
            host,
            ..stream::read::kernel()
        });
        let copy = stream::copy::paths().map(|host| Kernel {
            host,
            ..stream::copy::kernel()
        });
        let triad = stream::triad::paths().map(|host| Kernel {
            host,
            ..stream::triad::kernel()
        });
        // Two arrays at once are often read faster than one.
        let dot = dot::paths().map(|host| Kernel {
            host,
            ..dot::kernel()
        });
        let axpy = axpy::paths().map(|host| Kernel {
            host,
            ..axpy::kernel()
        });
        let programs = self.stream_programs(ratio)?;
        let mut best = |paths: &[Kernel<T>]| self.best(&programs, paths, ratio, before, &mut v);
        Ok(Roofs {
            read_gb_s: best(&read)?.max(best(&dot)?),
            copy_gb_s: best(&copy)?,
            triad_gb_s: best(&triad)?,
            axpy_gb_s: best(&axpy)?,
        })
    }

    /// The best rate of `paths`, which differ on the CPU alone, and of the device's programs, in GB/s.
    fn best(
        &self,
        programs: &[Loops],
        paths: &[Kernel<T>],
        ratio: f64,
        before: &dyn Fn(&Self),
        v: &mut [Buffer<T>; 3],
    ) -> Result<f64> {
        let mut rate = 0.0f64;
        let sites = if ratio >= 1.0 {
            let sites = programs.iter();
            let sites = sites.map(|p| self.stream_site(Some(p), paths[0], v[0].len()));
            sites.collect::<Result<Vec<_>>>()?
        } else {
            let sites = paths.iter();
            let sites = sites.map(|&path| self.stream_site(programs.first(), path, v[0].len()));
            sites.collect::<Result<Vec<_>>>()?
        };
        for mut site in sites {
            self.set_ratio(&mut site, ratio);
            for call in 0..CALLS {
                before(self);
                let seconds = if ratio >= 1.0 {
                    self.batch(&mut site, v)?
                } else {
                    let start = site.seconds_s();
                    self.stream(&mut site, v)?;
                    site.seconds_s() - start
                };
                if call > 0 {
                    rate = rate.max(site.stats.call_bytes / seconds / 1e9);
                }
            }
        }
        Ok(rate)
    }

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

    /// Seconds of one call of several that are started at once.
    fn batch(&self, site: &mut Site<T>, v: &mut [Buffer<T>; 3]) -> Result<f64> {
        self.settle()?;
        let start = Instant::now();
        for _ in 0..BATCH {
            Self::with_operands(site, v, |site, o| self.dispatch(site, o))?;
        }
        self.settle()?;
        Ok(start.elapsed().as_secs_f64() / BATCH as f64)
    }

    /// One call; returns its sum.
    fn stream(&self, site: &mut Site<T>, v: &mut [Buffer<T>; 3]) -> Result<T> {
        Self::with_operands(site, v, |site, o| self.run(site, o)).map(|sums| sums[0])
    }

    /// Calls `f` with the operands of the kernel of `site`.
    fn with_operands<R>(
        site: &mut Site<T>,
        [a, b, c]: &mut [Buffer<T>; 3],
        f: impl FnOnce(&mut Site<T>, Operands<'_, '_, T>) -> R,
    ) -> R {
        let shape = site.kernel.shape;
        let own = [&*b, &*c];
        let scalars = [T::of(0.5)];
        let mut written = [a];
        let (out, inout) = written.split_at_mut(shape.out);
        f(
            site,
            Operands {
                out,
                inout: &mut inout[..shape.inout],
                own: &own[..shape.own],
                scalars: &scalars[..shape.scalars],
                ..Operands::default()
            },
        )
    }
}
