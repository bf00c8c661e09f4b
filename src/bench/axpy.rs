//! `y <- a x + y`.

use super::{Bench, Input, Needs, Work, vector};
use crate::Result;
use crate::kernel;
use crate::node::Buffer;
use crate::split::{Engine, Operands, Place, Site};

pub(super) const BENCH: Bench = Bench {
    name: "axpy",
    unit: "call",
    needs: Needs::Rows,
    prepare,
    effective_bytes: |input| Some(24.0 * input.rows()),
};

/// Small, so that y stays finite however often it is added.
const A: f64 = 1e-3;

struct Axpy {
    x: Buffer<f64>,
    y: Buffer<f64>,
    site: Site<f64>,
}

fn prepare(engine: &Engine<f64>, input: &Input) -> Result<Box<dyn Work>> {
    let n = input.matrix.rows;
    Ok(Box::new(Axpy {
        x: vector(engine, n, 1)?,
        y: vector(engine, n, 2)?,
        site: engine.site(kernel::axpy::kernel(), "axpy", n)?,
    }))
}

impl Work for Axpy {
    fn call(&mut self, engine: &Engine<f64>) -> Result<f64> {
        let operands = Operands {
            inout: &mut [&mut self.y],
            own: &[&self.x],
            scalars: &[A],
            ..Operands::default()
        };
        engine.post(&mut self.site, operands).map(|()| 1.0)
    }

    fn queues(&self) -> bool {
        true
    }

    fn verify(&mut self, engine: &Engine<f64>) -> Result<bool> {
        let before = self.y.read()?.to_vec();
        self.call(engine)?;
        let mut rows = self.x.read()?.iter().zip(&before).zip(self.y.read()?);
        Ok(rows.all(|((x, before), y)| *y == A.mul_add(*x, *before)))
    }

    fn sites(&self) -> Vec<&Place> {
        vec![&self.site]
    }

    fn site_mut(&mut self) -> Option<&mut Site<f64>> {
        Some(&mut self.site)
    }
}
