//! Slices, decoded by the tables in the module's documentation, have the columns they were made from.

use crate::kernel::SLICE;
use crate::kernel::mat::{FLAGS, PACKED};
use crate::kernel::simd::{has_v3, has_v4};
use crate::node::{Config, Node};
use crate::sparse::sell::encode::{Empty, Encoder};

/// Columns of each row of a slice.
fn decode([counts, wide]: [u32; 2], words: &[u32], first: u32) -> Vec<Vec<u32>> {
    let packed = wide & PACKED != 0;
    let counts = [counts & 255, counts >> 8 & 255, counts >> 16, wide & !FLAGS];
    let steps = counts.iter().sum::<u32>() as usize;
    let mut rows = vec![vec![]; SLICE];
    let halves: Vec<u16> = words[2 * steps..]
        .iter()
        .flat_map(|w| [*w as u16, (*w >> 16) as u16])
        .collect();
    let (mut half, mut k) = (0, 0);
    for (kind, count) in counts.into_iter().enumerate() {
        if kind == 3 {
            half += half % 2;
        }
        for _ in 0..count {
            let (mask, base) = (words[2 * k], words[1 + 2 * k].wrapping_add(first));
            k += 1;
            for l in 0..SLICE {
                let has = mask >> l & 1 == 1;
                if has {
                    let difference = match kind {
                        0 | 1 => l as u32,
                        2 => u32::from(halves[half]),
                        _ => u32::from(halves[half]) | u32::from(halves[half + 1]) << 16,
                    };
                    rows[l].push(base.wrapping_add(difference));
                }
                if has || !packed {
                    half += [0, 0, 1, 2][kind];
                }
            }
        }
    }
    rows
}

#[test]
fn columns_up_to_the_last_of_32_bits_are_kept() {
    let top = u32::MAX;
    for first in [0, 1 << 20, 1 << 31, top - 31] {
        let lines: Vec<Vec<u32>> = (0..32u32)
            .map(|l| {
                let row = first + l;
                let mut cols = vec![
                    0,
                    l,
                    65_534 + l,
                    1 << 31,
                    top - 65_536 + l,
                    top - 32 + l,
                    row,
                ];
                cols.extend((0..l % 5).map(|k| k * 1_000_003));
                cols.sort_unstable();
                cols.dedup();
                cols
            })
            .collect();
        let with_start: Vec<(usize, &[u32])> = lines.iter().map(|c| (0, c.as_slice())).collect();
        let mut encoder = Encoder::default();
        encoder.encode(first as usize, &with_start, |_| false);
        let mut words = Vec::new();
        encoder.append_to(&mut words);
        for (l, (got, want)) in decode(encoder.counts(), &words, first)
            .into_iter()
            .zip(lines)
            .enumerate()
        {
            let row = first + l as u32;
            let mut want = want;
            want.sort_by_key(|&j| (j != row, j));
            assert_eq!(got, want, "row {row}");
        }
    }
}

/// Where there are no differences all find their places fast.
#[test]
fn slices_with_differences_are_packed_as_fits_who_reads_them() {
    let packed = |keeps: Empty, lines: &[Vec<u32>]| {
        let lines: Vec<(usize, &[u32])> = lines.iter().map(|c| (0, c.as_slice())).collect();
        let mut encoder = Encoder::new(keeps, false);
        encoder.encode(0, &lines, |_| false);
        let mut words = Vec::new();
        encoder.append_to(&mut words);
        let [counts, wide] = encoder.counts();
        let rows = decode([counts, wide], &words, 0);
        for ((l, got), (_, want)) in rows.iter().enumerate().zip(&lines) {
            let mut want = want.to_vec();
            want.sort_by_key(|&j| (j != l as u32, j));
            assert_eq!(got, &want, "row {l}");
        }
        wide & PACKED != 0
    };
    // One row in `one_in` has 7 entries, the others fewer.
    let uneven = |one_in: u32, fewer: u32, factor: u32| -> Vec<Vec<u32>> {
        let columns = |l: u32| {
            let count = if l.is_multiple_of(one_in) { 7 } else { fewer };
            (1..=count).map(move |k| factor * (k * 977 + l * l * 13))
        };
        (0..32).map(|l| columns(l).collect()).collect()
    };
    let distances: Vec<Vec<u32>> = (0..32).map(|l| vec![l + 40 + 9 * (l % 2)]).collect();
    for (lines, few, some, more, many) in [
        // Empty: 3 places in 4, 3 in 7, 2 in 7, 1 in 7, 1 in 14.
        (&uneven(8, 1, 1), true, true, true, true),
        (&uneven(2, 1, 1), true, true, true, false),
        (&uneven(2, 1, 9999), true, true, true, false),
        (&uneven(2, 3, 1), true, true, false, false),
        (&uneven(2, 5, 1), true, false, false, false),
        (&uneven(2, 5, 9999), true, true, false, false),
        (&uneven(2, 6, 1), false, false, false, false),
        (&distances, true, true, true, true),
    ] {
        let all = [Empty::Few, Empty::Some, Empty::More, Empty::Many];
        assert_eq!(
            all.map(|keeps| packed(keeps, lines)),
            [few, some, more, many]
        );
    }
}

#[test]
fn who_reads_a_matrix_is_told_by_its_node_and_precision() {
    let node = super::node();
    let alone = match () {
        () if has_v4() => Empty::Few,
        () if has_v3() => Empty::More,
        () => Empty::Some,
    };
    assert_eq!(Empty::of::<f64>(&node), alone);
    assert_eq!(Empty::of::<f32>(&node), Empty::Some);
    let beside = Node::open(&Config::default()).unwrap();
    if beside.device.is_none() {
        return eprintln!("SKIPPED: no device, {:?}", beside.notes);
    }
    let shared = match beside.row_per_work_item() {
        true => Empty::Many,
        false => Empty::Some,
    };
    assert_eq!(Empty::of::<f64>(&beside), shared);
}
