//! `y <- A x`.

use std::rc::Rc;

use super::{Bench, Input, Needs, Work, product_is_right, vector};
use crate::Result;
use crate::kernel;
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Operands, Place, Site};

pub(super) const BENCH: Bench = Bench {
    name: "spmv",
    unit: "call",
    needs: Needs::Entries,
    prepare,
    effective_bytes: |input| {
        let vectors = 8.0 * (input.rows() + input.matrix.cols as f64);
        Some(12.0 * input.nnz() + vectors)
    },
};

struct Product {
    plain: Rc<Csr>,
    matrix: Rc<Sell<f64>>,
    x: Buffer<f64>,
    y: Buffer<f64>,
    site: Site<f64>,
}

fn prepare(engine: &Engine<f64>, input: &Input) -> Result<Box<dyn Work>> {
    let a = &input.matrix;
    Ok(Box::new(Product {
        plain: Rc::clone(a),
        matrix: input.sell(engine)?,
        x: vector(engine, a.cols, 1)?,
        y: engine.node.buffer(a.rows)?,
        site: engine.site(kernel::spmv::kernel(), "spmv", a.rows)?,
    }))
}

impl Work for Product {
    fn call(&mut self, engine: &Engine<f64>) -> Result<f64> {
        let operands = Operands {
            out: &mut [&mut self.y],
            gather: &[&self.x],
            mats: &[&self.matrix],
            ..Operands::default()
        };
        engine.post(&mut self.site, operands).map(|()| 1.0)
    }

    fn queues(&self) -> bool {
        true
    }

    fn verify(&mut self, engine: &Engine<f64>) -> Result<bool> {
        self.call(engine)?;
        let (x, y) = (self.x.read()?, self.y.read()?);
        Ok(product_is_right(&self.plain, x, None, y))
    }

    fn sites(&self) -> Vec<&Place> {
        vec![&self.site]
    }

    fn site_mut(&mut self) -> Option<&mut Site<f64>> {
        Some(&mut self.site)
    }
}
