//! The memory bandwidth of the node, measured when a run starts: the roof that kernels are held
//! against, and the tuner's first guess (thesis equation 3.4).

use super::engine::{Engine, Operands};
use crate::Result;
use crate::kernel::{Kernel, Real, axpy};

/// Bandwidth of `y <- a x + y` over arrays larger than the caches: 2 reads, 1 write.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bandwidth {
    /// The CPU's threads alone, GB/s.
    pub cpu_gb_s: f64,
    /// The device alone, GB/s; `None` without a device.
    pub device_gb_s: Option<f64>,
    /// The best of either alone and both at once, GB/s.
    pub node_gb_s: f64,
    /// Whether the CPU streams faster when loops prefetch: a fifth faster on one machine, a
    /// fifth slower on the next.
    pub prefetch: bool,
}

impl Bandwidth {
    /// Share of the rows that equation 3.4 gives to the device: `B_device / (B_device + B_cpu)`.
    pub fn device_share(&self) -> f64 {
        self.device_gb_s
            .map_or(0.0, |d| d / (d + self.cpu_gb_s).max(f64::MIN_POSITIVE))
    }
}

/// Bytes of each array: four times a large last-level cache, yet a fraction of a second in all.
const ARRAY_BYTES: usize = 64 << 20;
/// Runs at each cut; the first warms up, the fastest counts.
const RUNS: usize = 5;
/// A run that takes longer is enough: nothing is refined in a device that slow.
const SLOW_S: f64 = 0.5;

/// Gain from which prefetching is more than noise.
const PREFETCH_GAIN: f64 = 1.03;

impl<T: Real> Engine<T> {
    /// Measures the node.
    ///
    /// # Errors
    /// Out of memory, or the device failed.
    pub fn bandwidth(&self) -> Result<Bandwidth> {
        if let (None, Some(single)) = (&self.node.device, &self.single) {
            return single.bandwidth();
        }
        let n = ARRAY_BYTES / size_of::<T>();
        let (mut y, mut x) = (self.node.buffer::<T>(n)?, self.node.buffer::<T>(n)?);
        // What was never written is one page of zeros, read from the caches.
        x.write()?.fill(T::of(1.0));
        let [plain, ahead] = axpy::paths();
        let mut best = |ratio: f64, host| -> Result<f64> {
            let kernel = Kernel {
                host,
                ..axpy::kernel()
            };
            let mut site = self.site(kernel, "bandwidth", n)?;
            // As it is, whatever this engine prefers.
            site.kernel = kernel;
            self.set_ratio(&mut site, ratio);
            let mut rate = 0.0f64;
            for run in 0..RUNS {
                let before = site.stats.seconds_s;
                self.run(
                    &mut site,
                    Operands {
                        inout: &mut [&mut y],
                        own: &[&x],
                        scalars: &[T::of(0.5)],
                        ..Operands::default()
                    },
                )?;
                let seconds = site.stats.seconds_s - before;
                if run > 0 || seconds > SLOW_S {
                    rate = rate.max(site.stats.call_bytes / seconds / 1e9);
                }
                if seconds > SLOW_S {
                    break;
                }
            }
            Ok(rate)
        };
        let (plain_gb_s, ahead_gb_s) = (best(0.0, plain)?, best(0.0, ahead)?);
        let prefetch = ahead_gb_s > PREFETCH_GAIN * plain_gb_s;
        let cpu_gb_s = plain_gb_s.max(ahead_gb_s);
        let host = if prefetch { ahead } else { plain };
        if self.node.device.is_none() {
            return Ok(Bandwidth {
                cpu_gb_s,
                device_gb_s: None,
                node_gb_s: cpu_gb_s,
                prefetch,
            });
        }
        let device = best(1.0, host)?;
        let mut b = Bandwidth {
            cpu_gb_s,
            device_gb_s: Some(device),
            node_gb_s: cpu_gb_s.max(device),
            prefetch,
        };
        b.node_gb_s = b.node_gb_s.max(best(b.device_share(), host)?);
        Ok(b)
    }
}
