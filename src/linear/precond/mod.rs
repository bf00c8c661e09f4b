//! Preconditioners of the conjugate gradients. Each is a factor G: the solve is that of the system
//! `G A G^T` without a preconditioner. Jacobi's G is the scaling to unit diagonal, which every
//! system gets when it is prepared; others come on top of it.

mod colours;
mod factor;
pub mod fsai;
mod halves;

use serde::Deserialize;

pub(super) use factor::Factor;
pub use fsai::Pattern;

/// Preconditioner of the conjugate gradients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preconditioner {
    /// The inverse of the diagonal.
    #[default]
    Jacobi,
    /// A factorised sparse approximate inverse.
    Fsai,
    /// The one that is faster, by measurement in the first solves.
    Auto,
}

impl Preconditioner {
    /// The pattern of its factor beyond the diagonal, if it has one.
    pub fn pattern(self) -> Option<Pattern> {
        match self {
            Self::Fsai => Some(Pattern::default()),
            Self::Jacobi | Self::Auto => None,
        }
    }
}
