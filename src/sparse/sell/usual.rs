//! The steps that most slices of a grid have.

use std::collections::HashMap;

use super::lacking;
use crate::kernel::Real;
use crate::kernel::mat::{FLAGS, PACKED, USUAL};

/// Numbers of steps that devices have code for: `cl/usual.cl`.
pub(super) const STEPS: std::ops::RangeInclusive<usize> = 4..=7;

/// Flags the slices that have the steps that most have, affine ones alone, and returns these steps'
/// columns minus rows; none where no slice has affine steps alone. Where devices load these ahead, slices
/// that lack some of them are flagged, too.
pub(super) fn mark(slices: &mut [u32], index: &mut Vec<u32>) -> Vec<u32> {
    // Slices that look alike share a block: there are few.
    let mut blocks: HashMap<(u32, usize), usize> = HashMap::new();
    for slice in slices.chunks_exact(4) {
        if let Some(steps) = steps(slice) {
            *blocks.entry((slice[1], steps)).or_default() += 1;
        }
    }
    let mut lists: HashMap<Vec<u32>, usize> = HashMap::new();
    for (&(at, steps), count) in &blocks {
        *lists.entry(bases(index, at, steps)).or_default() += count;
    }
    let most = lists
        .into_iter()
        .max_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    let usual = most.map(|(list, _)| list).unwrap_or_default();
    for slice in slices.chunks_exact_mut(4) {
        if steps(slice).is_some_and(|n| bases(index, slice[1], n) == usual) {
            slice[3] |= USUAL;
        }
    }
    if usual.len() == STEPS_AHEAD {
        lacking::mark(slices, index, &usual);
    }
    usual
}

/// Numbers of steps whose values devices may be given, too.
const SAME_STEPS: std::ops::RangeInclusive<usize> = 6..=7;

/// First of the values that most of the flagged slices share, if they share them: one for each step.
pub(super) fn same(slices: &[u32], steps: usize) -> Option<u32> {
    let mut starts: HashMap<u32, usize> = HashMap::new();
    for slice in slices.chunks_exact(4) {
        let ones = (slice[2] >> 8 & 0xff) as usize;
        if slice[3] & USUAL != 0 && ones == steps && SAME_STEPS.contains(&steps) {
            *starts.entry(slice[0]).or_default() += 1;
        }
    }
    let most = starts.into_iter().max_by_key(|&(at, count)| (count, at));
    most.map(|(at, _)| at)
}

/// Number of steps that devices load ahead: `cl/ahead.cl`.
pub(crate) const STEPS_AHEAD: usize = 6;

/// Whether more than half of the slices are flagged and begin in the values where the `same` are, and
/// have as many steps as devices load ahead.
pub(super) fn are_most(slices: &[u32], steps: usize, same: Option<u32>) -> bool {
    let is = |s: &&[u32]| s[3] & USUAL != 0 && Some(s[0]) == same;
    let all = slices.chunks_exact(4);
    steps == STEPS_AHEAD && 2 * all.clone().filter(is).count() > all.len()
}

/// See [`Sell::usual`](super::Sell::usual).
pub(super) fn words(usual: &[u32], same: Option<u32>, cols: usize, entries: usize) -> [u32; 16] {
    let mut words = [0; 16];
    words[0] = usual.len() as u32;
    words[1] = cols.saturating_sub(1) as u32;
    words[2..2 + usual.len()].copy_from_slice(usual);
    words[9] = same.unwrap_or(u32::MAX);
    words[10] = u32::from(entries > 0);
    words
}

/// The same of slices whose values are not given to devices.
pub(super) fn without_values(mut words: [u32; 16]) -> [u32; 16] {
    words[9] = u32::MAX;
    words
}

/// See [`Sell::same`](super::Sell::same).
pub(super) fn same_words<T: Real>(plane: &[T], same: u32, steps: usize) -> [u32; 16] {
    let mut words = [0; 16];
    if let Some(values) = plane.get(same as usize..same as usize + steps) {
        let from: &[u32] = bytemuck::cast_slice(values);
        words[..from.len()].copy_from_slice(from);
    }
    words
}

/// Number of a slice's steps, if they are all affine, of one kind, and as many as devices have code for.
fn steps(slice: &[u32]) -> Option<usize> {
    affine_steps(slice).filter(|n| STEPS.contains(n))
}

/// Number of a slice's steps, if they are all affine and of one kind.
pub(super) fn affine_steps(slice: &[u32]) -> Option<usize> {
    let [affine, ones] = [slice[2] & 0xff, slice[2] >> 8 & 0xff].map(|n| n as usize);
    let others = (slice[2] >> 16) + (slice[3] & !FLAGS);
    let plain = others == 0 && slice[3] & PACKED == 0 && affine.min(ones) == 0;
    Some(affine + ones).filter(|_| plain)
}

fn bases(index: &[u32], at: u32, steps: usize) -> Vec<u32> {
    let words = &index[at as usize..at as usize + 2 * steps];
    words.iter().skip(1).step_by(2).copied().collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Words of a slice with its index block at `at` and so many affine steps, single values, 16-bit
    /// steps.
    pub fn slice(at: u32, [affine, ones, short]: [u32; 3], flags: u32) -> [u32; 4] {
        [0, at, affine | ones << 8 | short << 16, flags]
    }

    #[test]
    fn slices_of_the_steps_that_most_have_are_flagged() {
        // Masks, and columns minus rows: the second block lacks rows, the third has other columns.
        let (all, some) = (u32::MAX, 0xfff0);
        let back = 5u32.wrapping_neg();
        let mut index: Vec<u32> = [
            [all, 0, all, back, all, 1, all, 5],
            [all, 0, some, back, all, 1, some, 5],
            [all, 0, all, back, all, 2, all, 5],
        ]
        .concat();
        let slices = [
            (slice(16, [4, 0, 0], 0), false),
            (slice(16, [4, 0, 0], 0), false),
            (slice(0, [4, 0, 0], 0), true),
            (slice(0, [0, 4, 0], 0), true),
            (slice(8, [0, 4, 0], 0), true),
            // Of two kinds, packed, with differences, too short.
            (slice(0, [2, 2, 0], 0), false),
            (slice(8, [4, 0, 0], PACKED), false),
            (slice(0, [3, 0, 1], 0), false),
            (slice(0, [3, 0, 0], 0), false),
        ];
        let mut words = slices.map(|(s, _)| s).concat();
        let usual = mark(&mut words, &mut index);
        assert_eq!(usual, [0, back, 1, 5]);
        for (got, (before, flagged)) in words.chunks(4).zip(slices) {
            let flag = if flagged { USUAL } else { 0 };
            assert_eq!(got[..3], before[..3]);
            assert_eq!(got[3], before[3] | flag, "{before:?}");
        }
        let for_devices = super::words(&usual, None, 100, 4);
        assert_eq!(for_devices[..6], [4, 99, 0, back, 1, 5]);
        assert_eq!(for_devices[9..11], [u32::MAX, 1]);
    }

    #[test]
    fn values_that_most_slices_share_are_given() {
        let of = |start, counts, flags| {
            let [_, at, steps, flags] = slice(0, counts, flags);
            [start, at, steps, flags]
        };
        let slices = [
            of(8, [0, 6, 0], USUAL),
            of(16, [0, 6, 0], USUAL),
            of(16, [0, 6, 0], USUAL),
            // Values of their own; steps of their own.
            of(24, [6, 0, 0], USUAL),
            of(24, [6, 0, 0], USUAL),
            of(24, [6, 0, 0], USUAL),
            of(8, [0, 6, 0], 0),
            of(8, [0, 6, 0], 0),
        ]
        .concat();
        assert_eq!(same(&slices, 6), Some(16));
        assert_eq!(same(&slices[12..], 6), None);
        assert_eq!(words(&[0; 6], Some(16), 100, 0)[9..11], [16, 0]);
        // Two of three slices, and of four.
        assert!(are_most(&slices[..12], 6, Some(16)) && !are_most(&slices[..16], 6, Some(16)));
        assert!(!are_most(&slices[4..12], 7, Some(16)), "no code for seven");
        assert!(!are_most(&slices[4..12], 6, None));
        assert!(!are_most(&slices[24..32], 6, Some(8)), "not flagged");
        let values: Vec<f64> = (0..24).map(f64::from).collect();
        let given: [f64; 8] = bytemuck::cast(same_words(&values, 16, 6));
        assert_eq!(given, [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 0.0, 0.0]);
        let five = of(0, [0, 5, 0], USUAL);
        assert_eq!(same(&five, 5), None, "no code for five");
    }

    #[test]
    fn where_no_slice_has_affine_steps_alone_none_is_flagged() {
        let mut words = slice(0, [1, 0, 4], 0);
        assert!(mark(&mut words, &mut vec![0; 32]).is_empty());
        assert_eq!(words, slice(0, [1, 0, 4], 0));
    }
}
