//! The sides' powers on this node, for objectives that weigh energy.

use super::bandwidth::Bandwidth;
use super::engine::{Engine, Operands};
use super::tuner::Objective;
use crate::Result;
use crate::energy::{Gauge, Goal, Powers};
use crate::kernel::{Real, axpy};

/// A state is held until its power is known to 2 %, but not longer than this.
const SECONDS_MAX: f64 = 6.0;

/// Bytes of each array: larger than the caches.
const ARRAY_BYTES: usize = 64 << 20;

impl<T: Real> Engine<T> {
    /// Measures what the node draws while the CPU, the device and both run a kernel that is
    /// bound by memory, `y <- a x + y`; a line for the log besides. Sites made from now on
    /// minimise `objective(powers)`.
    ///
    /// # Errors
    /// Out of memory; device or meter failed.
    pub fn weigh_energy(
        &mut self,
        objective: fn(Powers) -> Objective,
        gauge: &dyn Gauge,
        bandwidth: &Bandwidth,
    ) -> Result<Option<String>> {
        if let (None, Some(single)) = (&self.node.device, &mut self.single) {
            let line = single.weigh_energy(objective, gauge, bandwidth)?;
            self.objective = single.objective;
            return Ok(line);
        }
        if self.node.device.is_none() {
            return Ok(None);
        }
        let n = ARRAY_BYTES / size_of::<T>();
        let (mut y, x) = (self.node.buffer::<T>(n)?, self.node.buffer::<T>(n)?);
        let mut site = self.site(axpy::kernel(), "powers", n)?;
        let goal = Goal {
            seconds_max: SECONDS_MAX,
            ..Goal::default()
        };
        let (powers, doubt) = Powers::measure(gauge, &goal, bandwidth.device_share(), |ratio| {
            self.set_ratio(&mut site, ratio);
            let operands = Operands {
                inout: &mut [&mut y],
                own: &[&x],
                scalars: &[T::of(0.5)],
                ..Operands::default()
            };
            self.run(&mut site, operands).map(drop)
        })?;
        self.objective = objective(powers);
        if let Some(single) = &mut self.single {
            single.objective = self.objective;
        }
        Ok(Some(format!(
            "energy: {:.2} W while the CPU works, {:.2} W the device, {:.2} W both (± {:.1} %)",
            powers.host_w,
            powers.device_w,
            powers.both_w,
            100.0 * doubt
        )))
    }
}
