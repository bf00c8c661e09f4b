//! `y_k <- b_k + A x_k`, k = 0, 1, 2.

use std::rc::Rc;

use super::{Bench, Input, Needs, Work, product_is_right, vector};
use crate::Result;
use crate::kernel;
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Operands, Place, Site};

pub(super) const BENCH: Bench = Bench {
    name: "gspmv",
    unit: "call",
    needs: Needs::Entries,
    prepare,
    effective_bytes: |input| {
        let vectors = 8.0 * (6.0 * input.rows() + 3.0 * input.matrix.cols as f64);
        Some(12.0 * input.nnz() + vectors)
    },
};

struct Product {
    plain: Rc<Csr>,
    matrix: Rc<Sell<f64>>,
    x: [Buffer<f64>; 3],
    b: [Buffer<f64>; 3],
    y: [Buffer<f64>; 3],
    site: Site<f64>,
}

fn prepare(engine: &Engine<f64>, input: &Input) -> Result<Box<dyn Work>> {
    let a = &input.matrix;
    let three = |n: usize, seed: u64| -> Result<[Buffer<f64>; 3]> {
        Ok([
            vector(engine, n, seed)?,
            vector(engine, n, seed + 1)?,
            vector(engine, n, seed + 2)?,
        ])
    };
    Ok(Box::new(Product {
        plain: Rc::clone(a),
        matrix: input.sell(engine)?,
        x: three(a.cols, 1)?,
        b: three(a.rows, 4)?,
        y: three(a.rows, 7)?,
        site: engine.site(kernel::gspmv::kernel(), "gspmv", a.rows)?,
    }))
}

impl Work for Product {
    fn call(&mut self, engine: &Engine<f64>) -> Result<f64> {
        let operands = Operands {
            out: &mut self.y.each_mut(),
            own: &self.b.each_ref(),
            gather: &self.x.each_ref(),
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
        let mut right = true;
        for k in 0..3 {
            let (x, b, y) = (self.x[k].read()?, self.b[k].read()?, self.y[k].read()?);
            right &= product_is_right(&self.plain, x, Some(b), y);
        }
        Ok(right)
    }

    fn sites(&self) -> Vec<&Place> {
        vec![&self.site]
    }

    fn site_mut(&mut self) -> Option<&mut Site<f64>> {
        Some(&mut self.site)
    }
}
