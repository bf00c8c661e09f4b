//! METIS, which is built with MPI alone.

use crate::{Error, Result};

/// Part of each vertex of a graph in `parts` parts of like size, with few edges between them
/// (METIS, multilevel k-way, a fixed seed).
///
/// # Errors
/// METIS refuses.
pub fn k_way(ptr: &[i32], adjacent: &[i32], parts: usize) -> Result<Vec<u32>> {
    let refused = |why: String| {
        Error::failure(
            format!("METIS cannot cut the mesh into {parts} parts: {why}"),
            "use fewer ranks",
        )
    };
    let mut part = vec![0i32; ptr.len().saturating_sub(1)];
    let graph =
        ::metis::Graph::new(1, parts as i32, ptr, adjacent).map_err(|e| refused(e.to_string()))?;
    let graph = graph
        .set_option(::metis::option::Seed(1))
        .set_option(::metis::option::UFactor(10));
    graph
        .part_kway(&mut part)
        .map_err(|e| refused(e.to_string()))?;
    Ok(part.into_iter().map(|p| p as u32).collect())
}
