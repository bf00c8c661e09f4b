//! Factorised sparse approximate inverse: `G^T G ~ A^-1` with G lower triangular on the pattern of
//! the lower triangle of `A^k`, so that `G A G^T` is near the identity and has unit diagonal
//! (Kolotilina and Yeremin 1993; thesis section 1.2.2).
//!
//! Row i of G is `g / sqrt(g_i)`, `A[P, P] g = e_i` on its pattern P: a small dense system per row,
//! and no row waits for another. Entries below a threshold may be dropped; the row is then scaled
//! anew to unit diagonal.

use std::rc::Rc;

use crate::Result;
use crate::cluster::Halo;
use crate::kernel::{self, Real};
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Operands, Place, Site};

/// Where G may have entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pattern {
    /// k of `A^k`: 1 or more.
    pub power: usize,
    /// Entries of G smaller than this share of their row's diagonal are dropped; 0 keeps all.
    pub drop: f64,
    /// Where rows have two colours and `power` is 1, one colour comes after the other: G is exact
    /// then, and half of the rows are left.
    pub by_colour: bool,
}

impl Default for Pattern {
    fn default() -> Self {
        Self {
            power: 1,
            drop: 0.0,
            by_colour: true,
        }
    }
}

/// Columns `<= i` of row `i` of `A^power`, ascending, `i` the last.
fn pattern(a: &Csr, i: usize, power: usize) -> Vec<usize> {
    let mut found = vec![i];
    let mut front = vec![i];
    for _ in 0..power {
        let mut next: Vec<usize> = front
            .iter()
            .flat_map(|&k| a.row(k).map(|(j, _)| j))
            .filter(|&j| j < a.rows && !found.contains(&j))
            .collect();
        next.sort_unstable();
        next.dedup();
        found.extend(&next);
        front = next;
    }
    found.retain(|&j| j <= i);
    found.sort_unstable();
    found
}

/// `A[P, P]`, row by row.
fn dense(a: &Csr, pattern: &[usize]) -> Vec<f64> {
    let n = pattern.len();
    let mut out = vec![0.0; n * n];
    for (k, &row) in pattern.iter().enumerate() {
        for (j, v) in a.row(row) {
            if let Ok(l) = pattern.binary_search(&j) {
                out[k * n + l] += v;
            }
        }
    }
    out
}

/// Solves `m g = e_last` in place by Cholesky's factors; `None` where m is not positive.
fn last_column(mut m: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    for k in 0..n {
        for j in 0..k {
            let l = m[k * n + j];
            m[k * n + k] -= l * l;
        }
        // What is left of a singular system is round-off.
        if m[k * n + k] <= 1e-10 {
            return None;
        }
        m[k * n + k] = m[k * n + k].sqrt();
        for i in k + 1..n {
            for j in 0..k {
                m[i * n + k] -= m[i * n + j] * m[k * n + j];
            }
            m[i * n + k] /= m[k * n + k];
        }
    }
    // L y = e_last leaves one entry; L^T g = y.
    let mut g = vec![0.0; n];
    for i in (0..n).rev() {
        let mut s = if i + 1 == n { 1.0 / m[n * n - 1] } else { 0.0 };
        for k in i + 1..n {
            s -= m[k * n + i] * g[k];
        }
        g[i] = s / m[i * n + i];
    }
    Some(g)
}

/// Row `i` of G.
fn row(a: &Csr, i: usize, p: Pattern) -> Vec<(u32, f64)> {
    let mut at = pattern(a, i, p.power);
    let m = dense(a, &at);
    let Some(mut g) = last_column(m, at.len()) else {
        return vec![(i as u32, 1.0)];
    };
    if p.drop > 0.0 {
        let least = p.drop * g[g.len() - 1].abs();
        let kept: Vec<bool> = g.iter().map(|g| g.abs() >= least).collect();
        let mut keep = kept.iter();
        at.retain(|_| keep.next() == Some(&true));
        let mut keep = kept.iter();
        g.retain(|_| keep.next() == Some(&true));
    }
    let (m, n) = (dense(a, &at), at.len());
    let mut square = 0.0;
    for k in 0..n {
        for l in 0..n {
            square += g[k] * m[k * n + l] * g[l];
        }
    }
    let scale = 1.0 / square.sqrt();
    at.iter()
        .zip(g)
        .map(|(&j, g)| (j as u32, g * scale))
        .collect()
}

/// G for the symmetric, positive (semi-)definite `a` with unit diagonal; columns beyond its rows,
/// those of other ranks, are left out.
pub fn factor(a: &Csr, p: Pattern) -> Csr {
    Csr::from_rows(a.rows, a.rows, |i, out| out.extend(row(a, i, p)))
}

/// G and its transpose with what their products need.
pub(crate) struct Fsai<T: Real> {
    halo: Rc<Halo>,
    g: Sell<T>,
    transpose: Sell<T>,
    /// `G^T p`, and A times that.
    u: Buffer<T>,
    v: Buffer<T>,
    /// The residual of the whole system.
    pub t: Buffer<T>,
    /// The solution is `base + G^T z`.
    pub z: Buffer<T>,
    base: Buffer<T>,
    back: Site<T>,
    middle: Site<T>,
    start: Site<T>,
    solution: Site<T>,
}

impl<T: Real> Fsai<T> {
    /// Prepares G for `a`, of unit diagonal, which waits for `halo` as its rows do `beside` it.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(
        engine: &Engine<T>,
        a: &Csr,
        pattern: Pattern,
        halo: &Rc<Halo>,
        beside: &Sell<T>,
    ) -> Result<Self> {
        let g = factor(a, pattern);
        let (node, n) = (&engine.node, a.rows);
        let sum = |label| engine.site(kernel::spmv_add::kernel(), label, n);
        let mut middle = sum("poisson inner product")?;
        engine.keep_border(&mut middle, halo, beside);
        Ok(Self {
            halo: Rc::clone(halo),
            transpose: Sell::fixed(node, &g.transpose())?,
            g: Sell::fixed(node, &g)?,
            u: node.buffer_with_halo(n, halo.len())?,
            v: node.buffer(n)?,
            t: node.buffer(n)?,
            z: node.buffer(n)?,
            // Changes places with the system's y.
            base: node.buffer_with_halo(n, halo.len())?,
            back: engine.site(kernel::spmv::kernel(), "poisson preconditioner", n)?,
            middle,
            start: engine.site(
                kernel::fsai_begin::kernel(),
                "poisson preconditioned start",
                n,
            )?,
            solution: sum("poisson preconditioned end")?,
        })
    }

    /// G, and `(I + beside) G^T p`.
    ///
    /// # Errors
    /// The device failed.
    pub fn inner(
        &mut self,
        engine: &Engine<T>,
        beside: &Sell<T>,
        p: &Buffer<T>,
    ) -> Result<(&Sell<T>, &Buffer<T>)> {
        let o = Operands {
            out: &mut [&mut self.u],
            gather: &[p],
            mats: &[&self.transpose],
            ..Operands::default()
        };
        engine.post(&mut self.back, o)?;
        let halo = engine.exchange(&self.halo, &mut self.u)?;
        let o = Operands {
            out: &mut [&mut self.v],
            own: &[&self.u],
            gather: &[&self.u],
            mats: &[beside],
            scalars: &[T::of(1.0)],
            halo,
            ..Operands::default()
        };
        engine.post(&mut self.middle, o)?;
        Ok((&self.g, &self.v))
    }

    /// See [`Factor::begin`](super::Factor::begin).
    ///
    /// # Errors
    /// The device failed.
    pub fn begin(
        &mut self,
        engine: &Engine<T>,
        (p, old): (&mut Buffer<T>, &Buffer<T>),
        y: &mut Buffer<T>,
        kept: T,
    ) -> Result<f64> {
        std::mem::swap(&mut self.base, y);
        let o = Operands {
            out: &mut [&mut self.z, p],
            own: &[old],
            gather: &[&self.t],
            mats: &[&self.g],
            scalars: &[kept],
            ..Operands::default()
        };
        Ok(engine.run(&mut self.start, o)?[0].f64())
    }

    /// The site of [`begin`](Self::begin).
    pub fn start(&self) -> &Site<T> {
        &self.start
    }

    /// `y = base + G^T z`.
    ///
    /// # Errors
    /// The device failed.
    pub fn end(&mut self, engine: &Engine<T>, y: &mut Buffer<T>) -> Result<()> {
        let o = Operands {
            out: &mut [y],
            own: &[&self.base],
            gather: &[&self.z],
            mats: &[&self.transpose],
            scalars: &[T::of(1.0)],
            ..Operands::default()
        };
        engine.post(&mut self.solution, o)
    }

    /// Its call sites.
    pub fn sites(&self) -> [&Place; 4] {
        [&self.back, &self.middle, &self.start, &self.solution]
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        let own = [&self.u, &self.v, &self.t, &self.z, &self.base];
        own.iter().map(|b| b.copied_bytes()).sum()
    }
}
