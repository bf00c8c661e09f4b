//! Every stored matrix, decoded, is the matrix that it was made from.

mod bytes;
mod encode;

use super::*;
use crate::kernel::group::{Group, WIDTH};
use crate::kernel::mat::{self, FAR, Products, parts, zero};
use crate::node::{Caches, Config, DeviceChoice};

fn node() -> Node {
    Node::open(&Config {
        device: DeviceChoice::None,
        threads: Some(1),
        ..Config::default()
    })
    .unwrap()
}

/// The entries of row `i` in the order of its sum: the diagonal, then by ascending column.
fn in_order(a: &Csr, i: usize) -> Vec<(usize, f64)> {
    let mut row: Vec<(usize, f64)> = a.row(i).collect();
    row.sort_by_key(|&(j, _)| (j != i, j));
    row
}

/// Rows of the lengths given, at random columns.
fn random(lengths: &[usize], cols: usize, seed: u64) -> Csr {
    let mut rng = fastrand::Rng::with_seed(seed);
    let rows: Vec<Vec<(u32, f64)>> = lengths
        .iter()
        .map(|&n| {
            (0..n)
                .map(|_| (rng.usize(..cols) as u32, rng.f64() - 0.5))
                .collect()
        })
        .collect();
    Csr::from_rows(lengths.len(), cols, |i, row| {
        row.extend_from_slice(&rows[i])
    })
}

/// The seven-point matrix of an n x n x n grid; `value(i, j)` is the entry.
fn grid(n: usize, value: impl Fn(usize, usize) -> f64 + Sync) -> Csr {
    Csr::from_rows(n * n * n, n * n * n, |i, row| {
        let at = [i % n, i / n % n, i / (n * n)];
        row.push((i as u32, value(i, i)));
        for (axis, stride) in [1, n, n * n].into_iter().enumerate() {
            if at[axis] > 0 {
                row.push(((i - stride) as u32, value(i, i - stride)));
            }
            if at[axis] + 1 < n {
                row.push(((i + stride) as u32, value(i, i + stride)));
            }
        }
    })
}

/// Decodes `s`, compares it with `a`, and checks that no element stands for two entries.
fn check((s, position): &(Sell<f64>, Vec<u32>), a: &Csr, shared: bool) {
    assert_eq!((s.rows(), s.cols(), s.nnz()), (a.rows, a.cols, a.entries()));
    let m = s.view(false, true).unwrap();
    for i in 0..crate::node::padded(a.rows.max(1)) {
        let got: Vec<(usize, f64)> = m.row(i).map(|(e, j)| (j, m.planes[0][e])).collect();
        let want = if i < a.rows { in_order(a, i) } else { vec![] };
        assert_eq!(got, want, "row {i}");
    }
    let mut used = vec![false; s.elements()];
    for &e in position {
        assert!(shared || !used[e as usize], "element {e} twice");
        used[e as usize] = true;
    }
    for (e, &v) in position.iter().zip(&a.val) {
        assert_eq!(m.planes[0][*e as usize], v);
    }
}

#[test]
fn every_shape_of_matrix_decodes_to_itself() {
    let node = node();
    let mut uneven: Vec<usize> = (0..777).map(|i| i * i % 23).collect();
    uneven[400] = 3000;
    uneven[401] = 0;
    let mut dense = vec![0; 65];
    dense[33] = 70_000;
    let shapes = [
        ("no rows", Csr::zero(0, 0)),
        ("no entries", Csr::zero(300, 7)),
        ("one row", random(&[1], 1, 1)),
        ("one long row", random(&[5000], 1 << 20, 2)),
        ("a dense row", random(&dense, 70_000, 3)),
        ("uneven rows", random(&uneven, 5000, 4)),
        ("far columns", random(&[9; 300], 1 << 20, 5)),
        ("near and far", random(&uneven, 1 << 17, 6)),
        ("more rows than columns", random(&[2; 1000], 3, 7)),
        ("affine", grid(12, |i, j| (i + 2 * j) as f64)),
        ("alike in layers", grid(32, |i, _| (i / 3072) as f64)),
    ];
    for (what, a) in &shapes {
        eprintln!("{what}");
        for shared in [false, true] {
            let made = Sell::build(&node, a.rows, a.cols, &a.row_ptr, &a.col, &[&a.val], shared);
            check(&made.unwrap(), a, shared);
        }
    }
}

#[test]
fn slices_see_what_each_row_has_in_the_order_of_its_sum() {
    let mut node = node();
    let lengths: Vec<usize> = (0..600)
        .map(|i| if i % 50 < 40 { 6 } else { i % 7 })
        .collect();
    let even = |i: usize, j: usize| if i == j { 6.0 } else { -1.0 };
    for a in [
        random(&lengths, 900, 8),
        random(&lengths, 1 << 20, 9),
        grid(9, even),
    ] {
        let x: Vec<f64> = (0..a.cols).map(|j| 1.0 / (j as f64 + 3.0)).collect();
        for (fixed, bypassed, second_bytes, last_bytes) in [
            (false, false, 0, 0),
            (false, false, usize::MAX, 0),
            (true, false, 0, 0),
            (false, true, 0, 0),
            (true, true, 0, 8 * a.cols),
            (false, true, 0, 32 * a.cols),
            (false, true, usize::MAX, 0),
        ] {
            // Columns that are far apart are asked for ahead, or not.
            node.caches = Caches {
                second_bytes,
                last_bytes,
                bypassed,
                ..Caches::default()
            };
            let held_bytes = second_bytes.max(if bypassed { last_bytes / 4 } else { 0 });
            let s = match fixed {
                true => Sell::<f64>::fixed(&node, &a),
                false => Sell::from_csr(&node, &a),
            };
            let s = s.unwrap();
            let m = s.view(false, true).unwrap();
            let far = |s: &[u32; 4]| s[3] & FAR != 0;
            let scattered = a.cols > usize::from(u16::MAX) && second_bytes == 0;
            let expected = scattered && 8 * a.cols > held_bytes;
            assert_eq!(m.slices.iter().any(far), expected);
            assert_eq!(s.reading == Reading::Once, scattered && bypassed);
            for i in (0..a.rows).step_by(SLICE) {
                for (i, &[got]) in parts(i, &m.sums(Products, [0], [&x], i, zero())) {
                    for l in (0..WIDTH).filter(|l| i + l < a.rows) {
                        let row = in_order(&a, i + l).into_iter();
                        let want = row.fold(0.0, |s: f64, (j, v)| v.mul_add(x[j], s));
                        assert_eq!(got.0[l].to_bits(), want.to_bits(), "row {}", i + l);
                    }
                }
            }
        }
    }
}

#[test]
fn what_a_row_lacks_adds_nothing() {
    let node = node();
    // Row 1 lacks what rows 0 and 2 have; -0 stays -0, and what is not a number stays away.
    let a = Csr::from_triplets(3, 3, &[(0, 1, 1.0), (2, 1, 1.0), (2, 2, 1.0)]);
    for s in [Sell::<f64>::from_csr(&node, &a), Sell::fixed(&node, &a)] {
        let s = s.unwrap();
        let m = s.view(false, true).unwrap();
        let start = [[Group::splat(-0.0)]; mat::GROUPS];
        let [[sum], ..] = m.sums(Products, [0], [&[1.0, f64::NAN, 2.0]], 0, start);
        assert!(sum.0[0].is_nan() && sum.0[2].is_nan());
        for l in [1, 3, 7] {
            assert_eq!(sum.0[l].to_bits(), (-0.0f64).to_bits());
        }
    }
}

#[test]
fn what_a_row_lacks_amid_others_adds_nothing() {
    let node = node();
    // Row 40 lacks what its neighbours have at the same distance: it sees neither the value nor
    // what is not a number.
    let lacks = |i: usize| i == 40 || i == 255;
    let a = Csr::from_rows(256, 256, |i, row| {
        if !lacks(i) {
            row.push((i as u32 + 1, 2.0));
        }
    });
    let mut x: Vec<f64> = (0..256).map(f64::from).collect();
    x[41] = f64::NAN;
    for s in [Sell::<f64>::from_csr(&node, &a), Sell::fixed(&node, &a)] {
        let s = s.unwrap();
        let m = s.view(false, true).unwrap();
        for i in (0..256).step_by(SLICE) {
            let start = [[Group::splat(-0.0)]; mat::GROUPS];
            for (i, &[got]) in parts(i, &m.sums(Products, [0], [&x], i, start)) {
                for l in 0..WIDTH {
                    let want = match i + l {
                        row if lacks(row) => -0.0,
                        row => 2.0 * x[row + 1],
                    };
                    assert_eq!(got.0[l].to_bits(), want.to_bits(), "row {}", i + l);
                }
            }
        }
    }
}

#[test]
fn a_matrix_out_of_order_is_refused() {
    let node = node();
    let new = |ptr: &[usize], col: &[u32], val: &[f64]| {
        Sell::<f64>::new(&node, 2, 3, ptr, col, &[val]).map(|_| ())
    };
    assert!(new(&[0, 2, 3], &[0, 2, 1], &[1.0; 3]).is_ok());
    for (ptr, col, values) in [
        (&[0, 2, 3][..], &[2, 0, 1][..], 3),
        (&[0, 2, 3], &[0, 0, 1], 3),
        (&[0, 2, 3], &[0, 3, 1], 3),
        (&[0, 4, 3], &[0, 2, 1], 3),
        (&[0, 2, 4], &[0, 2, 1], 3),
        (&[0, 3], &[0, 2, 1], 3),
        (&[0, 2, 3], &[0, 2, 1], 2),
    ] {
        let e = new(ptr, col, &vec![1.0; values]).unwrap_err();
        assert!(e.to_string().contains("out of range"), "{e}");
    }
}

#[test]
fn a_plane_alone_is_its_matrix() {
    let node = node();
    let (first, second) = (
        grid(12, |i, j| (i + 2 * j) as f64),
        grid(12, |i, j| (3 * i + j) as f64),
    );
    let planes = [&first.val[..], &second.val];
    let (rows, cols) = (first.rows, first.cols);
    for fixed in [false, true] {
        let both = Sell::build(
            &node,
            rows,
            cols,
            &first.row_ptr,
            &first.col,
            &planes,
            fixed,
        );
        let (both, position) = both.unwrap();
        for (p, a) in [&first, &second].into_iter().enumerate() {
            check(&(both.alone(p), position.clone()), a, fixed);
        }
        assert!(both.alone(1).bytes() < both.bytes());
    }
}

#[test]
fn values_are_asked_for_where_they_are_one_stream() {
    let mut node = node();
    let regular = grid(20, |i, j| (i * j) as f64);
    (node.caches.staged, node.caches.bypassed) = (false, false);
    let any = Sell::<f64>::from_csr(&node, &regular).unwrap();
    assert_eq!(any.reading, Reading::Near);
    node.caches.staged = true;
    let of = |a: &Csr| Sell::<f64>::from_csr(&node, a).unwrap().reading;
    assert_eq!(of(&regular), Reading::Far);
    let rows = |of_a_row: &dyn Fn(usize) -> usize, cols| {
        random(&(0..2000).map(of_a_row).collect::<Vec<_>>(), cols, 3)
    };
    assert_eq!(of(&rows(&|_| 12, 2000)), Reading::Far);
    // Short rows; of unlike lengths; with columns too far apart.
    assert_eq!(of(&rows(&|_| 4, 2000)), Reading::Near);
    assert_eq!(of(&rows(&|i| 4 + i * 31 % 23, 2000)), Reading::Near);
    assert_eq!(of(&rows(&|_| 12, 1 << 18)), Reading::Near);
    // No row stores a column.
    assert_eq!(of(&rows(&|_| 0, 2000)), Reading::Far);
}

#[test]
fn rows_are_long_that_store_many_values_at_near_columns() {
    let node = node();
    let of = |of_a_row: usize, rows: usize, cols: usize| {
        let a = random(&vec![of_a_row; rows], cols, 3);
        Sell::<f64>::from_csr(&node, &a).unwrap().is_long()
    };
    assert!(of(12, 1000, 1000));
    // With the halo of a rank.
    assert!(of(12, 1000, 1200));
    assert!(!of(12, 1000, 6000));
    assert!(!of(5, 1000, 1000));
    assert!(!of(12, 1 << 17, (1 << 18) - 1));
    assert!(!of(12, 0, 1000));
    // Of many entries, but few values.
    let a = grid(30, |_, _| 0.5);
    assert!(!Sell::<f64>::fixed(&node, &a).unwrap().is_long());
}
