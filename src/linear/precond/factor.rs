//! The factor that an iteration works behind: one interface to both kinds.

use std::rc::Rc;

use super::fsai::{Fsai, Pattern};
use super::halves::Halves;
use crate::Result;
use crate::cluster::Halo;
use crate::kernel::Real;
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Place, Site};

/// G, and what the solve of `G A G^T` needs of it.
pub(crate) enum Factor<T: Real> {
    /// Of all rows.
    Whole(Box<Fsai<T>>),
    /// In the order of two colours: the rows of one are left.
    Halves(Box<Halves<T>>),
}

/// Of `G A G^T p`, the last product: its matrix, the vector, the exchange of that where the product
/// is to hide it, and the share of p itself.
pub(crate) type Last<'a, T> = (&'a Sell<T>, &'a Buffer<T>, Option<&'a Halo>, f64);

impl<T: Real> Factor<T> {
    /// Prepares G for `a`, of unit diagonal, which waits for `halo` as its rows do `beside` it.
    ///
    /// # Errors
    /// Out of memory; a rank no longer answers.
    pub fn new(
        engine: &Engine<T>,
        a: &Csr,
        pattern: Pattern,
        halo: &Rc<Halo>,
        beside: &Sell<T>,
    ) -> Result<Self> {
        if pattern.by_colour
            && pattern.power == 1
            && let Some(halves) = Halves::new(engine, a, halo)?
        {
            return Ok(Self::Halves(Box::new(halves)));
        }
        let whole = Fsai::new(engine, a, pattern, halo, beside)?;
        Ok(Self::Whole(Box::new(whole)))
    }

    /// Rows of the system that is solved.
    pub fn rows(&self) -> usize {
        self.z().len()
    }

    /// The solution of the system that is solved.
    pub fn z(&self) -> &Buffer<T> {
        match self {
            Self::Whole(g) => &g.z,
            Self::Halves(h) => &h.z,
        }
    }

    /// As [`Factor::z`], to change.
    pub fn z_mut(&mut self) -> &mut Buffer<T> {
        match self {
            Self::Whole(g) => &mut g.z,
            Self::Halves(h) => &mut h.z,
        }
    }

    /// Where the residual of the whole system goes.
    pub fn t(&mut self) -> &mut Buffer<T> {
        match self {
            Self::Whole(g) => &mut g.t,
            Self::Halves(h) => &mut h.t,
        }
    }

    /// All of `G (I + beside) G^T p` but its last product.
    ///
    /// # Errors
    /// The device failed.
    pub fn inner(
        &mut self,
        engine: &Engine<T>,
        beside: &Sell<T>,
        p: &mut Buffer<T>,
    ) -> Result<Last<'_, T>> {
        match self {
            Self::Whole(g) => g.inner(engine, beside, p).map(|(g, v)| (g, v, None, 0.0)),
            Self::Halves(h) => h.inner(engine, p).map(|(b, u, halo)| (b, u, halo, 1.0)),
        }
    }

    /// Leaves the rows of `product`, the last one of [`inner`](Self::inner), that wait for other
    /// ranks to the CPU.
    pub fn keep_border(&self, engine: &Engine<T>, product: &mut Site<T>) {
        match self {
            Self::Whole(_) => (),
            Self::Halves(h) => h.keep_border(engine, product),
        }
    }

    /// `p = G t + kept old`, the start of a solve for what is to be added to `y`, along the residual `G t` or
    /// in the last one's direction; returns `|G t|^2`.
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
        match self {
            Self::Whole(g) => g.begin(engine, (p, old), y, kept),
            Self::Halves(h) => h.begin(engine, (p, old), y, kept),
        }
    }

    /// The site of [`begin`](Self::begin).
    pub fn start(&self) -> &Site<T> {
        match self {
            Self::Whole(g) => g.start(),
            Self::Halves(h) => h.start(),
        }
    }

    /// Adds what has been solved to `y`.
    ///
    /// # Errors
    /// The device failed.
    pub fn end(&mut self, engine: &Engine<T>, y: &mut Buffer<T>) -> Result<()> {
        match self {
            Self::Whole(g) => g.end(engine, y),
            Self::Halves(h) => h.end(engine, y),
        }
    }

    /// Its call sites.
    pub fn sites(&self) -> [&Place; 4] {
        match self {
            Self::Whole(g) => g.sites(),
            Self::Halves(h) => h.sites(),
        }
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        match self {
            Self::Whole(g) => g.copied_bytes(),
            Self::Halves(h) => h.copied_bytes(),
        }
    }
}
