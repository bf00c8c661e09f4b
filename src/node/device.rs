//! One OpenCL device in use: context, queue, driver thread, tuned parameters.

use std::rc::Rc;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device as Cl;
use opencl3::error_codes::error_text;
use opencl3::types::cl_device_id;

use super::driver::Driver;
use super::opencl::DeviceInfo;
use super::queue::Queue;
use super::{MemoryKind, Tuning};
use crate::{Error, Result};

/// What every buffer of a device needs: context and queue, kept alive together.
pub struct Link {
    /// The device's name, for messages.
    pub name: String,
    /// The in-order queue; declared before the context, so released before it.
    pub queue: Queue,
    /// Another one, for copies beside the kernels of the first, where the device does these.
    pub beside: Option<CommandQueue>,
    /// The context.
    pub context: Context,
}

impl Link {
    /// The error of a failed call.
    pub fn error(&self, call: &str, code: i32) -> Error {
        Error::Device {
            device: self.name.clone(),
            what: format!("{call} failed: {} ({code})", error_text(code)),
            remedy: "run with --device none, or see `couloir devices`".into(),
        }
    }

    /// The error of a failed allocation.
    pub fn out_of_memory(&self, bytes: usize, code: i32) -> Error {
        Error::Device {
            device: self.name.clone(),
            what: format!("no memory for {bytes} bytes: {} ({code})", error_text(code)),
            remedy: "take a smaller mesh, or run with --device none".into(),
        }
    }
}

/// A device in use.
pub struct Device {
    /// What it says of itself.
    pub info: DeviceInfo,
    /// How buffers are held.
    pub memory: MemoryKind,
    /// Launch parameters.
    pub tuning: Tuning,
    /// Context and queue.
    pub link: Rc<Link>,
}

impl Device {
    /// Opens the device; `cores` are the host cores that a software device may occupy.
    ///
    /// # Errors
    /// [`Error::Device`] when the driver refuses; [`Error::Input`] when the memory asked for is
    /// not to be had on it.
    pub fn open(info: DeviceInfo, memory: Option<MemoryKind>, cores: &[usize]) -> Result<Self> {
        let id = info.id as cl_device_id;
        let fail = |call: &str, code: i32| Error::Device {
            device: info.name.clone(),
            what: format!("{call} failed: {} ({code})", error_text(code)),
            remedy: "run with --device none, or update the driver".into(),
        };
        // A software device's workers inherit the affinity of the thread that makes them.
        if info.software && !cores.is_empty() {
            super::topology::pin(cores);
        }
        let context = Context::from_device(&Cl::new(id)).map_err(|e| fail("clCreateContext", e.0));
        if info.software && !cores.is_empty() {
            super::topology::pin(super::topology::allowed_cores());
        }
        let context = context?;
        let queue = || {
            // SAFETY: the device belongs to the context; properties 0 make an in-order queue.
            #[allow(deprecated)]
            let queue = unsafe { CommandQueue::create(&context, id, 0) };
            queue.map_err(|e| fail("clCreateCommandQueue", e.0))
        };
        let memory = memory.unwrap_or_else(|| info.best_memory());
        if !info.offers(memory) {
            let what = format!("{} cannot share buffers in this way", info.name);
            return Err(Error::input(
                format!("--memory {}", memory.name()),
                what,
                format!("use auto, which is {} here", info.best_memory().name()),
            ));
        }
        let tuning = Tuning::of(&info)?;
        let driver = Driver::new(info.software, cores, tuning.flush);
        let link = Rc::new(Link {
            name: info.name.clone(),
            queue: Queue::new(queue()?, driver),
            beside: tuning.beside.then(queue).transpose()?,
            context,
        });
        Ok(Self {
            info,
            memory,
            tuning,
            link,
        })
    }
}
