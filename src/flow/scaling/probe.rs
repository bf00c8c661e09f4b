//! A matrix with the vectors that it is applied to.

use std::rc::Rc;

use crate::Result;
use crate::cluster::{Comm, Halo, Reach};
use crate::kernel::{axpy, dot, spmv};
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::cache::Cache;
use crate::split::{Engine, Operands, Site};

/// See the module.
pub(super) struct Probe {
    pub engine: Engine<f64>,
    halo: Rc<Halo>,
    matrix: Sell<f64>,
    x: Buffer<f64>,
    y: Buffer<f64>,
    pub product: Site<f64>,
    axpy: Site<f64>,
    dot: Site<f64>,
}

impl Probe {
    pub fn new(mut engine: Engine<f64>, comm: &Rc<Comm>, a: &Csr, halo: Rc<Halo>) -> Result<Self> {
        let bandwidth = engine.bandwidth()?;
        engine.begin_from(&bandwidth, Cache::default());
        engine.join(comm, true);
        let n = a.rows;
        let mut x = engine.node.buffer_with_halo::<f64>(n, halo.len())?;
        for (i, v) in x.write()?[..n].iter_mut().enumerate() {
            *v = (i as f64).sin();
        }
        let matrix: Sell<f64> = Sell::from_csr(&engine.node, a)?;
        let mut product = engine.site(spmv::kernel(), "product", n)?;
        engine.keep_border(&mut product, &halo, &matrix);
        Ok(Self {
            matrix,
            x,
            y: engine.node.buffer(n)?,
            product,
            axpy: engine.site(axpy::kernel(), "axpy", n)?,
            dot: engine.site(dot::kernel(), "dot", n)?,
            halo,
            engine,
        })
    }

    /// `y <- A x`.
    pub fn multiply(&mut self, exchange: bool) -> Result<()> {
        let halo = match exchange {
            true => self.engine.exchange(&self.halo, &mut self.x)?,
            false => None,
        };
        let operands = Operands {
            out: &mut [&mut self.y],
            gather: &[&self.x],
            mats: &[&self.matrix],
            halo,
            ..Operands::default()
        };
        self.engine.run(&mut self.product, operands).map(|_| ())
    }

    /// `y += a x`.
    pub fn add(&mut self) -> Result<()> {
        let operands = Operands {
            inout: &mut [&mut self.y],
            own: &[&self.x],
            scalars: &[1e-3],
            ..Operands::default()
        };
        self.engine.run(&mut self.axpy, operands).map(|_| ())
    }

    /// `x . y` over all ranks.
    pub fn inner(&mut self) -> Result<()> {
        let operands = Operands {
            own: &[&self.x, &self.y],
            ..Operands::default()
        };
        self.engine.run(&mut self.dot, operands).map(|_| ())
    }

    /// An exchange alone.
    pub fn swap(&mut self) -> Result<()> {
        self.engine
            .update(&self.halo, Reach::Face, &mut [&mut self.x])
    }
}
