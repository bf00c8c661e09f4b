//! The loops of the roofs at one share of the rows, to be measured as often as the machine may have changed.

use std::time::Instant;

use super::{Loops, Roofs};
use crate::Result;
use crate::kernel::{Kernel, Real, Rows, axpy, dot, stream};
use crate::node::{Buffer, MemoryKind};
use crate::split::engine::{Engine, Operands};
use crate::split::site::Site;

/// Bytes of each array: four times a large last-level cache, yet a fraction of a second in all.
const ARRAY_BYTES: usize = 128 << 20;
/// The same on a device alone that has memory of its own and much of it: its caches are larger.
const DEVICE_ARRAY_BYTES: usize = 512 << 20;
/// Arrays that such a device must have room for.
const ROOM: u64 = 32;
/// Calls of each path where paths are compared, and of the best one later; the fastest counts.
const CALLS: usize = 6;
const CALLS_AGAIN: usize = 3;
/// Time, s, and number, at most, of calls one after the other that a device is timed for: where they are
/// short, starting the first and hearing of the last takes as long as a call.
const ROW_S: f64 = 20e-3;
const ROW_CALLS: f64 = 10.0;

/// Arrays for the loops, none at first: one set for all shares that take as many bytes.
#[derive(Default)]
pub struct Arrays<T: Real> {
    sets: Vec<[Buffer<T>; 3]>,
}

impl<T: Real> Arrays<T> {
    /// Three of `n` numbers.
    fn of(&mut self, engine: &Engine<T>, n: usize) -> Result<&mut [Buffer<T>; 3]> {
        let known = self.sets.iter().position(|set| set[0].len() == n);
        let at = known.unwrap_or(self.sets.len());
        if known.is_none() {
            let node = &engine.node;
            let mut set = [node.buffer(n)?, node.buffer(n)?, node.buffer(n)?];
            // What was never written is one page of zeros, read from the caches.
            for buffer in &mut set {
                buffer.write()?.fill(T::of(1.0));
            }
            self.sets.push(set);
        }
        Ok(&mut self.sets[at])
    }
}

/// Measures the [`Roofs`] with a share of the rows on the device, now and again.
pub struct Gauge<T: Real> {
    ratio: f64,
    /// Numbers of an array.
    elements: usize,
    /// What reads, copies, and does triad's and AXPY's: candidates, and the best one of each once they
    /// have been compared.
    loops: [Vec<Site<T>>; 4],
    compared: bool,
}

impl<T: Real> Gauge<T> {
    /// With the share `ratio` of the rows on the device: 0 is the CPU alone, 1 the device alone.
    ///
    /// # Errors
    /// The device's kernels do not compile.
    pub fn new(engine: &Engine<T>, ratio: f64) -> Result<Self> {
        let bytes = match &engine.node.device {
            Some(d)
                if ratio >= 1.0
                    && engine.node.memory == MemoryKind::Discrete
                    && d.info.memory_bytes >= ROOM * DEVICE_ARRAY_BYTES as u64 =>
            {
                DEVICE_ARRAY_BYTES
            }
            _ => ARRAY_BYTES,
        };
        let elements = bytes / size_of::<T>();
        let programs = engine.stream_programs(ratio)?;
        // Paths differ on the CPU alone, and programs on the device alone.
        let sites = |kernel: Kernel<T>, hosts: &[fn(&mut Rows<'_, T>)]| {
            let all: Vec<(Option<&Loops>, Kernel<T>)> = if ratio >= 1.0 {
                programs.iter().map(|p| (Some(p), kernel)).collect()
            } else {
                let with = |&host| (programs.first(), Kernel { host, ..kernel });
                hosts.iter().map(with).collect()
            };
            let site = |(loops, kernel)| {
                let mut site = engine.stream_site(loops, kernel, elements)?;
                engine.set_ratio(&mut site, ratio);
                Ok(site)
            };
            all.into_iter().map(site).collect::<Result<Vec<_>>>()
        };
        // Two arrays at once are often read faster than one.
        let mut read = sites(stream::read::kernel(), &stream::read::paths())?;
        read.extend(sites(dot::kernel(), &dot::paths())?);
        let loops = [
            read,
            sites(stream::copy::kernel(), &stream::copy::paths())?,
            sites(stream::triad::kernel(), &stream::triad::paths())?,
            sites(axpy::kernel(), &axpy::paths())?,
        ];
        Ok(Self {
            ratio,
            elements,
            loops,
            compared: false,
        })
    }

    /// Measures them: all candidates the first time, with the most calls, and then the best ones. `before`
    /// each call comes what comes before those of the kernels that are held against them, such as a sweep
    /// of the caches.
    ///
    /// # Errors
    /// Out of memory, or the device failed.
    pub fn measure(
        &mut self,
        engine: &Engine<T>,
        arrays: &mut Arrays<T>,
        before: &dyn Fn(&Engine<T>),
    ) -> Result<Roofs> {
        let v = arrays.of(engine, self.elements)?;
        let calls = if self.compared { CALLS_AGAIN } else { CALLS };
        let mut rates = [0.0; 4];
        for (sites, rate) in self.loops.iter_mut().zip(&mut rates) {
            let mut best = 0;
            for (i, site) in sites.iter_mut().enumerate() {
                let of_site = fastest(engine, site, v, self.ratio, before, calls)?;
                if of_site > *rate {
                    (*rate, best) = (of_site, i);
                }
            }
            sites.swap(0, best);
            sites.truncate(1);
        }
        self.compared = true;
        let [read_gb_s, copy_gb_s, triad_gb_s, axpy_gb_s] = rates;
        Ok(Roofs {
            read_gb_s,
            copy_gb_s,
            triad_gb_s,
            axpy_gb_s,
        })
    }
}

/// The best rate of so many calls, GB/s.
fn fastest<T: Real>(
    engine: &Engine<T>,
    site: &mut Site<T>,
    v: &mut [Buffer<T>; 3],
    ratio: f64,
    before: &dyn Fn(&Engine<T>),
    calls: usize,
) -> Result<f64> {
    let (mut rate, mut row) = (0.0f64, 1.0);
    for _ in 0..calls {
        before(engine);
        let seconds = if ratio >= 1.0 {
            let seconds = in_a_row(engine, site, v, row as usize)?;
            row = (ROW_S / seconds).clamp(1.0, ROW_CALLS);
            seconds
        } else {
            let start = site.seconds_s();
            call(engine, site, v)?;
            site.seconds_s() - start
        };
        rate = rate.max(site.stats.call_bytes / seconds / 1e9);
    }
    Ok(rate)
}

/// Seconds of one call of several that are started at once.
fn in_a_row<T: Real>(
    engine: &Engine<T>,
    site: &mut Site<T>,
    v: &mut [Buffer<T>; 3],
    calls: usize,
) -> Result<f64> {
    engine.settle()?;
    let start = Instant::now();
    for _ in 0..calls {
        with_operands(site, v, |site, o| engine.dispatch(site, o))?;
    }
    engine.settle()?;
    Ok(start.elapsed().as_secs_f64() / calls as f64)
}

/// One call; returns its sum.
pub(super) fn call<T: Real>(
    engine: &Engine<T>,
    site: &mut Site<T>,
    v: &mut [Buffer<T>; 3],
) -> Result<T> {
    with_operands(site, v, |site, o| engine.run(site, o)).map(|sums| sums[0])
}

/// Calls `f` with the operands of the kernel of `site`.
fn with_operands<T: Real, R>(
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::node::{Config, DeviceChoice};
    use crate::split::Policy;

    #[test]
    fn candidates_are_compared_once_and_all_gauges_share_their_arrays() {
        let config = Config {
            device: DeviceChoice::None,
            threads: Some(2),
            ..Config::default()
        };
        let engine = Engine::<f64>::open(&config, Policy::Fixed(0.0)).unwrap();
        let paths = [
            stream::read::paths::<f64>().len() + dot::paths::<f64>().len(),
            stream::copy::paths::<f64>().len(),
            stream::triad::paths::<f64>().len(),
            axpy::paths::<f64>().len(),
        ];
        let mut arrays = Arrays::default();
        for _ in 0..2 {
            let mut gauge = Gauge::new(&engine, 0.0).unwrap();
            for calls in [CALLS * paths.iter().sum::<usize>(), CALLS_AGAIN * 4] {
                let before = Cell::new(0);
                let count = |_: &Engine<f64>| before.set(before.get() + 1);
                let roofs = gauge.measure(&engine, &mut arrays, &count).unwrap();
                assert!(roofs.rates().iter().all(|&rate| rate > 0.05), "{roofs:?}");
                assert_eq!(before.get(), calls);
            }
        }
        assert_eq!(arrays.sets.len(), 1);
    }
}
