//! Sparse matrices.

mod csr;
mod planes;
pub mod order;
mod sell;

pub use csr::Csr;
pub use planes::Planes;
pub use sell::Sell;
