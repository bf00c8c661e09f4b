//! Recursive bisection by coordinates (Berger and Bokhari 1987): across the longest side, each half
//! with cells in proportion to its ranks.

/// A cut moves by at most this part of the smaller side, to fall between two layers of cells.
const SNAP: f64 = 0.02;
/// Centres nearer than this part of the longest side lie in one layer.
const LAYER: f64 = 1e-9;

/// Rank of each cell, whose centres are given.
pub(super) fn bisect(centres: &[[f64; 3]], ranks: usize) -> Vec<u32> {
    let mut part = vec![0; centres.len()];
    let mut cells: Vec<u32> = (0..centres.len() as u32).collect();
    halve(&mut cells, centres, 0, ranks, &mut part);
    part
}

fn halve(cells: &mut [u32], centres: &[[f64; 3]], first: usize, ranks: usize, part: &mut [u32]) {
    if ranks == 1 {
        cells.iter().for_each(|&c| part[c as usize] = first as u32);
        return;
    }
    let (axis, length) = longest_side(cells, centres);
    let at = |c: u32| centres[c as usize][axis];
    cells.sort_unstable_by(|&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
    let lower = ranks / 2;
    let even = cells.len() * lower / ranks;
    let most = SNAP * even.min(cells.len() - even) as f64;
    let is_between = |i: &usize| at(cells[*i]) - at(cells[*i - 1]) > LAYER * length;
    let cut = (0..=most as usize)
        .flat_map(|k| [even - k, even + k])
        .filter(|i| (1..cells.len()).contains(i))
        .find(is_between)
        .unwrap_or(even);
    let (low, high) = cells.split_at_mut(cut);
    halve(low, centres, first, lower, part);
    halve(high, centres, first + lower, ranks - lower, part);
}

/// Axis along which the centres reach furthest, and how far.
fn longest_side(cells: &[u32], centres: &[[f64; 3]]) -> (usize, f64) {
    let side = |k: usize| {
        let along = || cells.iter().map(|&c| centres[c as usize][k]);
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    let sides = (0..3).map(|k| (k, side(k)));
    // Of like sides the first: max_by would take the last.
    let longest = sides.rev().max_by(|a, b| a.1.total_cmp(&b.1));
    longest.unwrap_or((0, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Centres of a box of `n` cells, x first.
    fn box_of(n: [usize; 3]) -> Vec<[f64; 3]> {
        let [a, b, c] = n;
        let cells = (0..a * b * c).map(|i| [i % a, i / a % b, i / a / b]);
        cells.map(|i| i.map(|i| 0.1 * (i as f64 + 0.5))).collect()
    }

    #[test]
    fn boxes_are_cut_between_layers() {
        let centres = box_of([11, 5, 4]);
        let two = bisect(&centres, 2);
        // Of 11 layers none lies within 2 % of the middle: cells are shared out evenly.
        assert_eq!(two.iter().filter(|&&p| p == 0).count(), 110);
        let centres = box_of([101, 5, 4]);
        let two = bisect(&centres, 2);
        for (c, p) in centres.iter().zip(&two) {
            assert_eq!(*p, u32::from(c[0] > 5.0), "{c:?}");
        }
        let three = bisect(&centres, 3);
        let sizes = [0, 1, 2].map(|r| three.iter().filter(|&&p| p == r).count());
        assert!(sizes.iter().all(|n| n % 20 == 0), "{sizes:?}");
        assert!(sizes.iter().all(|&n| (660..=700).contains(&n)), "{sizes:?}");
        let four = bisect(&box_of([8, 8, 2]), 4);
        let corner = |x: usize, y: usize| four[x + 8 * y];
        assert_eq!(
            [corner(0, 0), corner(7, 0), corner(0, 7), corner(7, 7)],
            [0, 2, 1, 3]
        );
    }

    #[test]
    fn more_ranks_than_cells_do_no_harm() {
        let all = bisect(&box_of([3, 1, 1]), 7);
        assert!(all.iter().all(|&p| p < 7));
        assert!(bisect(&[], 4).is_empty());
    }
}
