//! The numbers that a run computes with, and two precisions on one node.

use serde::Serialize;

use super::engine::{Engine, Policy};
use crate::Result;
use crate::kernel::{list, solver};
use crate::node::{Config, DeviceChoice, Node, opencl};

/// What a run computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Double precision.
    Fp64,
    /// Double precision, but single precision in the inner iterations of the pressure solve,
    /// which reach the same tolerance by refinement. A device without double precision takes
    /// part in these alone; a device with it in everything.
    Mixed,
    /// Single precision; what a run tells is widened.
    Fp32,
}

impl Precision {
    /// The name in cases and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fp64 => "fp64",
            Self::Mixed => "mixed",
            Self::Fp32 => "fp32",
        }
    }
}

impl Engine<f64> {
    /// Opens the node for `precision`; `None` is [`Precision::Fp64`] where the device has double
    /// precision (or there is none), else [`Precision::Mixed`].
    ///
    /// # Errors
    /// As [`Engine::open`].
    pub fn open_in(precision: Option<Precision>, config: &Config, policy: Policy) -> Result<Self> {
        let kernels = match precision {
            Some(Precision::Fp32) => {
                let mut single = Engine::<f32>::open(config, policy)?;
                let mut double = Self::on(single.node.without_device(), policy);
                double.node.notes.append(&mut single.node.notes);
                double.precision = Precision::Fp32;
                double.single = Some(Box::new(single));
                return Ok(double);
            }
            Some(Precision::Mixed) => solver(),
            None if lacks_double(config)? => solver(),
            _ => return Self::open(config, policy),
        };
        let cache = Self::kernel_cache();
        let single = Engine::<f32>::open_with(config, policy, &kernels, cache.as_deref())?;
        if precision.is_none() && single.node.device.is_none() {
            // The device has failed: nothing asks for single precision any more.
            return Ok(Self::on(single.node, policy));
        }
        Ok(Self::beside(single, policy))
    }

    /// Double precision on the node of `single`: the same threads, and the same device if it has
    /// double precision and computes rightly with it.
    fn beside(mut single: Engine<f32>, policy: Policy) -> Self {
        let mut notes = std::mem::take(&mut single.node.notes);
        let mut double = Self::on(single.node.without_device(), policy);
        if let Some(device) = &single.node.device {
            let name = &device.info.name;
            let tried = device.info.fp64.then(|| {
                let mut shared = Self::on(single.node.clone(), policy);
                let ready = shared.make_ready(&list(), Self::kernel_cache().as_deref());
                ready.map(|()| shared)
            });
            match tried {
                Some(Ok(shared)) => double = shared,
                Some(Err(e)) => notes.push(format!("{e}; going on without it in fp64")),
                None => notes.push(format!(
                    "{name} has no double precision: it shares the pressure's inner iterations, \
                     in fp32; residuals and all else are fp64 on the CPU"
                )),
            }
        }
        double.node.notes = notes;
        double.precision = Precision::Mixed;
        double.single = Some(Box::new(single));
        double
    }

    /// What it computes with.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The node with the device, whatever its precision.
    pub fn device_node(&self) -> &Node {
        match &self.single {
            Some(single) => &single.node,
            None => &self.node,
        }
    }
}

/// Would the device that `config` leads to have to go without double precision?
fn lacks_double(config: &Config) -> Result<bool> {
    opencl::reserve_software_cores(crate::node::topology::allowed_cores().len());
    Ok(match config.device {
        DeviceChoice::None => false,
        DeviceChoice::Index(i) => !opencl::by_index(i)?.fp64,
        DeviceChoice::Auto => {
            opencl::best(false, &mut Vec::new(), config.turn, 2).is_some_and(|d| !d.fp64)
        }
    })
}
