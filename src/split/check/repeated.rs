//! Random vectors that say the same of many rows.

use crate::Result;
use crate::kernel::{Real, SLICE};
use crate::node::Node;
use crate::sparse::Repeated;

/// Of every fourth slice or so the rows differ, others are one of three.
pub(super) fn random<T: Real>(
    node: &Node,
    rows: usize,
    rng: &mut fastrand::Rng,
) -> Result<Repeated<T>> {
    let kinds: Vec<f64> = (0..3 * SLICE).map(|_| 2.0 * rng.f64() - 1.0).collect();
    let mut values = Vec::with_capacity(rows + SLICE);
    while values.len() < rows {
        match kinds.chunks_exact(SLICE).nth(rng.usize(..4)) {
            Some(kind) => values.extend_from_slice(kind),
            None => values.extend((0..SLICE).map(|_| 2.0 * rng.f64() - 1.0)),
        }
    }
    Repeated::new(node, &values[..rows])
}
