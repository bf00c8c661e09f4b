//! `y <- A x` in compressed sparse rows, on CPU threads or on the device: the format that others
//! use, for comparison.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Mutex;

use super::{Done, Side, Work, product_is_right, vector};
use crate::Result;
use crate::node::{BLOCK, Buffer, Pool};
use crate::sparse::Csr;
use crate::split::{CsrProduct, Engine, Place, Roofs, Traffic};

struct Product {
    matrix: Rc<Csr>,
    x: Buffer<f64>,
    /// The result, a part for each thread.
    y: Vec<Mutex<Vec<f64>>>,
    calls: f64,
}

/// On that side; it is never split.
pub(super) fn prepare(engine: &Engine<f64>, a: &Rc<Csr>, side: Side) -> Result<Box<dyn Work>> {
    if side == Side::Device {
        return Ok(Box::new(OnDevice {
            product: engine.csr(a, vector(engine, a.cols, 1)?)?,
            matrix: Rc::clone(a),
            calls: 0.0,
        }));
    }
    let pool = &engine.node.pool;
    let parts = (0..pool.threads()).map(|t| vec![0.0; part(pool, a.rows, t).len()]);
    Ok(Box::new(Product {
        matrix: Rc::clone(a),
        x: vector(engine, a.cols, 1)?,
        y: parts.map(Mutex::new).collect(),
        calls: 0.0,
    }))
}

/// Rows of thread `t`.
fn part(pool: &Pool, rows: usize, t: usize) -> Range<usize> {
    let blocks = pool.part(t, 0..rows.div_ceil(BLOCK));
    (blocks.start * BLOCK).min(rows)..(blocks.end * BLOCK).min(rows)
}

impl Work for Product {
    fn call(&mut self, engine: &Engine<f64>) -> Result<f64> {
        let (x, parts, pool) = (self.x.read()?, &self.y, &*engine.node.pool);
        let rows = self.matrix.rows;
        let (row_ptr, col, val) = (&self.matrix.row_ptr, &self.matrix.col, &self.matrix.val);
        pool.run(&|t| {
            // Each thread locks its own part alone; a poisoned lock still holds plain numbers.
            let mut y = parts[t].lock().unwrap_or_else(|e| e.into_inner());
            for (y, i) in y.iter_mut().zip(part(pool, rows, t)) {
                let mut sum = 0.0;
                for e in row_ptr[i]..row_ptr[i + 1] {
                    sum += val[e] * x[col[e] as usize];
                }
                *y = sum;
            }
        });
        self.calls += 1.0;
        Ok(1.0)
    }

    fn verify(&mut self, engine: &Engine<f64>) -> Result<bool> {
        self.call(engine)?;
        let mut y = Vec::with_capacity(self.matrix.rows);
        for part in &self.y {
            y.extend_from_slice(&part.lock().unwrap_or_else(|e| e.into_inner()));
        }
        Ok(product_is_right(&self.matrix, self.x.read()?, None, &y))
    }

    fn sites(&self) -> Vec<&Place> {
        Vec::new()
    }

    fn done(&self, roofs: &Roofs) -> Done {
        done(&self.matrix, self.calls, roofs)
    }
}

/// On the device.
struct OnDevice {
    matrix: Rc<Csr>,
    product: CsrProduct<f64>,
    calls: f64,
}

impl Work for OnDevice {
    fn call(&mut self, engine: &Engine<f64>) -> Result<f64> {
        engine.start_csr(&mut self.product)?;
        self.calls += 1.0;
        Ok(1.0)
    }

    fn queues(&self) -> bool {
        true
    }

    fn verify(&mut self, engine: &Engine<f64>) -> Result<bool> {
        self.call(engine)?;
        let (x, y) = (self.product.x.read()?, self.product.y.read()?);
        Ok(product_is_right(&self.matrix, x, None, y))
    }

    fn sites(&self) -> Vec<&Place> {
        Vec::new()
    }

    fn done(&self, roofs: &Roofs) -> Done {
        done(&self.matrix, self.calls, roofs)
    }
}

fn done(a: &Csr, calls: f64, roofs: &Roofs) -> Done {
    let traffic = Traffic {
        read_bytes: 12.0 * a.entries() as f64 + 8.0 * (a.rows + a.cols) as f64,
        written_bytes: 8.0 * a.rows as f64,
        updated_bytes: 0.0,
    };
    Done {
        flops: calls * 2.0 * a.entries() as f64,
        bytes: calls * traffic.bytes(),
        least_s: calls * roofs.seconds(&traffic),
    }
}
