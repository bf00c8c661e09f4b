//! Steps of one distance between row and column each.

use super::super::step::Step;
use super::{Encoder, Lines, MAX_AFFINE, PARTIAL};
use crate::kernel::SLICE;

impl Encoder {
    /// Whether every row depends on its neighbours in so few distances that a step for each is
    /// cheaper than a step for each position in the row. Leaves the distances in `offsets`.
    pub(super) fn diagonals(&mut self, first: usize, lines: &Lines) -> bool {
        let longest = lines.iter().map(|(_, cols)| cols.len()).max().unwrap_or(0);
        let entries: usize = lines.iter().map(|(_, cols)| cols.len()).sum();
        // Beyond this many, 16-bit differences are smaller. Of rows of seven entries nine: more, and
        // `kernel::elements::ELEMENTS` is too few.
        let most = (8 * longest + 2 * entries) / (8 + PARTIAL / 2) + 2;
        self.offsets.clear();
        for (l, (_, cols)) in lines.iter().enumerate() {
            let row = (first + l) as i64;
            for &j in *cols {
                let offset = i64::from(j) - row;
                if let Err(at) = self.offsets.binary_search(&offset) {
                    self.offsets.insert(at, offset);
                }
            }
            if self.offsets.len() > most.min(MAX_AFFINE) {
                return false;
            }
        }
        true
    }

    /// One step per distance between row and column: the diagonal, if it comes first, then ascending.
    pub(super) fn by_offset(&mut self, first: usize, lines: &Lines) {
        let offsets = std::mem::take(&mut self.offsets);
        let ascending = self.ascending;
        let is_first = |offset: i64| offset == 0 && !ascending;
        let others = offsets.iter().copied().filter(|&o| !is_first(o));
        let diagonal = offsets.iter().copied().find(|&o| is_first(o));
        let mut next = [0; SLICE];
        for offset in diagonal.into_iter().chain(others) {
            let mut step = Step::new();
            for (l, &(start, cols)) in lines.iter().enumerate() {
                let column = (first + l) as i64 + offset;
                if is_first(offset) {
                    if let Ok(k) = cols.binary_search(&(column as u32)) {
                        step.add(l, cols[k], start + k);
                    }
                    continue;
                }
                let own = |&j: &u32| j as usize == first + l && !ascending;
                if cols.get(next[l]).is_some_and(own) {
                    next[l] += 1;
                }
                if cols.get(next[l]).is_some_and(|&j| i64::from(j) == column) {
                    step.add(l, cols[next[l]], start + next[l]);
                    next[l] += 1;
                }
            }
            self.push(first, step);
        }
        self.offsets = offsets;
    }

    /// Cuts the last steps, as many as pay, into one per value: a step of two values keeps all of
    /// its own and of those before it. Both ends of the lines of a grid whose neighbours are numbered
    /// elsewhere make such a step. All steps are affine.
    pub(super) fn by_value(&mut self, alike: impl Fn(&[usize]) -> bool) {
        let (mut gain, mut best, mut masks) = (0, (0, self.steps.len()), Vec::new());
        for (k, step) in self.steps.iter().enumerate().rev() {
            let Some(of_values) = step.by_value(&alike) else {
                break;
            };
            let partial = |mask: &&u32| **mask != u32::MAX;
            let before = [step.mask].iter().filter(partial).count();
            let more = of_values.iter().filter(partial).count() - before;
            gain += (SLICE * size_of::<f64>()) as i64 - (more * PARTIAL) as i64;
            masks.push(of_values);
            if gain > best.0 {
                best = (gain, k);
            }
        }
        let uncut = self.steps.len() - best.1;
        let cut: usize = masks.iter().take(uncut).map(Vec::len).sum();
        if cut == uncut || best.1 + cut > MAX_AFFINE {
            return;
        }
        let last = self.steps.split_off(best.1);
        for (step, masks) in last.iter().zip(masks[..uncut].iter().rev()) {
            for &mask in masks {
                self.steps.push(Step { mask, ..*step });
            }
        }
        self.affine = self.steps.len();
    }
}
