//! A symmetric system scaled to unit diagonal: `(I + L) y = f` with `d` the root of A's diagonal,
//! `y = d x`, `f = b / d` and `L = A / (d d^T) - I`. Only L is stored: 8 bytes per row less than A,
//! and Jacobi's preconditioner is the identity.

use crate::Result;
use crate::kernel::{self, Real};
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Operands, Place, Site};

/// The system and the way in and out.
pub(super) struct System<T: Real> {
    /// The entries beside the unit diagonal.
    pub beside: Sell<T>,
    singular: bool,
    /// Root of the diagonal, and one over it (zero where there is none).
    root: Buffer<T>,
    inverse: Buffer<T>,
    /// One on rows, zero on padding.
    ones: Buffer<T>,
    f: Buffer<T>,
    /// The solution.
    pub y: Buffer<T>,
    mean: Site<T>,
    enter: Site<T>,
    residual: Site<T>,
    leave: Site<T>,
}

/// `I + L`.
pub(super) fn scaled(a: &Csr) -> Csr {
    let root = roots(a);
    Csr::from_rows(a.rows, a.cols, |i, row| {
        row.extend(a.row(i).map(|(j, v)| {
            let v = if i == j {
                1.0
            } else {
                v * (over(root[i]) * over(root[j]))
            };
            (j as u32, v)
        }));
    })
}

fn roots(a: &Csr) -> Vec<f64> {
    a.diag().iter().map(|d| d.max(0.0).sqrt()).collect()
}

fn over(d: f64) -> f64 {
    if d > 0.0 { 1.0 / d } else { 0.0 }
}

impl<T: Real> System<T> {
    /// Of `a`; `unit` is what [`scaled`] has made of it, `name` names its sites.
    pub fn new(
        engine: &Engine<T>,
        a: &Csr,
        unit: &Csr,
        singular: bool,
        name: &dyn Fn(&str) -> String,
    ) -> Result<Self> {
        let (n, node, root) = (a.rows, &engine.node, roots(a));
        let beside = Csr::from_rows(n, a.cols, |i, row| {
            let beside = unit.row(i).filter(|&(j, _)| j != i);
            row.extend(beside.map(|(j, v)| (j as u32, v)));
        });
        let root_t: Vec<T> = root.iter().map(|&d| T::of(d)).collect();
        let inverse: Vec<T> = root.iter().map(|&d| T::of(over(d))).collect();
        Ok(Self {
            beside: Sell::from_csr(node, &beside)?,
            singular,
            root: node.buffer_from(&root_t)?,
            inverse: node.buffer_from(&inverse)?,
            ones: node.buffer_from(&vec![T::of(1.0); n])?,
            f: node.buffer(n)?,
            y: node.buffer(n)?,
            mean: engine.site(kernel::dot::kernel(), &name("mean"), n)?,
            enter: engine.site(kernel::pcg_enter::kernel(), &name("scaling"), n)?,
            residual: engine.site(kernel::pcg_residual::kernel(), &name("residual"), n)?,
            leave: engine.site(kernel::pcg_leave::kernel(), &name("solution"), n)?,
        })
    }

    /// `f = (b - mean) / d`, `y = d x`; returns `|b - mean|^2`. Without `singular` the mean is 0.
    pub fn enter(&mut self, engine: &Engine<T>, b: &Buffer<T>, x: &Buffer<T>) -> Result<f64> {
        let mut mean = 0.0;
        if self.singular {
            let o = Operands {
                own: &[b, &self.ones],
                ..Operands::default()
            };
            mean = engine.run(&mut self.mean, o)?[0].f64() / b.len().max(1) as f64;
        }
        let o = Operands {
            out: &mut [&mut self.f, &mut self.y],
            own: &[b, x, &self.inverse, &self.root],
            scalars: &[T::of(mean)],
            ..Operands::default()
        };
        Ok(engine.run(&mut self.enter, o)?[0].f64())
    }

    /// `t = f - (I + L) y`; returns `|b - A x|^2` and the square of what round-off leaves of it.
    pub fn residual(&mut self, engine: &Engine<T>, t: &mut Buffer<T>) -> Result<(f64, f64)> {
        let o = Operands {
            out: &mut [t],
            own: &[&self.f, &self.y, &self.root],
            gather: &[&self.y],
            mats: &[&self.beside],
            ..Operands::default()
        };
        let sums = engine.run(&mut self.residual, o)?;
        let epsilon = match size_of::<T>() {
            4 => f64::from(f32::EPSILON),
            _ => f64::EPSILON,
        };
        let round_off = (2.0 * epsilon).powi(2) * sums[1].f64();
        Ok((sums[0].f64(), round_off))
    }

    /// `x = y / d`.
    pub fn leave(&mut self, engine: &Engine<T>, x: &mut Buffer<T>) -> Result<()> {
        let o = Operands {
            out: &mut [x],
            own: &[&self.y, &self.inverse],
            ..Operands::default()
        };
        engine.post(&mut self.leave, o)
    }

    /// Its call sites.
    pub fn sites(&self) -> [&Place; 4] {
        [&self.mean, &self.enter, &self.residual, &self.leave]
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        let own = [&self.root, &self.inverse, &self.ones, &self.f, &self.y];
        own.iter().map(|b| b.copied_bytes()).sum()
    }
}
