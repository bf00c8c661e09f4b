//! Slices, decoded by the tables in the module's documentation, have the columns they were made from.

use crate::kernel::SLICE;
use crate::kernel::mat::{FLAGS, PACKED};
use crate::sparse::sell::encode::Encoder;

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

/// A device of one row per work-item finds its places by counting; where there are no differences it
/// does so fast.
#[test]
fn slices_with_differences_are_packed_later_for_a_device_of_one_row_per_work_item() {
    let packed = |row_per_work_item: bool, lines: &[Vec<u32>]| {
        let lines: Vec<(usize, &[u32])> = lines.iter().map(|c| (0, c.as_slice())).collect();
        let mut encoder = Encoder::new(row_per_work_item);
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
    // Less than half of the places are empty, of near columns and of far ones; more; half, of two
    // distances.
    let uneven = |one_in: u32, factor: u32| -> Vec<Vec<u32>> {
        let columns = |l: u32| {
            (1..=1 + 6 * u32::from(l.is_multiple_of(one_in)))
                .map(move |k| factor * (k * 977 + l * l * 13))
        };
        (0..32).map(|l| columns(l).collect()).collect()
    };
    let distances: Vec<Vec<u32>> = (0..32).map(|l| vec![l + 40 + 9 * (l % 2)]).collect();
    for (lines, both) in [
        (&uneven(2, 1), false),
        (&uneven(2, 9999), false),
        (&uneven(8, 1), true),
        (&distances, true),
    ] {
        assert!(packed(false, lines));
        assert_eq!(packed(true, lines), both);
    }
}
