//! A symmetric system scaled to one value c on its diagonal, which is 1 but for a
//! [share](super::share):
//! `(c I + L) y = f` with `d` the root of A's diagonal over c, `y = d x`, `f = b / d` and
//! `L = A / (d d^T) - c I`. Only L is stored: 8 bytes per row less than A, and Jacobi's
//! preconditioner is the identity.

use std::rc::Rc;

use crate::Result;
use crate::cluster::{Halo, Reach};
use crate::kernel::{self, Real};
use crate::node::Buffer;
use crate::sparse::{Csr, Repeated, Sell};
use crate::split::{Engine, Operands, Place, Site};

/// By how much squares are to be larger than the least number.
const ROOM: f64 = 1e12;

/// A mean is left where its part of the residual is this part of the tolerance, or less.
const NEGLIGIBLE: f64 = 1e-3;

/// The system and the way in and out.
pub(super) struct System<T: Real> {
    /// The diagonal.
    pub share: f64,
    /// The entries beside it.
    pub beside: Sell<T>,
    halo: Rc<Halo>,
    singular: bool,
    /// Rows of all ranks.
    pub rows: f64,
    /// Root of the diagonal, and one over it (zero where there is none).
    pub root: Repeated<T>,
    inverse: Repeated<T>,
    /// What x and b are multiplied by.
    pub unit: f64,
    /// One on rows, zero on padding.
    ones: Buffer<T>,
    /// The right-hand side.
    pub f: Buffer<T>,
    /// The solution.
    pub y: Buffer<T>,
    mean: Site<T>,
    shift: Site<T>,
    pub entry: Site<T>,
    /// Of a solve that begins, and of one that may end.
    pub first: Site<T>,
    pub check: Site<T>,
    leave: Site<T>,
}

/// `c I + L`; `root` as from [`roots`], over the root of c.
pub(super) fn scaled(a: &Csr, root: &[f64], share: f64) -> Csr {
    Csr::from_rows(a.rows, a.cols, |i, row| {
        row.extend(a.row(i).map(|(j, v)| {
            let v = if i == j {
                share
            } else {
                v * (over(root[i]) * over(root[j]))
            };
            (j as u32, v)
        }));
    })
}

/// Roots of the diagonal, of every column: those of the halo are other ranks' rows.
pub(super) fn roots<T: Real>(engine: &Engine<T>, a: &Csr, halo: &Halo) -> Result<Vec<f64>> {
    let mut roots: Vec<f64> = a.diag().iter().map(|d| d.max(0.0).sqrt()).collect();
    if halo.is_empty() {
        return Ok(roots);
    }
    let mut all = engine.node.buffer_with_halo(a.rows, halo.len())?;
    all.write()?[..a.rows].copy_from_slice(&roots);
    halo.update(Reach::Face, &mut [&mut all])?;
    roots = all.share(0, 0)?.host.to_vec();
    Ok(roots)
}

/// `|b - A x|^2` and the square of what round-off leaves of it, from the reductions of a
/// [residual](System::residual).
pub(super) fn errors<T: Real>(sums: &[T]) -> (f64, f64) {
    (sums[0].f64(), round_off::<T>() * sums[1].f64())
}

/// The part of the sum of squares of what is subtracted that round-off leaves.
pub(super) fn round_off<T: Real>() -> f64 {
    (2.0 * T::EPSILON).powi(2)
}

fn over(d: f64) -> f64 {
    if d > 0.0 { 1.0 / d } else { 0.0 }
}

impl<T: Real> System<T> {
    /// Of what [`scaled`] has made of a matrix with its `root`s and `share`; `name` names its
    /// sites.
    pub fn new(
        engine: &Engine<T>,
        unit: &Csr,
        (root, share): (&[f64], f64),
        singular: bool,
        halo: &Rc<Halo>,
        name: &dyn Fn(&str) -> String,
    ) -> Result<Self> {
        let (n, node, root) = (unit.rows, &engine.node, &root[..unit.rows]);
        let beside = Csr::from_rows(n, unit.cols, |i, row| {
            let beside = unit.row(i).filter(|&(j, _)| j != i);
            row.extend(beside.map(|(j, v)| (j as u32, v)));
        });
        let inverse: Vec<f64> = root.iter().map(|&d| over(d)).collect();
        let beside = Sell::fixed(node, &beside)?;
        let mut first = engine.site(kernel::pcg_residual::kernel(), &name("residual"), n)?;
        let mut check = engine.site(kernel::pcg_check::kernel(), &name("check"), n)?;
        for site in [&mut first, &mut check] {
            engine.keep_border(site, halo, &beside);
        }
        Ok(Self {
            share,
            beside,
            halo: Rc::clone(halo),
            singular,
            rows: engine.comm().sum(n as f64)?.max(1.0),
            root: Repeated::new(node, root)?,
            inverse: Repeated::new(node, &inverse)?,
            unit: 1.0,
            ones: node.buffer_from(&vec![T::of(1.0); n])?,
            f: node.buffer(n)?,
            y: node.buffer_with_halo(n, halo.len())?,
            mean: engine.site(kernel::dot::kernel(), &name("mean"), n)?,
            shift: engine.site(kernel::axpy::kernel(), &name("mean removal"), n)?,
            entry: engine.site(kernel::pcg_enter::kernel(), &name("scaling"), n)?,
            first,
            check,
            leave: engine.site(kernel::pcg_leave::kernel(), &name("solution"), n)?,
        })
    }

    /// `x <- x - mean(x)` where nothing else holds the mean: rounded iterations move it, a solve
    /// that begins at the solution of another adds to that, and the larger x, the more of `b - A x`
    /// is round-off.
    pub fn centre(&mut self, engine: &Engine<T>, x: &mut Buffer<T>) -> Result<()> {
        if !self.singular {
            return Ok(());
        }
        let mean = self.mean(engine, x)?;
        let o = Operands {
            inout: &mut [x],
            own: &[&self.ones],
            scalars: &[T::of(-mean)],
            ..Operands::default()
        };
        engine.post(&mut self.shift, o)
    }

    fn mean(&mut self, engine: &Engine<T>, v: &Buffer<T>) -> Result<f64> {
        let o = Operands {
            own: &[v, &self.ones],
            ..Operands::default()
        };
        Ok(engine.run(&mut self.mean, o)?[0].f64() / self.rows)
    }

    /// Starts `f = (b - mean) / d`, `y = d x`, all in the `unit` of x and b, a power of two; its
    /// reductions are `|b - mean|^2`, and what [`far_mean`](Self::far_mean) asks for.
    pub fn enter(
        &mut self,
        engine: &Engine<T>,
        b: &Buffer<T>,
        x: &Buffer<T>,
        [mean, unit]: [f64; 2],
    ) -> Result<()> {
        self.unit = unit;
        let o = Operands {
            out: &mut [&mut self.f, &mut self.y],
            own: &[b, x],
            repeated: &[&self.inverse, &self.root],
            scalars: &[T::of(mean), T::of(unit)],
            ..Operands::default()
        };
        engine.post(&mut self.entry, o)
    }

    /// The mean of `b`, where it is to be taken off and matters to a solve to that `tolerance`: from
    /// the reductions of an entry without it. The right-hand side of a flow sums to zero but for
    /// round-off, so that it is rarely computed.
    pub fn far_mean(
        &mut self,
        engine: &Engine<T>,
        b: &Buffer<T>,
        [square, sum]: [f64; 2],
        tolerance: f64,
    ) -> Result<Option<f64>> {
        match self.negligible_mean(tolerance) {
            Some(most) if sum * sum <= most * square => Ok(None),
            Some(_) => self.mean(engine, b).map(Some),
            None => Ok(None),
        }
    }

    /// The largest `(sum b)^2` over `|b|^2` at which the mean of `b` does not matter to a solve to that
    /// `tolerance`, where it is to be taken off.
    pub fn negligible_mean(&self, tolerance: f64) -> Option<f64> {
        // The norm of what a mean leaves of the residual is |sum| / sqrt(rows).
        let part = (NEGLIGIBLE * tolerance).max(T::EPSILON);
        self.singular.then(|| part.powi(2) * self.rows)
    }

    /// The least bound of a squared residual in whose unit its squares are numbers.
    pub fn least_bound(&self) -> f64 {
        ROOM * T::LEAST * self.rows
    }

    /// Starts `t = f - (c I + L) y`; for its reductions see [`errors`], and `t . t`.
    pub fn residual(&mut self, engine: &Engine<T>, t: &mut Buffer<T>) -> Result<()> {
        let halo = engine.exchange(&self.halo, &mut self.y)?;
        let o = Operands {
            out: &mut [t],
            own: &[&self.f, &self.y],
            repeated: &[&self.root],
            gather: &[&self.y],
            mats: &[&self.beside],
            scalars: &[T::of(self.share)],
            halo,
            ..Operands::default()
        };
        engine.post(&mut self.first, o)
    }

    /// The same at the end of a solve, with what [`leave`](Self::leave) makes of `y`.
    pub fn check(
        &mut self,
        engine: &Engine<T>,
        t: &mut Buffer<T>,
        x: &mut Buffer<T>,
    ) -> Result<()> {
        let halo = engine.exchange(&self.halo, &mut self.y)?;
        let o = Operands {
            out: &mut [t, x],
            own: &[&self.f, &self.y],
            repeated: &[&self.root, &self.inverse],
            gather: &[&self.y],
            mats: &[&self.beside],
            scalars: &[T::of(self.share), T::of(1.0 / self.unit)],
            halo,
            ..Operands::default()
        };
        engine.post(&mut self.check, o)
    }

    /// `x = y / d`.
    pub fn leave(&mut self, engine: &Engine<T>, x: &mut Buffer<T>) -> Result<()> {
        let o = Operands {
            out: &mut [x],
            own: &[&self.y],
            repeated: &[&self.inverse],
            scalars: &[T::of(1.0 / self.unit)],
            ..Operands::default()
        };
        engine.post(&mut self.leave, o)
    }

    /// Its call sites.
    pub fn sites(&self) -> [&Place; 6] {
        let Self {
            mean,
            shift,
            entry,
            first,
            check,
            leave,
            ..
        } = self;
        [mean, shift, entry, first, check, leave]
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        let own = [&self.ones, &self.f, &self.y];
        own.iter().map(|b| b.copied_bytes()).sum::<u64>()
            + self.root.copied_bytes()
            + self.inverse.copied_bytes()
    }
}
