//! Slices that lack some of the usual steps: those at the walls of a box, about one in thirty where a
//! million cells are. Devices that load ahead have the vector's numbers by then, and need to know which of
//! them a row takes.
//!
//! `couloir bench pcg --matrix M --device 1 --where device`, us an iteration on an H200, by loops and so:
//! grid:64 8.24 -> 7.10, 7.16, grid:100 16.5 -> 15.6, 16.1, for all groups of a leg wait for the slowest;
//! grid:160 70.3 -> 69.6, grid:256 272 -> 270. With values that are given to the device, not loaded, grid:100
//! 15.8, 15.8 -> 15.6, 15.7, grid:160 -> 68.8.

use std::collections::HashMap;

use super::usual::affine_steps;
use crate::kernel::mat::{GIVEN, LACKING};
use crate::kernel::{Real, SLICE};

/// Flags the slices, at the walls of a box, that have some of the `usual` steps alone, and gives them index
/// blocks in which devices find which: see [`block`]. Those that they had stay, unused: these are few.
pub(super) fn mark(slices: &mut [u32], index: &mut Vec<u32>, usual: &[u32]) {
    let mut blocks: HashMap<(u32, usize), Option<u32>> = HashMap::new();
    for slice in slices.chunks_exact_mut(4) {
        let Some(steps) = affine_steps(slice).filter(|n| (1..usual.len()).contains(n)) else {
            continue;
        };
        let of_its_own = *blocks.entry((slice[1], steps)).or_insert_with(|| {
            let block = block(index, slice[1], steps, usual)?;
            let at = u32::try_from(index.len()).ok()?;
            index.extend(block);
            Some(at)
        });
        if let Some(at) = of_its_own {
            slice[1] = at;
            slice[3] |= LACKING;
        }
    }
}

/// The index block of a slice of so many affine steps, if these are some of the `usual` ones: its steps; a bit
/// for each usual one that it has; from where the usual ones would end, of each row a byte, with a bit for
/// each usual step that it has an entry in.
fn block(index: &[u32], at: u32, steps: usize, usual: &[u32]) -> Option<Vec<u32>> {
    let mut block = index[at as usize..at as usize + 2 * steps].to_vec();
    let (mut has, mut rows, mut rest) = (0, [0u8; SLICE], usual.iter().enumerate());
    for step in block.chunks_exact(2) {
        let (k, _) = rest.find(|&(_, base)| *base == step[1])?;
        has |= 1 << k;
        for (l, row) in rows.iter_mut().enumerate() {
            *row |= ((step[0] >> l & 1) << k) as u8;
        }
    }
    block.push(has);
    block.resize(2 * usual.len(), 0);
    block.extend(bytemuck::cast::<_, [u32; SLICE / 4]>(rows));
    Some(block)
}

/// Flags the slices that lack some of so many usual steps and have in the others the values that devices
/// are given.
pub(super) fn mark_given<T: Real>(
    slices: &mut [u32],
    index: &[u32],
    plane: &[T],
    same: u32,
    steps: usize,
) {
    let bytes = |at: usize| plane.get(at).map(bytemuck::bytes_of);
    for slice in slices.chunks_exact_mut(4) {
        let [affine, ones] = [slice[2] & 0xff, slice[2] >> 8 & 0xff];
        if slice[3] & LACKING == 0 || affine > 0 {
            continue;
        }
        let has = index[(slice[1] + 2 * ones) as usize];
        let mut own = slice[0] as usize..;
        let mut those = (0..steps).filter(|k| has >> k & 1 == 1).zip(&mut own);
        if those.all(|(k, at)| bytes(at) == bytes(same as usize + k)) {
            slice[3] |= GIVEN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::usual;
    use super::super::usual::tests::slice;
    use super::*;
    use crate::kernel::mat::{PACKED, USUAL};

    #[test]
    fn slices_that_lack_usual_steps_get_index_blocks_that_say_which() {
        let (all, some) = (u32::MAX, 0xfff0);
        let [far, back] = [9u32.wrapping_neg(), 5u32.wrapping_neg()];
        let usual = [far, back, u32::MAX, 1, 5, 9];
        let steps = |steps: &[[u32; 2]]| steps.concat();
        let mut index = [
            steps(&usual.map(|base| [all, base])),
            steps(&[[all, far], [some, 1], [all, 9]]),
            steps(&[[all, far], [all, 2]]),
            steps(&[[all, 1], [all, far]]),
        ]
        .concat();
        let before = index.clone();
        let slices = [
            slice(0, [0, 6, 0], 0),
            slice(0, [0, 6, 0], 0),
            slice(12, [0, 3, 0], 0),
            slice(12, [3, 0, 0], 0),
            slice(12, [0, 3, 0], 0),
            // Packed, of two kinds, with other columns, in another order, without steps.
            slice(12, [0, 3, 0], PACKED),
            slice(12, [1, 2, 0], 0),
            slice(18, [0, 2, 0], 0),
            slice(22, [0, 2, 0], 0),
            slice(12, [0, 0, 0], 0),
        ];
        let mut words = slices.concat();
        assert_eq!(usual::mark(&mut words, &mut index), usual);
        let found = [USUAL, USUAL, LACKING, LACKING, LACKING, PACKED, 0, 0, 0, 0];
        for ((got, old), flags) in words.chunks(4).zip(&slices).zip(found) {
            let at = if flags == LACKING { 26 } else { old[1] };
            assert_eq!(got, [0, at, old[2], flags], "{old:?}");
        }
        assert_eq!(index[..26], before);
        assert_eq!(index.len(), 46, "alike slices share the block");
        let own = &index[26..];
        assert_eq!(own[..6], before[12..18]);
        assert_eq!(own[6..12], [0b101001, 0, 0, 0, 0, 0]);
        let rows: [u8; SLICE] = bytemuck::cast(<[u32; 8]>::try_from(&own[12..]).unwrap());
        for (l, row) in rows.iter().enumerate() {
            assert_eq!(
                *row,
                if some >> l & 1 == 1 {
                    0b101001
                } else {
                    0b100001
                },
                "{l}"
            );
        }

        // The first values are those that are given; of the third slice the last one differs.
        let mut plane = vec![0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.5, 2.0, 3.0, 0.5, 2.0, 4.0];
        (words[8], words[16]) = (6, 9);
        mark_given(&mut words, &index, &plane, 0, 6);
        let given = |words: &[u32]| words.chunks(4).position(|s| s[3] & GIVEN != 0);
        assert_eq!(given(&words), Some(2));
        assert_eq!(given(&words[12..]), None, "values by row, or another value");
        plane.truncate(8);
        words[11] &= !GIVEN;
        mark_given(&mut words, &index, &plane, 0, 6);
        assert_eq!(given(&words), None);
    }
}
