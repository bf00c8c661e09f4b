//! What is alike is stored once.

use super::*;

#[test]
fn what_is_regular_costs_little() {
    let node = node();
    let a = grid(64, |i, j| if i == j { 6.0 } else { -1.0 });
    let n = a.rows as f64;
    let plain: Sell<f64> = Sell::from_csr(&node, &a).unwrap();
    assert!(
        plain.bytes() < 8.02 * a.entries() as f64 + 0.75 * n,
        "{}",
        plain.bytes() / n
    );
    let fixed: Sell<f64> = Sell::fixed(&node, &a).unwrap();
    assert!(fixed.bytes() < 0.6 * n, "{}", fixed.bytes() / n);
    // Values that differ anywhere in a step are all kept.
    let uneven = grid(64, |i, j| (i * 31 + j) as f64);
    let kept: Sell<f64> = Sell::fixed(&node, &uneven).unwrap();
    assert!(kept.elements() >= uneven.entries());
    // A row of tetrahedra's dual graph in RCM order: near columns, no pattern.
    let near = Csr::from_rows(10_000, 10_000, |i, row| {
        let offset = |k: usize| (i * 7 + k * 131) % 5000;
        row.extend((0..5).map(|k| ((i + offset(k)).min(9999) as u32, 1.0)));
    });
    let s: Sell<f64> = Sell::from_csr(&node, &near).unwrap();
    assert!(s.bytes() < 10.6 * near.entries() as f64, "{}", s.bytes());
}

/// Lines of 28 rows, in slices of 32, whose ends are linked to rows far away at one distance, with
/// another value at each end: the part of a box that is cut across its lines. Slices of as few steps
/// as devices have code for are left whole.
#[test]
fn a_step_of_a_few_values_leaves_the_others_shared() {
    let (node, n) = (node(), 28 * 128);
    let lines = |ends: [f64; 2]| {
        Csr::from_rows(n, 2 * n, |i, row| {
            let (line, at) = (i / 28, i % 28);
            let to = |j: usize| j as u32;
            row.push((to(i), 6.0));
            row.extend((at > 0).then(|| (to(i - 1), -1.0)));
            row.extend((at < 27).then(|| (to(i + 1), -1.0)));
            for line in [28, 56] {
                row.extend((i >= line).then(|| (to(i - line), -1.0)));
                row.extend((i + line < n).then(|| (to(i + line), -1.0)));
            }
            // Distances n - 26 line and n - 26 line - 26: one where a line ends and the next begins.
            row.extend((at == 0).then(|| (to(n + 2 * line), ends[0])));
            row.extend((at == 27).then(|| (to(n + 2 * line + 1), ends[1])));
        })
    };
    for ends in [[-1.0, -1.0], [-1.0, 2.0]] {
        let a = lines(ends);
        let made = Sell::build(&node, a.rows, a.cols, &a.row_ptr, &a.col, &[&a.val], true);
        let made = made.unwrap();
        check(&made, &a, true);
        let elements = made.0.elements();
        assert!(elements < n / 4, "{ends:?}: {elements} elements");
    }
    // A box's own lines: the rows at their ends have other values, each line its own.
    let a = grid(32, |i, _| if i % 32 > 0 { -1.0 } else { -2.0 - i as f64 });
    let made = Sell::build(&node, a.rows, a.cols, &a.row_ptr, &a.col, &[&a.val], true);
    let made = made.unwrap();
    check(&made, &a, true);
    let elements = made.0.elements();
    assert!(elements > 5 * a.rows, "{elements} elements");
}

#[test]
fn slices_share_values_only_where_all_planes_agree() {
    let node = node();
    let alike = grid(32, |_, _| 1.0);
    let layers = grid(32, |i, _| (i / 3072) as f64);
    let (ptr, col) = (&alike.row_ptr, &alike.col);
    let planes = [&alike.val[..], &layers.val];
    let made = Sell::<f64>::build(&node, alike.rows, alike.cols, ptr, col, &planes, true);
    let (s, position) = made.unwrap();
    let fixed = |a| Sell::<f64>::fixed(&node, a).unwrap().elements();
    assert_eq!(s.elements(), fixed(&layers));
    assert!(fixed(&layers) > 4 * fixed(&alike));
    let view = s.view(false, true).unwrap();
    for (values, plane) in planes.iter().zip(&view.planes) {
        for (&at, v) in position.iter().zip(*values) {
            assert_eq!(plane[at as usize], *v);
        }
    }
}

#[test]
fn slices_whose_rows_differ_share_what_they_have_alike() {
    let node = node();
    let built = |a: &Csr| {
        let made = Sell::build(&node, a.rows, a.cols, &a.row_ptr, &a.col, &[&a.val], true);
        let made = made.unwrap();
        check(&made, a, true);
        made.0.elements()
    };
    // A line of 32 rows is a slice. What it lacks goes by its place among the lines: nine kinds.
    let ends = |i: usize| if i.is_multiple_of(32) { -1.5 } else { -1.0 };
    let alike = built(&grid(32, |i, _| ends(i)));
    assert!(
        (5 * 9 * 32..=7 * 9 * 32).contains(&alike),
        "{alike} elements"
    );
    // A row with values of its own makes one slice more.
    let odd = |row: usize| move |i: usize, _: usize| if i == row { 3.0 } else { ends(i) };
    let one = built(&grid(32, odd(40 * 32 + 7)));
    assert_eq!(one, alike + 7 * 32);
    // The same values at other columns are stored apart.
    let shifted = |by: usize| {
        Csr::from_rows(64, 256, |i, row| {
            let far = if i < 32 { 64 } else { 64 + by };
            let v = [1.0, 2.0][i % 2];
            row.extend([(i as u32, v), ((i + far) as u32, v)]);
        })
    };
    assert_eq!(built(&shifted(0)), 2 * 32);
    assert_eq!(built(&shifted(5)), 4 * 32);
    // A value that differs in its last bit is another.
    let last_bit = grid(32, |i, _| {
        let bits = f64::to_bits(ends(i));
        f64::from_bits(if i / 32 == 40 { bits + 1 } else { bits })
    });
    assert_eq!(built(&last_bit), alike + 7 * 32);
}
