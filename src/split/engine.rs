//! The split itself: one call of a kernel on both sides.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::cache::Cache;
use super::carry::Carrier;
use super::first::First;
use super::lanes::Lanes;
use super::launch::Programs;
use super::precision::Precision;
use super::site::Site;
use super::totals::Totals;
use super::tuner::{Objective, Tuner};
use crate::Result;
use crate::cluster::{Comm, Halo, Reach};
use crate::kernel::{self, Kernel, Real, stream};
use crate::node::program::cache_dir;
use crate::node::{BLOCK, Buffer, Config, DeviceChoice, Node};
use crate::sparse::{Repeated, Sell};

/// How cuts are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Policy {
    /// Found and kept up to date by the tuner.
    #[default]
    Auto,
    /// This share of the rows on the device, 0 to 1, for every kernel.
    Fixed(f64),
}

/// Operands of one call, by role; see [`Shape`](crate::kernel::Shape).
pub struct Operands<'a, 'b, T: Real> {
    /// Written.
    pub out: &'a mut [&'b mut Buffer<T>],
    /// Read and written.
    pub inout: &'a mut [&'b mut Buffer<T>],
    /// Read at the row.
    pub own: &'a [&'b Buffer<T>],
    /// Read at the row, or at the elements of the first matrix.
    pub repeated: &'a [&'b Repeated<T>],
    /// Read anywhere.
    pub gather: &'a [&'b Buffer<T>],
    /// Matrices.
    pub mats: &'a [&'b Sell<T>],
    /// Scalars.
    pub scalars: &'a [T],
    /// Scalars that were computed between calls; see [`Finish`](super::Finish).
    pub state: Option<&'a Buffer<T>>,
    /// Exchange of the halos of `gather` (face neighbours) while inner rows are computed; see
    /// [`Engine::exchange`].
    pub halo: Option<&'a Halo>,
    /// Scalars that the device is to compute first; see [`Engine::leave_to`].
    pub first: Option<First>,
}

impl<T: Real> Default for Operands<'_, '_, T> {
    fn default() -> Self {
        Self {
            out: &mut [],
            inout: &mut [],
            own: &[],
            repeated: &[],
            gather: &[],
            mats: &[],
            scalars: &[],
            state: None,
            halo: None,
            first: None,
        }
    }
}

/// A node with its kernels compiled.
pub struct Engine<T: Real> {
    /// The node.
    pub node: Node,
    pub(super) program: Option<Programs>,
    /// Adds up partial results on the device.
    pub(super) lanes: Option<Lanes>,
    /// Packs and places there.
    pub(super) carrier: Option<Carrier>,
    /// Adds up all of them there.
    pub(super) totals: Option<Totals<T>>,
    pub(super) policy: Policy,
    /// Share of the rows that a site without a past begins with on the device.
    pub(super) device_share: f64,
    /// Sites get CPU paths that prefetch, where there are any.
    pub(super) prefetch: bool,
    pub(super) cache: Cache,
    /// What cuts minimise.
    pub(super) objective: Objective,
    /// Time of the host's part of all calls since the last step.
    pub(super) host_s: Cell<f64>,
    /// Steps that were done.
    pub(super) steps: Cell<u64>,
    /// One cut for all sites, where a cut of its own would make each copy vectors.
    pub(super) joint: Option<Rc<RefCell<Tuner>>>,
    /// Of a run on this engine and `single`.
    pub(super) precision: Precision,
    /// The same node in single precision, for inner solves ([`Precision::Mixed`]) or for all
    /// ([`Precision::Fp32`]).
    pub single: Option<Box<Engine<f32>>>,
    /// Other processes that reductions go over.
    comm: Rc<Comm>,
    pub(super) overlap: bool,
    _precision: std::marker::PhantomData<T>,
}

impl<T: Real> Engine<T> {
    /// Opens the node, compiles the kernels and checks each against its reference. A device that
    /// fails is left out with a note, unless it was asked for by number.
    ///
    /// # Errors
    /// As [`Node::open`]; the failure of a device that was asked for.
    pub fn open(config: &Config, policy: Policy) -> Result<Self> {
        Self::open_with(
            config,
            policy,
            &kernel::list(),
            Self::kernel_cache().as_deref(),
        )
    }

    pub(super) fn kernel_cache() -> Option<PathBuf> {
        cache_dir().map(|d| d.join("kernels"))
    }

    pub(super) fn open_with(
        config: &Config,
        policy: Policy,
        kernels: &[Kernel<T>],
        cache: Option<&Path>,
    ) -> Result<Self> {
        let node = Node::open_for(config, T::CL == "double")?;
        let mut engine = Self::on(node, policy);
        if engine.node.device.is_none() {
            return Ok(engine);
        }
        let Err(e) = engine.make_ready(kernels, cache) else {
            engine.node.notes.extend(engine.node.emulation());
            return Ok(engine);
        };
        if matches!(config.device, DeviceChoice::Index(_)) {
            return Err(e);
        }
        let mut notes = std::mem::take(&mut engine.node.notes);
        notes.push(format!("{e}; going on with the CPU alone"));
        // Before the new threads are pinned: the end of the old ones frees the caller.
        drop(engine);
        let cpu = Config {
            device: DeviceChoice::None,
            memory: None,
            ..config.clone()
        };
        let mut engine = Self::on(Node::open(&cpu)?, policy);
        engine.node.notes = notes;
        Ok(engine)
    }

    /// Compiles the kernels for the device and checks each.
    pub(super) fn make_ready(&mut self, kernels: &[Kernel<T>], cache: Option<&Path>) -> Result<()> {
        if let Some(device) = &self.node.device {
            let program = Self::compile(device, kernels, cache)?;
            self.lanes = Lanes::new(&self.node, &program)?;
            self.totals = Totals::new(&self.node, &program)?;
            self.carrier = Carrier::new(&self.node, &program)?;
            self.program = Some(program);
            self.self_check(kernels)?;
        }
        Ok(())
    }

    pub(super) fn on(node: Node, policy: Policy) -> Self {
        Self {
            node,
            program: None,
            lanes: None,
            carrier: None,
            totals: None,
            policy,
            device_share: 0.5,
            prefetch: false,
            cache: Cache::default(),
            objective: Objective::Time,
            host_s: Cell::default(),
            steps: Cell::default(),
            joint: None,
            precision: Precision::Fp64,
            single: None,
            comm: Comm::solo(),
            overlap: true,
            _precision: std::marker::PhantomData,
        }
    }

    /// How sites that are made from now on are cut.
    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
    }

    /// A place to call `kernel` from, on `rows` rows.
    ///
    /// # Errors
    /// Out of memory, or the device has no such kernel.
    pub fn site(&self, mut kernel: Kernel<T>, label: &str, rows: usize) -> Result<Site<T>> {
        let several = self.node.caches.streams_asked;
        if let Some(host) = stream::ahead(&kernel, self.prefetch, several) {
            kernel.host = host;
        }
        let handle = match &self.program {
            Some(p) => Some(p.handle(kernel.name, &kernel.shape)?),
            None => None,
        };
        let mut site = Site::new(&self.node, kernel, label, rows, handle)?;
        if let Some(p) = &self.program {
            site.long = p.long(kernel.name, &kernel.shape)?;
            site.ahead = p.ahead(&kernel)?;
            match self.policy {
                Policy::Fixed(ratio) => site.tuner = Tuner::fixed(site.rows, BLOCK, ratio),
                Policy::Auto if self.joint.is_some() => {}
                Policy::Auto => site.tuner = self.tuner(&site),
            }
        }
        Ok(site)
    }

    /// From now on reductions go over all ranks of `comm`, and exchanges are hidden behind inner
    /// rows where `overlap`.
    pub fn join(&mut self, comm: &Rc<Comm>, overlap: bool) {
        self.comm = Rc::clone(comm);
        self.overlap = overlap;
        if let Some(single) = &mut self.single {
            single.join(comm, overlap);
        }
    }

    /// The ranks.
    pub fn comm(&self) -> &Rc<Comm> {
        &self.comm
    }

    /// Brings the halo of `x` up to date for a product, or leaves that to the product where it can
    /// be hidden there: then returns what to give it as [`Operands::halo`].
    ///
    /// # Errors
    /// A rank no longer answers; a transfer failed.
    pub fn exchange<'a>(&self, halo: &'a Halo, x: &mut Buffer<T>) -> Result<Option<&'a Halo>> {
        if halo.is_empty() {
            return Ok(None);
        }
        if self.overlap {
            return Ok(Some(halo));
        }
        self.update(halo, Reach::Face, &mut [x])?;
        Ok(None)
    }
}
