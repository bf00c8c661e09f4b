//! Sparse matrices.

mod csr;
mod planes;
mod sell;

pub use csr::Csr;
pub use planes::Planes;
pub use sell::Sell;
