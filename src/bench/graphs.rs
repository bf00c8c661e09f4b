//! Matrices that are made: graph Laplacians of grids and boxes.
//!
//! All are symmetric and, but for the closed box, positive definite: the diagonal counts the links of
//! a row and, at the boundary, those that lead out of the box.

use crate::Result;
use crate::mesh::{BoxShape, BoxSpec, Mesh, box_mesh};
use crate::sparse::Csr;

/// The 7-point Laplacian on `k^3` points.
pub fn grid(k: usize) -> Csr {
    let rows = k * k * k;
    let strides = [k * k, k, 1];
    Csr::from_rows(rows, rows, |i, row| {
        for stride in strides {
            let at = i / stride % k;
            if at > 0 {
                row.push(((i - stride) as u32, -1.0));
            }
            if at + 1 < k {
                row.push(((i + stride) as u32, -1.0));
            }
        }
        row.push((i as u32, 6.0));
    })
}

/// The 7-point Laplacian of `n^3` cells, no flow through the sides of their box: the diagonal counts
/// the links of a row alone, so that constants are multiplied to 0.
pub fn closed_box(n: usize) -> Csr {
    Csr::from_rows(n * n * n, n * n * n, |i, row| {
        let mut links = 0.0;
        for stride in [1, n, n * n] {
            let at = i / stride % n;
            let (down, up) = (at > 0, at + 1 < n);
            row.extend(down.then(|| ((i - stride) as u32, -1.0)));
            row.extend(up.then(|| ((i + stride) as u32, -1.0)));
            links += f64::from(u8::from(down) + u8::from(up));
        }
        row.push((i as u32, links));
    })
}

/// Cells that share a face: the pattern of a finite-volume Laplacian.
pub fn cells(mesh: &Mesh) -> Csr {
    let n = mesh.cells();
    let mut start = vec![0usize; n + 1];
    let mut sides = vec![0.0; n];
    let pairs = || mesh.owner.iter().zip(&mesh.neighbour);
    for (&o, &c) in pairs() {
        start[o as usize + 1] += 1;
        start[c as usize + 1] += 1;
    }
    for c in &mesh.owner {
        sides[*c as usize] += 1.0;
    }
    for c in &mesh.neighbour {
        sides[*c as usize] += 1.0;
    }
    for i in 0..n {
        start[i + 1] += start[i];
    }
    let (mut next, mut links) = (start.clone(), vec![0u32; start[n]]);
    for (&o, &c) in pairs() {
        for (a, b) in [(o, c), (c, o)] {
            links[next[a as usize]] = b;
            next[a as usize] += 1;
        }
    }
    Csr::from_rows(n, n, |i, row| {
        row.extend(links[start[i]..start[i + 1]].iter().map(|&j| (j, -1.0)));
        row.push((i as u32, sides[i]));
    })
}

/// The cells of a box of about `rows` tetrahedra, by their faces: 5 entries per row.
pub fn tetrahedra(rows: usize) -> Result<Csr> {
    let k = nearest(rows as f64 / 6.0);
    let mesh = box_mesh(&BoxSpec {
        shape: BoxShape::Tetrahedra,
        cells: [k; 3],
        ..BoxSpec::default()
    })?;
    Ok(cells(&mesh))
}

/// The nodes of a box of bricks, about `rows`: each is linked along the axes, and across the
/// sides and the inside of bricks along diagonals drawn by lot (always the same): 16.5 entries
/// per row away from the boundary and uneven, like linear elements on an unstructured mesh.
pub fn nodes(rows: usize) -> Csr {
    let k = nearest(rows as f64);
    let n = k * k * k;
    Csr::from_rows(n, n, |i, row| {
        let at = [i / (k * k), i / k % k, i % k];
        let mut links = 0;
        for d in 0..27 {
            let step = [d / 9, d / 3 % 3, d % 3];
            let to: [usize; 3] = std::array::from_fn(|a| (at[a] + step[a]).wrapping_sub(1));
            if step == [1; 3] || to.iter().any(|&x| x >= k) || !linked(at, to) {
                continue;
            }
            row.push((((to[0] * k + to[1]) * k + to[2]) as u32, -1.0));
            links += 1;
        }
        row.push((i as u32, f64::from(links) + 0.01));
    })
}

/// Whether the lot links two corners of a brick: sides have one of 2 diagonals; for insides one of
/// 4 is drawn twice, which makes 1.75 of them.
fn linked(a: [usize; 3], b: [usize; 3]) -> bool {
    let low: [usize; 3] = std::array::from_fn(|k| a[k].min(b[k]));
    let axes: Vec<usize> = (0..3).filter(|&k| a[k] != b[k]).collect();
    let Some((&first, others)) = axes.split_first() else {
        return false;
    };
    // Which diagonal this is: the axes that fall while the first one rises.
    let rises = a[first] < b[first];
    let which = others
        .iter()
        .fold(0, |sum, &k| 2 * sum + usize::from((a[k] < b[k]) != rises));
    let plane = axes.iter().fold(0u64, |sum, &k| sum | 1 << k);
    let place = low.iter().fold(plane, |sum, &x| (sum << 20) + x as u64);
    let mut lot = fastrand::Rng::with_seed(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let draws = others.len().max(1);
    (0..draws).any(|_| lot.usize(..1 << others.len()) == which)
}

/// The whole number whose cube is nearest to `x`, at least 1.
pub fn nearest(x: f64) -> usize {
    let low = x.max(1.0).cbrt().floor();
    let cube = |k: f64| (k * k * k - x).abs();
    if cube(low + 1.0) < cube(low) {
        low as usize + 1
    } else {
        low as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_symmetric_and_have_the_rows_asked_for() {
        let hexahedra = box_mesh(&BoxSpec {
            cells: [3; 3],
            ..BoxSpec::default()
        });
        let grid3 = grid(3);
        assert_eq!(cells(&hexahedra.unwrap()), {
            // A box's cells are numbered along x first.
            grid3.clone()
        });
        for (a, rows) in [
            (grid3, 27),
            (grid(1), 1),
            (tetrahedra(700).unwrap(), 750),
            (nodes(1000), 1000),
            (nodes(1), 1),
        ] {
            assert_eq!(a.rows, rows);
            assert_eq!(a, a.transpose());
            let row_sums = a.apply(&vec![1.0; rows]);
            assert!(row_sums.iter().all(|&s| s >= 0.0) && row_sums.iter().any(|&s| s > 0.0));
        }
        let a = nodes(8000);
        let mean = a.entries() as f64 / 8000.0;
        assert!((14.5..16.0).contains(&mean), "{mean}");
        let longest = (0..8000).map(|i| a.row(i).count()).max().unwrap();
        assert!((20..=27).contains(&longest), "{longest}");
    }

    #[test]
    fn the_nearest_cube_is_found() {
        for (x, k) in [
            (0.0, 1),
            (1.0, 1),
            (4.4, 1),
            (4.6, 2),
            (1e6, 100),
            (999_999.0, 100),
        ] {
            assert_eq!(nearest(x), k, "{x}");
        }
    }
}
