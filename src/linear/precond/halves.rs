//! Rows of two colours, none linked to its own: `I + L = [I B; B' I]`. In the order of the colours
//! the factor on A's own pattern is exact, `G = [I 0; -B' I]`, and `G A G'` leaves only the second
//! colour to be solved for: `(I - B'B) y_2 = f_2 - B' f_1`, then `y_1 = f_1 - B y_2`. An iteration
//! reads no more matrix than Jacobi's and half of its vectors, and half as many are needed
//! (Reid 1972; Hageman and Young 1981, chapter 8).
//!
//! Hexahedra have two colours, also in a periodic box of even numbers of cells.

use std::collections::VecDeque;

use crate::Result;
use crate::kernel::{self, Real};
use crate::node::Buffer;
use crate::sparse::{Csr, Sell};
use crate::split::{Engine, Operands, Place, Site};

/// The colour of each row, if two are enough; of rows without links, the first.
fn colours(a: &Csr) -> Option<Vec<bool>> {
    let mut colour: Vec<Option<bool>> = vec![None; a.rows];
    let mut queue = VecDeque::new();
    for start in 0..a.rows {
        if colour[start].is_some() {
            continue;
        }
        colour[start] = Some(false);
        queue.push_back(start);
        while let Some(i) = queue.pop_front() {
            let other = colour[i].map(|c| !c);
            for (j, _) in a.row(i).filter(|&(j, _)| j != i) {
                if colour[j].is_none() {
                    colour[j] = other;
                    queue.push_back(j);
                } else if colour[j] != other {
                    return None;
                }
            }
        }
    }
    colour.into_iter().collect()
}

/// What the elimination of the first colour needs.
pub(crate) struct Halves<T: Real> {
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

impl<T: Real> Halves<T> {
    /// Prepares the elimination for `a`, symmetric and of unit diagonal; none if two colours are
    /// not enough, or one is.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(engine: &Engine<T>, a: &Csr) -> Result<Option<Self>> {
        let Some(colour) = colours(a) else {
            return Ok(None);
        };
        let rows = |c: bool| -> Vec<usize> { (0..a.rows).filter(|&i| colour[i] == c).collect() };
        let (ones, twos) = (rows(false), rows(true));
        if twos.is_empty() {
            return Ok(None);
        }
        let mut place = vec![0; a.rows];
        for rows in [&ones, &twos] {
            for (k, &i) in rows.iter().enumerate() {
                place[i] = k as u32;
            }
        }
        let beside = |i: usize| a.row(i).filter(move |&(j, _)| j != i);
        let first = Csr::from_rows(ones.len(), twos.len(), |k, row| {
            row.extend(beside(ones[k]).map(|(j, v)| (place[j], v)));
        });
        let second = Csr::from_rows(twos.len(), ones.len(), |k, row| {
            row.extend(beside(twos[k]).map(|(j, v)| (place[j], -v)));
        });
        let down = Csr::from_rows(twos.len(), a.rows, |k, row| {
            row.extend(beside(twos[k]).map(|(j, v)| (j as u32, -v)));
            row.push((twos[k] as u32, 1.0));
        });
        let only_first = Csr::from_rows(a.rows, a.rows, |i, row| {
            if !colour[i] {
                row.push((i as u32, 1.0));
            }
        });
        let (node, n, m) = (&engine.node, a.rows, twos.len());
        let sum = |label| engine.site(kernel::spmv_add::kernel(), label, n);
        Ok(Some(Self {
            first: Sell::fixed(node, &first)?,
            second: Sell::fixed(node, &second)?,
            down: Sell::fixed(node, &down)?,
            up: Sell::fixed(node, &down.transpose())?,
            only_first: Sell::fixed(node, &only_first)?,
            u: node.buffer(ones.len())?,
            t: node.buffer(n)?,
            z: node.buffer(m)?,
            base: node.buffer(n)?,
            product: engine.site(
                kernel::spmv::kernel(),
                "poisson eliminated half",
                ones.len(),
            )?,
            start: engine.site(kernel::fsai_begin::kernel(), "poisson half start", m)?,
            save: sum("poisson eliminated residual")?,
            solution: sum("poisson half end")?,
        }))
    }

    /// `-B'`, and `B p`.
    ///
    /// # Errors
    /// The device failed.
    pub fn inner(&mut self, engine: &Engine<T>, p: &Buffer<T>) -> Result<(&Sell<T>, &Buffer<T>)> {
        let o = Operands {
            out: &mut [&mut self.u],
            gather: &[p],
            mats: &[&self.first],
            ..Operands::default()
        };
        engine.post(&mut self.product, o)?;
        Ok((&self.second, &self.u))
    }

    /// `r = p = t_2 - B' t_1`, the start of a solve for what is to be added to `y`; returns
    /// `r . r`.
    ///
    /// # Errors
    /// The device failed.
    pub fn begin(
        &mut self,
        engine: &Engine<T>,
        [r, p]: [&mut Buffer<T>; 2],
        y: &Buffer<T>,
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
        let o = Operands {
            out: &mut [r, p, &mut self.z],
            gather: &[&self.t],
            mats: &[&self.down],
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
    /// The device failed.
    pub fn end(&mut self, engine: &Engine<T>, y: &mut Buffer<T>) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of `n` rows.
    fn ring(n: usize) -> Csr {
        Csr::from_rows(n, n, |i, row| {
            row.push((i as u32, 1.0));
            row.push((((i + 1) % n) as u32, -0.4));
            row.push((((i + n - 1) % n) as u32, -0.4));
        })
    }

    #[test]
    fn an_even_ring_has_two_colours_and_an_odd_one_more() {
        let colour = colours(&ring(8)).expect("two");
        assert!((0..8).all(|i| colour[i] == (i % 2 == 1)));
        assert!(colours(&ring(9)).is_none());
        assert_eq!(colours(&Csr::zero(3, 3)), Some(vec![false; 3]));
    }
}
