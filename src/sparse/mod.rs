//! Sparse matrices.

mod csr;
pub mod matrix_market;
pub mod order;
mod planes;
pub mod reorder;
mod repeated;
mod sell;

pub use csr::Csr;
pub use planes::Planes;
pub use repeated::Repeated;
pub(crate) use sell::STEPS_AHEAD;
pub use sell::{ByElement, Sell};
