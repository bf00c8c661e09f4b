//! Reverse Cuthill-McKee and grouping by row length, on graphs whose best order is known.

use couloir::sparse::order::{bandwidth, by_length_then, inverse, reverse_cuthill_mckee};

/// CSR of an undirected graph with the diagonal present; `cols` of a row in mixed order.
fn graph(n: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> (Vec<usize>, Vec<u32>) {
    let mut rows: Vec<Vec<u32>> = (0..n as u32).map(|i| vec![i]).collect();
    for (i, j) in edges {
        rows[i as usize].push(j);
        rows[j as usize].push(i);
    }
    let mut row_ptr = vec![0];
    let mut cols = Vec::new();
    for row in rows {
        cols.extend(row);
        row_ptr.push(cols.len());
    }
    (row_ptr, cols)
}

/// Edges of an nx x ny x nz grid whose nodes carry shuffled numbers.
fn shuffled_grid(nx: usize, ny: usize, nz: usize, seed: u64) -> (Vec<usize>, Vec<u32>) {
    let mut number: Vec<u32> = (0..(nx * ny * nz) as u32).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut number);
    let at = |i: usize, j: usize, k: usize| number[i + nx * (j + ny * k)];
    let mut edges = Vec::new();
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                if i + 1 < nx {
                    edges.push((at(i, j, k), at(i + 1, j, k)));
                }
                if j + 1 < ny {
                    edges.push((at(i, j, k), at(i, j + 1, k)));
                }
                if k + 1 < nz {
                    edges.push((at(i, j, k), at(i, j, k + 1)));
                }
            }
        }
    }
    graph(nx * ny * nz, edges)
}

fn assert_permutation(order: &[u32], n: usize) {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..n as u32).collect::<Vec<_>>());
}

fn identity(n: usize) -> Vec<u32> {
    (0..n as u32).collect()
}

#[test]
fn a_shuffled_path_gets_bandwidth_one() {
    let (row_ptr, cols) = shuffled_grid(101, 1, 1, 7);
    assert!(bandwidth(&row_ptr, &cols, &identity(101)) > 50);
    let order = reverse_cuthill_mckee(&row_ptr, &cols);
    assert_permutation(&order, 101);
    assert_eq!(bandwidth(&row_ptr, &cols, &order), 1);
}

#[test]
fn a_shuffled_strip_gets_its_width() {
    // Levels from a corner are diagonals of 4 nodes. A node touches two of the next diagonal,
    // so positions differ by 4 and, as the diagonals run, by 3 or 5.
    let (row_ptr, cols) = shuffled_grid(50, 4, 1, 3);
    let order = reverse_cuthill_mckee(&row_ptr, &cols);
    assert!(bandwidth(&row_ptr, &cols, &order) <= 5);
}

#[test]
fn components_stay_together_and_isolated_nodes_are_kept() {
    // Two paths interleaved (even and odd numbers), node 20 alone.
    let edges = (0..18u32).map(|i| (i, i + 2));
    let (row_ptr, cols) = graph(21, edges);
    let order = reverse_cuthill_mckee(&row_ptr, &cols);
    assert_permutation(&order, 21);
    assert_eq!(bandwidth(&row_ptr, &cols, &order), 1);
    assert_eq!(order, reverse_cuthill_mckee(&row_ptr, &cols));
}

#[test]
fn halo_columns_and_malformed_graphs_still_give_a_permutation() {
    assert!(reverse_cuthill_mckee(&[], &[]).is_empty());
    assert!(reverse_cuthill_mckee(&[0], &[]).is_empty());
    // Column 9 lies beyond the three nodes.
    assert_permutation(&reverse_cuthill_mckee(&[0, 2, 4, 5], &[1, 9, 0, 2, 1]), 3);
    // Ranges that run backwards or past the end.
    assert_permutation(&reverse_cuthill_mckee(&[5, 2, 99], &[1, 0, 1]), 2);
    // Directed: 1 leads to 0 and 2, nothing leads back.
    assert_permutation(&reverse_cuthill_mckee(&[0, 0, 2, 2], &[0, 2]), 3);
}

#[test]
fn lengths_are_grouped_and_keep_the_order_inside_a_group() {
    let row_len = [3, 5, 4, 5, 3, 4, 5];
    let order = [6, 4, 2, 0, 1, 3, 5];
    let grouped = by_length_then(&row_len, &order);
    assert_eq!(grouped, [6, 1, 3, 2, 5, 4, 0]);
    for (new, &old) in grouped.iter().enumerate() {
        assert_eq!(inverse(&grouped)[old as usize] as usize, new);
    }
}

#[test]
fn a_million_node_grid_is_ordered_in_about_a_second() {
    let (row_ptr, cols) = shuffled_grid(100, 100, 100, 1);
    let start = std::time::Instant::now();
    let order = reverse_cuthill_mckee(&row_ptr, &cols);
    let seconds = start.elapsed().as_secs_f64();
    println!("1M nodes: {seconds:.2} s");
    // A cube's widest level has about 0.75 n^2 nodes; the bandwidth is near that.
    assert!(bandwidth(&row_ptr, &cols, &order) < 2 * 100 * 100);
    // Quadratic growth would take hours; the bound leaves room for a loaded machine.
    assert!(seconds < 20.0, "{seconds} s");
}
