//! Orderings that bring the columns of neighbouring rows together.
//!
//! Every order here is a permutation stored as `order[new] = old`.

use std::cmp::Reverse;

use rayon::prelude::*;

use crate::kernel::SLICE;

/// Level structures grown at most this many times per component: the eccentricity nearly
/// always stops growing after two or three, and the bound keeps the whole ordering linear.
const MAX_ROOTS: u8 = 8;

/// Mark of a node that has its place in the order.
const PLACED: u8 = u8::MAX;

/// `order[new] = old`, with `max |new(i) - new(j)|` over the edges `(i, j)` made small:
/// reverse Cuthill-McKee.
///
/// The graph has `row_ptr.len() - 1` nodes; the neighbours of `i` are
/// `cols[row_ptr[i]..row_ptr[i + 1]]`. It must be symmetric; the diagonal may be present.
/// Columns beyond the last node (halo columns) take no part, and a row whose range is not
/// inside `cols` counts as empty, so the result is always a permutation. Each component
/// starts from a pseudo-peripheral node (A. George and J. W. H. Liu, ACM TOMS 5, 1979);
/// ties go to the smaller degree, then to the smaller number, so the order is reproducible.
/// Cost: O(edges * log(largest degree)).
pub fn reverse_cuthill_mckee(row_ptr: &[usize], cols: &[u32]) -> Vec<u32> {
    let graph = Graph { row_ptr, cols };
    let n = graph.len();
    let degree: Vec<u32> = (0..n).map(|i| graph.neighbours(i).count() as u32).collect();
    let mut levels = Levels::new(n);
    let mut order: Vec<u32> = Vec::with_capacity(n);
    for seed in 0..n {
        // Once per component; more often only if the graph is not symmetric and the root
        // does not lead back to the seed.
        while levels.mark[seed] != PLACED {
            let root = pseudo_peripheral(&graph, &degree, seed as u32, &mut levels);
            let mut head = order.len();
            levels.mark[root as usize] = PLACED;
            order.push(root);
            while head < order.len() {
                let tail = order.len();
                for j in graph.neighbours(order[head] as usize) {
                    if levels.mark[j as usize] != PLACED {
                        levels.mark[j as usize] = PLACED;
                        order.push(j);
                    }
                }
                order[tail..].sort_unstable_by_key(|&j| (degree[j as usize], j));
                head += 1;
            }
        }
    }
    order.reverse();
    order
}

/// `order` sorted by `row_len[old]`, longest first, rows of one length kept as they follow
/// each other in `order`.
///
/// Rows of one length side by side fill slices without padding; the stable sort keeps the
/// locality that `order` has inside each group (thesis section 2.4). A row that `row_len`
/// does not hold counts as empty.
pub fn by_length_then(row_len: &[u32], order: &[u32]) -> Vec<u32> {
    let mut sorted = order.to_vec();
    sorted.sort_by_key(|&old| Reverse(row_len.get(old as usize).copied().unwrap_or(0)));
    sorted
}

/// `inverse[order[new]] = new`: where each old row went.
///
/// `order` must be a permutation of `0..order.len()`; entries outside are skipped.
pub fn inverse(order: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        if let Some(place) = inverse.get_mut(old as usize) {
            *place = new as u32;
        }
    }
    inverse
}

/// Sum over slices of [`SLICE`] rows of the number of different `new(j) - new(i)` of their entries
/// `(i, j)`, the diagonal aside, under the permutation `order`: the steps of a
/// [sliced matrix](crate::sparse::Sell) whose entries follow each other in memory. Regular numbering
/// has few: those of a box numbered line by line are its neighbours in space.
pub fn slice_steps(row_ptr: &[usize], cols: &[u32], order: &[u32]) -> usize {
    let graph = Graph { row_ptr, cols };
    let new = inverse(order);
    let slices = order.par_chunks(SLICE).enumerate();
    let steps = slices.map(|(s, rows)| {
        let mut differences = Vec::new();
        for (i, &old) in (s * SLICE..).zip(rows) {
            let entries = graph.neighbours(old as usize);
            differences.extend(entries.map(|j| i64::from(new[j as usize]) - i as i64));
        }
        differences.sort_unstable();
        differences.dedup();
        differences.len()
    });
    steps.sum()
}

/// `max |new(i) - new(j)|` over the stored entries `(i, j)` under `order`.
///
/// Same graph as [`reverse_cuthill_mckee`]; `order` is a permutation of its nodes.
pub fn bandwidth(row_ptr: &[usize], cols: &[u32], order: &[u32]) -> usize {
    let graph = Graph { row_ptr, cols };
    let new = inverse(order);
    let at = |i: usize| new.get(i).copied().unwrap_or(0);
    (0..graph.len())
        .flat_map(|i| graph.neighbours(i).map(move |j| (i, j as usize)))
        .map(|(i, j)| at(i).abs_diff(at(j)) as usize)
        .max()
        .unwrap_or(0)
}

/// A symmetric graph in CSR form.
struct Graph<'a> {
    row_ptr: &'a [usize],
    cols: &'a [u32],
}

impl Graph<'_> {
    fn len(&self) -> usize {
        self.row_ptr.len().saturating_sub(1)
    }

    /// Neighbours of `i` inside the graph, `i` itself left out.
    fn neighbours(&self, i: usize) -> impl Iterator<Item = u32> {
        let n = self.len();
        self.cols
            .get(self.row_ptr[i]..self.row_ptr[i + 1])
            .unwrap_or(&[])
            .iter()
            .copied()
            .filter(move |&j| j as usize != i && (j as usize) < n)
    }
}

/// A node of (nearly) greatest eccentricity in the component of `seed`.
fn pseudo_peripheral(graph: &Graph, degree: &[u32], seed: u32, levels: &mut Levels) -> u32 {
    let mut root = seed;
    let mut depth = levels.grow(graph, root, 1);
    for growth in 2..=MAX_ROOTS {
        let far = levels.last().iter().copied();
        let Some(next) = far.min_by_key(|&j| (degree[j as usize], j)) else {
            break;
        };
        let next_depth = levels.grow(graph, next, growth);
        if next_depth <= depth {
            break;
        }
        (root, depth) = (next, next_depth);
    }
    root
}

/// Breadth-first level structure, its storage used again for every root.
struct Levels {
    /// Number of the last growth that reached the node, or [`PLACED`]. A component's nodes
    /// are reached from inside it alone, so growths count from 1 in every component.
    mark: Vec<u8>,
    /// Nodes in the order they were reached.
    nodes: Vec<u32>,
    last_start: usize,
}

impl Levels {
    fn new(n: usize) -> Self {
        Self {
            mark: vec![0; n],
            nodes: Vec::new(),
            last_start: 0,
        }
    }

    /// Grows the levels around `root` and returns how many lie beyond the first.
    fn grow(&mut self, graph: &Graph, root: u32, growth: u8) -> usize {
        self.nodes.clear();
        self.nodes.push(root);
        self.mark[root as usize] = growth;
        self.last_start = 0;
        let mut depth = 0;
        loop {
            let (start, end) = (self.last_start, self.nodes.len());
            for k in start..end {
                for j in graph.neighbours(self.nodes[k] as usize) {
                    let mark = &mut self.mark[j as usize];
                    if *mark != growth && *mark != PLACED {
                        *mark = growth;
                        self.nodes.push(j);
                    }
                }
            }
            if self.nodes.len() == end {
                return depth;
            }
            self.last_start = end;
            depth += 1;
        }
    }

    fn last(&self) -> &[u32] {
        &self.nodes[self.last_start..]
    }
}
