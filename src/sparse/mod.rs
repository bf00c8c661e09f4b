//! Sparse matrices.

mod csr;
pub mod matrix_market;
pub mod order;
mod planes;
mod sell;

pub use csr::Csr;
pub use planes::Planes;
pub use sell::Sell;
