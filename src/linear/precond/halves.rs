//! Rows of two colours, none linked to its own: `I + L = [I B; B' I]`. In the order of the colours
//! the factor on A's own pattern is exact, `G = [I 0; -B' I]`, and `G A G'` leaves only the second
//! colour to be solved for: `(I - B'B) y_2 = f_2 - B' f_1`, then `y_1 = f_1 - B y_2`. An iteration
//! reads no more matrix than Jacobi's and half of its vectors, and half as many are needed
//! (Reid 1972; Hageman and Young 1981, chapter 8).
//!
//! Hexahedra have two colours, also in a periodic box of even numbers of cells. On several ranks the
//! colours are those of all of them, so that the iterations are those of one; each of the two
//! products of an iteration waits for the values of its colour alone, together as many as Jacobi's
//! one does. Vectors of both colours are as long there: rows without entries fill the shorter one up.

use std::rc::Rc;

use super::colours::colours;
use crate::Result;
use crate::cluster::{Halo, Reach};
use crate::kernel::{self, Real};
use crate::node::{Buffer, Node, padded};
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Operands, Place, Site};

/// What the elimination of the first colour needs.
pub(crate) struct Halves<T: Real> {
    /// Of the whole system, and of each colour.
    halo: Rc<Halo>,
    first_halo: Rc<Halo>,
    second_halo: Rc<Halo>,
    /// `B`, and `-B'`.
    first: Sell<T>,
    second: Sell<T>,
    /// `[-B' I]`, and its transpose.
    down: Sell<T>,
    up: Sell<T>,
    /// One at rows of the first colour.
    only_first: Sell<T>,
    /// `B p`.
    u: Buffer<T>,
    /// The residual of the whole system.
    pub t: Buffer<T>,
    /// The solution is `base + [-B' I]' z`.
    pub z: Buffer<T>,
    base: Buffer<T>,
    product: Site<T>,
    start: Site<T>,
    save: Site<T>,
    solution: Site<T>,
}

/// Where the columns of one colour are.
struct Colour {
    /// The rows.
    rows: Vec<usize>,
    halo: Halo,
    /// The column of each of the whole system's; nothing for the other colour.
    column: Vec<u32>,
}

impl Colour {
    fn len(&self) -> usize {
        self.rows.len()
    }

    /// The colour that `is` tells, of `a`'s columns.
    fn of(a: &Csr, halo: &Halo, is: impl Fn(usize) -> bool) -> Self {
        let rows: Vec<usize> = (0..a.rows).filter(|&i| is(i)).collect();
        let mut column = vec![0; a.cols];
        for (k, &i) in rows.iter().enumerate() {
            column[i] = k as u32;
        }
        let behind = padded(a.rows.max(1));
        let row = |i: usize| is(i).then(|| column[i]);
        let (halo, places) = halo.some(row, |place| is(behind + place));
        column[a.rows..].fill(0);
        for (at, place) in column[behind.min(a.cols)..].iter_mut().zip(places) {
            *at = place;
        }
        Self { rows, halo, column }
    }

    /// Columns of the halo follow `length` owned ones.
    fn put_behind(&mut self, length: usize, rows: usize) {
        let first = padded(length.max(1)) as u32;
        self.column[rows..].iter_mut().for_each(|j| *j += first);
    }
}

/// The matrices of the elimination, whatever the precision.
struct Parts {
    ones: Colour,
    twos: Colour,
    /// Rows of each colour, filled up.
    n1: usize,
    n2: usize,
    first: Csr,
    second: Csr,
    down: Csr,
    up: Csr,
    only_first: Csr,
}

impl Parts {
    fn new(node: &Node, a: &Csr, halo: &Halo) -> Result<Option<Self>> {
        let Some(colour) = colours(node, a, halo)? else {
            return Ok(None);
        };
        let mut ones = Colour::of(a, halo, |i| !colour[i]);
        let mut twos = Colour::of(a, halo, |i| colour[i]);
        if halo.comm().sum(twos.len() as f64)? == 0.0 {
            return Ok(None);
        }
        let (mut n1, mut n2) = (ones.len(), twos.len());
        if halo.comm().size() > 1 {
            // Products that wait for a halo are those of square matrices.
            n1 = n1.max(n2);
            n2 = n1;
        }
        ones.put_behind(n1, a.rows);
        twos.put_behind(n2, a.rows);
        let beside = |i: usize| a.row(i).filter(move |&(j, _)| j != i);
        let width = |n: usize, colour: &Colour| match colour.halo.len() {
            0 => n,
            more => padded(n.max(1)) + more,
        };
        let (cols1, cols2) = (width(n1, &ones), width(n2, &twos));
        let first = Csr::from_rows(n1, cols2, |k, row| {
            let i = ones.rows.get(k);
            let entries = i.into_iter().flat_map(|&i| beside(i));
            row.extend(entries.map(|(j, v)| (twos.column[j], v)));
        });
        let second = Csr::from_rows(n2, cols1, |k, row| {
            let i = twos.rows.get(k);
            let entries = i.into_iter().flat_map(|&i| beside(i));
            row.extend(entries.map(|(j, v)| (ones.column[j], -v)));
        });
        let down = Csr::from_rows(n2, a.cols, |k, row| {
            if let Some(&i) = twos.rows.get(k) {
                row.extend(beside(i).map(|(j, v)| (j as u32, -v)));
                row.push((i as u32, 1.0));
            }
        });
        let up = Csr::from_rows(a.rows, cols2, |i, row| match colour[i] {
            true => row.push((twos.column[i], 1.0)),
            false => row.extend(beside(i).map(|(j, v)| (twos.column[j], -v))),
        });
        let only_first = Csr::from_rows(a.rows, a.rows, |i, row| {
            if !colour[i] {
                row.push((i as u32, 1.0));
            }
        });
        Ok(Some(Self {
            ones,
            twos,
            n1,
            n2,
            first,
            second,
            down,
            up,
            only_first,
        }))
    }
}

impl<T: Real> Halves<T> {
    /// Prepares the elimination for `a`, symmetric and of unit diagonal, whose rows wait for `halo`;
    /// none if two colours are not enough, or one is. All ranks must call this together.
    ///
    /// # Errors
    /// Out of memory; a rank no longer answers.
    pub fn new(engine: &Engine<T>, a: &Csr, halo: &Rc<Halo>) -> Result<Option<Self>> {
        let (node, n) = (&engine.node, a.rows);
        let Some(parts) = Parts::new(node, a, halo)? else {
            return Ok(None);
        };
        let Parts { ones, twos, .. } = parts;
        let sum = |label| engine.site(kernel::spmv_add::kernel(), label, n);
        let (first, second) = (
            Sell::fixed(node, &parts.first)?,
            Sell::fixed(node, &parts.second)?,
        );
        let mut product =
            engine.site(kernel::spmv::kernel(), "poisson eliminated half", parts.n1)?;
        engine.keep_border(&mut product, &twos.halo, &first);
        Ok(Some(Self {
            first,
            second,
            down: Sell::fixed(node, &parts.down)?,
            up: Sell::fixed(node, &parts.up)?,
            only_first: Sell::fixed(node, &parts.only_first)?,
            u: node.buffer_with_halo(parts.n1, ones.halo.len())?,
            t: node.buffer_with_halo(n, halo.len())?,
            z: node.buffer_with_halo(parts.n2, twos.halo.len())?,
            base: node.buffer(n)?,
            product,
            start: engine.site(kernel::fsai_begin::kernel(), "poisson half start", parts.n2)?,
            save: sum("poisson eliminated residual")?,
            solution: sum("poisson half end")?,
            halo: Rc::clone(halo),
            first_halo: Rc::new(ones.halo),
            second_halo: Rc::new(twos.halo),
        }))
    }

    /// Leaves the rows of `product`, of what [`inner`](Self::inner) returns, that wait for others to
    /// the CPU.
    pub fn keep_border(&self, engine: &Engine<T>, product: &mut Site<T>) {
        engine.keep_border(product, &self.first_halo, &self.second);
    }

    /// `-B'`, `B p`, and the exchange of that, where it is to be hidden.
    ///
    /// # Errors
    /// The device failed; a rank no longer answers.
    pub fn inner(
        &mut self,
        engine: &Engine<T>,
        p: &mut Buffer<T>,
    ) -> Result<(&Sell<T>, &Buffer<T>, Option<&Halo>)> {
        let halo = engine.exchange(&self.second_halo, p)?;
        let o = Operands {
            out: &mut [&mut self.u],
            gather: &[p],
            mats: &[&self.first],
            halo,
            ..Operands::default()
        };
        engine.post(&mut self.product, o)?;
        let halo = engine.exchange(&self.first_halo, &mut self.u)?;
        Ok((&self.second, &self.u, halo))
    }

    /// See [`Factor::begin`](super::Factor::begin); `G t` is `t_2 - B' t_1` here.
    ///
    /// # Errors
    /// The device failed; a rank no longer answers.
    pub fn begin(
        &mut self,
        engine: &Engine<T>,
        (p, old): (&mut Buffer<T>, &Buffer<T>),
        y: &Buffer<T>,
        kept: T,
    ) -> Result<f64> {
        let o = Operands {
            out: &mut [&mut self.base],
            own: &[y],
            gather: &[&self.t],
            mats: &[&self.only_first],
            scalars: &[T::of(1.0)],
            ..Operands::default()
        };
        engine.post(&mut self.save, o)?;
        engine.update(&self.halo, Reach::Face, &mut [&mut self.t])?;
        let o = Operands {
            out: &mut [&mut self.z, p],
            own: &[old],
            gather: &[&self.t],
            mats: &[&self.down],
            scalars: &[kept],
            ..Operands::default()
        };
        Ok(engine.run(&mut self.start, o)?[0].f64())
    }

    /// The site of [`begin`](Self::begin) that has its sum.
    pub fn start(&self) -> &Site<T> {
        &self.start
    }

    /// `y_2 = base_2 + z`, `y_1 = base_1 - B z`.
    ///
    /// # Errors
    /// The device failed; a rank no longer answers.
    pub fn end(&mut self, engine: &Engine<T>, y: &mut Buffer<T>) -> Result<()> {
        engine.update(&self.second_halo, Reach::Face, &mut [&mut self.z])?;
        let o = Operands {
            out: &mut [y],
            own: &[&self.base],
            gather: &[&self.z],
            mats: &[&self.up],
            scalars: &[T::of(1.0)],
            ..Operands::default()
        };
        engine.post(&mut self.solution, o)
    }

    /// Its call sites.
    pub fn sites(&self) -> [&Place; 4] {
        [&self.product, &self.start, &self.save, &self.solution]
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        let own = [&self.u, &self.t, &self.z, &self.base];
        own.iter().map(|b| b.copied_bytes()).sum()
    }
}
