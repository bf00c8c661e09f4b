//! The memory's roofs: what moves most bytes in a second, for each mix of reads and writes.

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
    /// 1 the device alone.
    ///
    /// # Errors
    /// Out of memory, or the device failed.
    pub fn roofs(&self, ratio: f64) -> Result<Roofs> {
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
        let mut best = |paths: &[Kernel<T>]| self.best(&programs, paths, ratio, &mut v);
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
                let seconds = if ratio >= 1.0 {
                    self.batch(&mut site, v)?
                } else {
                    let before = site.seconds_s();
                    self.stream(&mut site, v)?;
                    site.seconds_s() - before
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Rows;
    use crate::node::{Config, DeviceChoice, opencl};
    use crate::split::Policy;

    const N: usize = 37 * BLOCK;

    /// Runs one path, in every program, and compares it with the reference.
    fn check(engine: &Engine<f64>, kernel: Kernel<f64>, ratio: f64) {
        for loops in engine.stream_programs(ratio).unwrap() {
            check_one(engine, kernel, ratio, Some(&loops));
        }
        if engine.node.device.is_none() {
            check_one(engine, kernel, ratio, None);
        }
    }

    fn check_one(engine: &Engine<f64>, kernel: Kernel<f64>, ratio: f64, loops: Option<&Loops>) {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut vector = || -> Vec<f64> { (0..N).map(|_| rng.f64() - 0.5).collect() };
        let (mut a, b, c) = (vector(), vector(), vector());
        let mut v = [&a, &b, &c].map(|x| engine.node.buffer_from(x).unwrap());
        let mut site = engine.stream_site(loops, kernel, N).unwrap();
        engine.set_ratio(&mut site, ratio);
        let sum = engine.stream(&mut site, &mut v).unwrap();
        let got = v[0].read().unwrap().to_vec();
        let mut sums = vec![0.0; N / BLOCK];
        let (mut out, mut inout) = (Vec::new(), Vec::new());
        match kernel.shape.inout {
            0 => out = a.clone(),
            _ => inout = a.clone(),
        }
        let mut rows = Rows {
            first: 0,
            n: N,
            out: Default::default(),
            inout: Default::default(),
            partial: Default::default(),
            own: Default::default(),
            gather: Default::default(),
            mats: Default::default(),
            scalars: &[0.5],
            state: &[],
            stream: false,
        };
        (rows.out[0], rows.inout[0], rows.partial[0]) = (&mut out, &mut inout, &mut sums);
        (rows.own[0], rows.own[1]) = (&b, &c);
        (kernel.reference)(&mut rows);
        if kernel.shape.out + kernel.shape.inout > 0 {
            a = if out.is_empty() { inout } else { out };
        }
        assert_eq!(got, a, "{} at {ratio}", kernel.name);
        let total: f64 = sums.iter().sum();
        let expected = if kernel.shape.reduce.is_empty() {
            0.0
        } else {
            total
        };
        assert!(
            (sum - expected).abs() < 1e-9,
            "{}: {sum} {expected}",
            kernel.name
        );
    }

    #[test]
    fn every_path_computes_what_its_reference_does() {
        let none = Config {
            device: DeviceChoice::None,
            threads: Some(3),
            ..Config::default()
        };
        let mut configs = vec![none];
        match opencl::devices() {
            Err(why) => eprintln!("SKIPPED on devices: {why}"),
            Ok(all) => configs.extend(all.iter().filter(|d| d.fp64).map(|d| Config {
                device: DeviceChoice::Index(d.index),
                ..Config::default()
            })),
        }
        for config in configs {
            let engine = Engine::open(&config, Policy::Fixed(0.0)).unwrap();
            for ratio in [0.0, 0.5, 1.0] {
                let with = |base: Kernel<f64>, host| Kernel { host, ..base };
                for host in stream::read::paths() {
                    check(&engine, with(stream::read::kernel(), host), ratio);
                }
                for host in stream::copy::paths() {
                    check(&engine, with(stream::copy::kernel(), host), ratio);
                }
                for host in stream::triad::paths() {
                    check(&engine, with(stream::triad::kernel(), host), ratio);
                }
                for host in dot::paths() {
                    check(&engine, with(dot::kernel(), host), ratio);
                }
                for host in axpy::paths() {
                    check(&engine, with(axpy::kernel(), host), ratio);
                }
            }
        }
    }

    #[test]
    fn the_least_time_of_each_loop_is_its_own() {
        let roofs = Roofs {
            read_gb_s: 14.0,
            copy_gb_s: 18.0,
            triad_gb_s: 19.0,
            axpy_gb_s: 21.0,
        };
        let gb = |read, written, updated| Traffic {
            read_bytes: read * 1e9,
            written_bytes: written * 1e9,
            updated_bytes: updated * 1e9,
        };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(roofs.seconds(&gb(14.0, 0.0, 0.0)), 1.0));
        assert!(close(roofs.seconds(&gb(7.0, 0.0, 7.0)), 1.0));
        assert!(roofs.seconds(&gb(9.0, 9.0, 0.0)) <= 1.0 + 1e-12);
        assert!(close(gb(1.0, 2.0, 3.0).bytes(), 9e9));
    }
}
