//! Sparse matrices.

mod csr;
mod sell;

pub use csr::Csr;
pub use sell::Sell;
