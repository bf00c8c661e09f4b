//! A matrix read step by step, or row by row, whatever the kinds of its steps: slow and small, for
//! references, edges and processors without fused multiply-adds.

use super::Real;
use super::columns::ALL;
use super::group::{Group, WIDTH};
use super::mat::{Mat, SLICE, Sums, Terms};
use super::steps::{copied, or};

/// A step of a slice, of whatever kind.
struct Step {
    /// Rows with an entry, and rows with a place.
    mask: u32,
    places: u32,
    /// Column of difference 0.
    first: u32,
    /// Where its values and differences begin.
    value: usize,
    difference: usize,
    /// All rows have the same value.
    one: bool,
    /// Columns follow each other.
    affine: bool,
    /// Differences have 16 bits.
    short: bool,
}

impl<'a, T: Real> Mat<'a, T> {
    /// The steps of the slice of row `i`, of whatever kind.
    fn each_step(&self, i: usize) -> impl Iterator<Item = Step> + use<'a, T> {
        let (b, first) = (self.block(i), (i - i % SLICE) as u32);
        let (mut value, mut difference) = (b.value, 2 * b.differences);
        b.steps.iter().enumerate().map(move |(k, &[mask, base])| {
            if k == b.short {
                difference = difference.div_ceil(2);
            }
            let step = Step {
                mask,
                places: if b.packed { mask } else { u32::MAX },
                first: first.wrapping_add(base),
                value,
                difference,
                one: k >= b.affine && k < b.ones,
                affine: k < b.ones,
                short: k < b.short,
            };
            let count = step.places.count_ones() as usize;
            value += if step.one { 1 } else { count };
            difference += if step.affine { 0 } else { count };
            step
        })
    }

    /// Position and column of the entry of row `lane` of a slice in a step that has one.
    fn entry(&self, s: &Step, lane: u32) -> (usize, usize) {
        let before = (s.places & ((1 << lane) - 1)).count_ones() as usize;
        let d = match () {
            () if s.affine => lane,
            () if s.short => u32::from(self.halves[s.difference + before]),
            () => self.index[s.difference + before],
        };
        let at = s.value + if s.one { 0 } else { before };
        (at, s.first.wrapping_add(d) as usize)
    }

    /// Positions and columns of the entries of row `i`, in the order of its sum: the diagonal,
    /// then by ascending column, or all by that.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let lane = (i % SLICE) as u32;
        let steps = self.each_step(i).filter(move |s| s.mask >> lane & 1 == 1);
        steps.map(move |s| self.entry(&s, lane))
    }

    /// `s` with the terms of every entry of the rows of group `g` of the slice of row `i`: one loop
    /// for steps of all kinds, which is slow and small.
    #[inline(never)]
    pub(super) fn any_steps<
        Q: Terms<T, P, X, S>,
        const P: usize,
        const X: usize,
        const S: usize,
    >(
        &self,
        planes: [usize; P],
        x: [&[T]; X],
        i: usize,
        g: usize,
        mut s: [Group<T>; S],
    ) -> [Group<T>; S] {
        for step in self.each_step(i) {
            let (mut v, mut xs) = ([Group::ZERO; P], [Group::ZERO; X]);
            let has = step.mask >> (g * WIDTH) & ALL;
            if has == 0 {
                continue;
            }
            for l in (0..WIDTH).filter(|l| has >> l & 1 == 1) {
                let (e, j) = self.entry(&step, (g * WIDTH + l) as u32);
                for p in 0..P {
                    v[p].0[l] = self.planes[planes[p]][e];
                }
                for k in 0..X {
                    xs[k].0[l] = x[k][j];
                }
            }
            s = or(has, Q::add(v, xs, s), s);
        }
        s
    }

    /// As [`Mat::sums`], where steps reach beyond the ends of the vectors for rows that lack them.
    #[inline(always)]
    pub(super) fn row_by_row<
        Q: Terms<T, P, X, S>,
        const P: usize,
        const X: usize,
        const S: usize,
    >(
        &self,
        planes: [usize; P],
        x: [&[T]; X],
        i: usize,
        before: &Sums<T, S>,
    ) -> Sums<T, S> {
        let mut s = copied(before);
        for l in 0..SLICE {
            for (e, j) in self.row(i + l) {
                let (mut v, mut xs) = ([Group::ZERO; P], [Group::ZERO; X]);
                for p in 0..P {
                    v[p] = Group::splat(self.planes[planes[p]][e]);
                }
                for k in 0..X {
                    xs[k] = Group::splat(x[k][j]);
                }
                let sums = Q::add(v, xs, s[l / WIDTH]);
                for k in 0..S {
                    s[l / WIDTH][k].0[l % WIDTH] = sums[k].0[l % WIDTH];
                }
            }
        }
        s
    }
}
