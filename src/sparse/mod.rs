//! Sparse matrices.

mod csr;

pub use csr::Csr;
