//! `x . y`, with the partial sums added on the host.

use super::{Bench, Input, Needs, Work, vector};
use crate::Result;
use crate::kernel;
use crate::node::Buffer;
use crate::split::{Engine, Operands, Place, Site};

pub(super) const BENCH: Bench = Bench {
    name: "dot",
    unit: "call",
    needs: Needs::Rows,
    prepare,
    effective_bytes: |input| Some(16.0 * input.rows()),
};

struct Dot {
    x: Buffer<f64>,
    y: Buffer<f64>,
    sum: f64,
    site: Site<f64>,
}

fn prepare(engine: &Engine<f64>, input: &Input) -> Result<Box<dyn Work>> {
    let n = input.matrix.rows;
    Ok(Box::new(Dot {
        x: vector(engine, n, 1)?,
        y: vector(engine, n, 2)?,
        sum: 0.0,
        site: engine.site(kernel::dot::kernel(), "dot", n)?,
    }))
}

impl Work for Dot {
    fn call(&mut self, engine: &Engine<f64>) -> Result<f64> {
        let operands = Operands {
            own: &[&self.x, &self.y],
            ..Operands::default()
        };
        self.sum = engine.run(&mut self.site, operands)?[0];
        Ok(1.0)
    }

    fn verify(&mut self, engine: &Engine<f64>) -> Result<bool> {
        self.call(engine)?;
        let (mut sum, mut size) = (0.0, 0.0);
        for (x, y) in self.x.read()?.iter().zip(self.y.read()?) {
            sum += x * y;
            size += (x * y).abs();
        }
        // The plain sum itself is off by up to n eps / 2 of the magnitudes, mostly far less.
        Ok((self.sum - sum).abs() <= 1e-12 * size)
    }

    fn sites(&self) -> Vec<&Place> {
        vec![&self.site]
    }

    fn site_mut(&mut self) -> Option<&mut Site<f64>> {
        Some(&mut self.site)
    }
}
