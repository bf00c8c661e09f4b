//! The memory's roofs: what moves most bytes in a second, for each mix of reads and writes.

use super::engine::{Engine, Operands};
use super::site::{Site, Traffic};
use crate::Result;
use crate::kernel::{Kernel, Real, axpy, dot, stream};
use crate::node::Buffer;
use crate::node::program::{Program, cache_dir};

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
/// Calls of each path; the first warms up, the fastest counts.
const CALLS: usize = 6;

impl<T: Real> Engine<T> {
    /// Measures the roofs with the share `ratio` of the rows on the device: 0 is the CPU alone,
    /// 1 the device alone.
    ///
    /// # Errors
    /// Out of memory, or the device failed.
    pub fn roofs(&self, ratio: f64) -> Result<Roofs> {
        let n = ARRAY_BYTES / size_of::<T>();
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
        let program = self.stream_program()?;
        let mut best = |paths: &[Kernel<T>]| self.best(program.as_ref(), paths, ratio, &mut v);
        Ok(Roofs {
            read_gb_s: best(&read)?.max(best(&dot)?),
            copy_gb_s: best(&copy)?,
            triad_gb_s: best(&triad)?,
            axpy_gb_s: best(&axpy)?,
        })
    }

    /// The best rate of `paths`, which differ on the CPU alone, in GB/s.
    fn best(
        &self,
        program: Option<&Program>,
        paths: &[Kernel<T>],
        ratio: f64,
        v: &mut [Buffer<T>; 3],
    ) -> Result<f64> {
        let mut rate = 0.0f64;
        let paths = if ratio >= 1.0 { &paths[..1] } else { paths };
        for &path in paths {
            let mut site = self.stream_site(program, path, v[0].len())?;
            self.set_ratio(&mut site, ratio);
            for call in 0..CALLS {
                let before = site.stats.seconds_s;
                self.stream(&mut site, v)?;
                if call > 0 {
                    let seconds = site.stats.seconds_s - before;
                    rate = rate.max(site.stats.call_bytes / seconds / 1e9);
                }
            }
        }
        Ok(rate)
    }

    /// The device's program of the loops, which no other run needs.
    fn stream_program(&self) -> Result<Option<Program>> {
        let Some(device) = &self.node.device else {
            return Ok(None);
        };
        let cache = cache_dir().map(|d| d.join("kernels"));
        Self::compile(device, &stream::list(), cache.as_deref()).map(Some)
    }

    /// A site of exactly this kernel, from `program` if that is its place.
    fn stream_site(
        &self,
        program: Option<&Program>,
        kernel: Kernel<T>,
        rows: usize,
    ) -> Result<Site<T>> {
        let listed = stream::list::<T>().iter().any(|k| k.name == kernel.name);
        let mut site = match program {
            Some(program) if listed => {
                let handle = program.kernel(&format!("{}_kernel", kernel.name))?;
                Site::new(&self.node, kernel, "roof", rows, Some(handle))?
            }
            _ if listed => Site::new(&self.node, kernel, "roof", rows, None)?,
            _ => self.site(kernel, "roof", rows)?,
        };
        site.kernel = kernel;
        Ok(site)
    }

    /// One call; returns its sum.
    fn stream(&self, site: &mut Site<T>, [a, b, c]: &mut [Buffer<T>; 3]) -> Result<T> {
        let shape = site.kernel.shape;
        let own = [&*b, &*c];
        let scalars = [T::of(0.5)];
        let mut written = [a];
        let (out, inout) = written.split_at_mut(shape.out);
        self.run(
            site,
            Operands {
                out,
                inout: &mut inout[..shape.inout],
                own: &own[..shape.own],
                scalars: &scalars[..shape.scalars],
                ..Operands::default()
            },
        )
        .map(|sums| sums[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Rows;
    use crate::node::{BLOCK, Config, DeviceChoice, opencl};
    use crate::split::Policy;

    const N: usize = 37 * BLOCK;

    /// Runs one path and compares it with the reference.
    fn check(engine: &Engine<f64>, kernel: Kernel<f64>, ratio: f64) {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut vector = || -> Vec<f64> { (0..N).map(|_| rng.f64() - 0.5).collect() };
        let (mut a, b, c) = (vector(), vector(), vector());
        let mut v = [&a, &b, &c].map(|x| engine.node.buffer_from(x).unwrap());
        let program = engine.stream_program().unwrap();
        let mut site = engine.stream_site(program.as_ref(), kernel, N).unwrap();
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
