//! Where a bench's matrix comes from, and the order of its rows.

use std::fmt;
use std::path::PathBuf;

use super::graphs;
use crate::mesh::{Geometry, check, gmsh};
use crate::node::pages;
use crate::sparse::{Csr, matrix_market};
use crate::{Error, Result};

/// Bytes per row of an operation on vectors, about: three of them, a copy, and where rows begin.
const VECTORS_BYTES: u64 = 48;

/// Where the matrix comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// The 7-point Laplacian on the cube with about as many points.
    Rows(usize),
    /// The 7-point Laplacian on this many points along each axis.
    Grid(usize),
    /// The cells of a box of about as many tetrahedra.
    Tetrahedra(usize),
    /// The nodes of a box, about as many, linked unevenly.
    Nodes(usize),
    /// A Matrix Market file.
    File(PathBuf),
    /// The cells of a mesh.
    Mesh(PathBuf),
}

impl Origin {
    /// `--matrix`: `grid:K`, `tet:ROWS`, `nodes:ROWS`, or a file.
    ///
    /// # Errors
    /// [`Error::Input`] for a number that is none.
    pub fn parse(text: &str) -> Result<Self> {
        let made = match text.split_once(':') {
            Some(("grid", number)) => (Self::Grid as fn(usize) -> Self, number),
            Some(("tet", number)) => (Self::Tetrahedra as _, number),
            Some(("nodes", number)) => (Self::Nodes as _, number),
            _ => return Ok(Self::File(text.into())),
        };
        count(&format!("--matrix {text}"), made.1).map(made.0)
    }

    /// Rows that will be made; none where a file tells.
    pub fn rows(&self) -> Option<usize> {
        match *self {
            Self::Rows(n) | Self::Nodes(n) => Some(graphs::nearest(n as f64).saturating_pow(3)),
            Self::Grid(k) => Some(k.saturating_pow(3)),
            Self::Tetrahedra(n) => {
                let bricks = graphs::nearest(n as f64 / 6.0).saturating_pow(3);
                Some(bricks.saturating_mul(6))
            }
            Self::File(_) | Self::Mesh(_) => None,
        }
    }

    /// Bytes per row while the matrix is made and stored twice, about.
    fn row_bytes(&self) -> u64 {
        match self {
            Self::Tetrahedra(_) => 900,
            Self::Nodes(_) => 800,
            _ => 400,
        }
    }

    /// As many rows without entries, for operations on vectors; the matrix where only that tells
    /// how many there are.
    ///
    /// # Errors
    /// As [`Origin::matrix`].
    pub fn rows_alone(&self) -> Result<Csr> {
        let Some(rows) = self.rows() else {
            return self.matrix();
        };
        self.fits(rows, VECTORS_BYTES, u32::MAX as usize / 4)?;
        Ok(Csr::zero(rows, 1))
    }

    fn fits(&self, rows: usize, row_bytes: u64, most: usize) -> Result<()> {
        let bytes = (rows as u64).saturating_mul(row_bytes);
        let available = pages::available_bytes().unwrap_or(u64::MAX);
        let what = match () {
            () if bytes > available => format!(
                "{rows} rows need about {:.1} GB, and {:.1} GB of memory are available",
                bytes as f64 / 1e9,
                available as f64 / 1e9
            ),
            () if rows > most => format!("{rows} rows are more than the {most} that are possible"),
            () => return Ok(()),
        };
        Err(Error::input(self.to_string(), what, "take fewer rows"))
    }

    /// The matrix.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that is wrong, and for more rows than fit into memory.
    pub fn matrix(&self) -> Result<Csr> {
        if let Some(rows) = self.rows() {
            self.fits(rows, self.row_bytes(), u32::MAX as usize / 32)?;
        }
        match self {
            Self::Rows(n) => Ok(graphs::grid(graphs::nearest(*n as f64))),
            Self::Grid(k) => Ok(graphs::grid(*k)),
            Self::Tetrahedra(n) => graphs::tetrahedra(*n),
            Self::Nodes(n) => Ok(graphs::nodes(*n)),
            Self::File(path) => matrix_market::read(path),
            Self::Mesh(path) => {
                let mesh = gmsh::read(path).map_err(|error| match error {
                    Error::Io { source, remedy, .. } => {
                        let what = format!("the mesh cannot be read ({source})");
                        Error::input(path.display().to_string(), what, remedy)
                    }
                    other => other,
                })?;
                check(&mesh, &Geometry::of(&mesh))?;
                Ok(graphs::cells(&mesh))
            }
        }
    }
}

/// A number of at least 1.
///
/// # Errors
/// [`Error::Input`] that names `place`.
pub fn count(place: &str, text: &str) -> Result<usize> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => {
            let what = format!("{text} is not a number of at least 1");
            Err(Error::input(
                place,
                what,
                "give a whole number, such as 1000000",
            ))
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Rows(n) => write!(f, "grid:{}", graphs::nearest(*n as f64)),
            Self::Grid(k) => write!(f, "grid:{k}"),
            Self::Tetrahedra(n) => write!(f, "tet:{n}"),
            Self::Nodes(n) => write!(f, "nodes:{n}"),
            Self::File(path) | Self::Mesh(path) => path.display().fmt(f),
        }
    }
}

/// The order of the rows (and columns).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ordering {
    /// As they come.
    #[default]
    None,
    /// Reverse Cuthill-McKee, rows by length where that pays: [`Csr::reordered`].
    Rcm,
    /// By lot, always the same: the worst case.
    Random,
}

impl Ordering {
    /// All.
    pub const ALL: [Self; 3] = [Self::None, Self::Rcm, Self::Random];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rcm => "rcm",
            Self::Random => "random",
        }
    }

    /// `P A P^T`.
    ///
    /// # Errors
    /// [`Error::Input`] for a matrix that is not square; `place` names it.
    pub fn apply(self, a: &Csr, place: &str) -> Result<Csr> {
        if self == Self::None {
            return Ok(a.clone());
        }
        if a.rows != a.cols {
            let what = format!("a matrix of {} x {} has no symmetric order", a.rows, a.cols);
            return Err(Error::input(place, what, "leave --order out"));
        }
        if self == Self::Rcm {
            return Ok(a.reordered()?.matrix);
        }
        let mut order: Vec<u32> = (0..a.rows as u32).collect();
        fastrand::Rng::with_seed(1).shuffle(&mut order);
        Ok(a.permuted(&order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_than_fit_or_are_possible_are_refused() {
        let origin = Origin::Grid(100);
        assert!(origin.fits(1_000_000, 48, 1_000_000).is_ok());
        for (row_bytes, most, why) in [
            (1 << 40, 1_000_000, "GB of memory are available"),
            (48, 999_999, "more than the 999999 that are possible"),
        ] {
            let error = origin.fits(1_000_000, row_bytes, most).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(why) && text.contains("grid:100"), "{text}");
        }
        let vectors = origin.rows_alone().unwrap();
        assert_eq!((vectors.rows, vectors.entries()), (1_000_000, 0));
    }

    #[test]
    fn every_order_permutes_rows_and_columns_alike() {
        let a = graphs::nodes(500);
        let spectrum = |a: &Csr| {
            // Invariants of a symmetric permutation: sorted diagonal, and 1' A^2 1.
            let mut diag = a.diag();
            diag.sort_unstable_by(f64::total_cmp);
            let ones = a.apply(&vec![1.0; a.rows]);
            (
                diag,
                (ones.iter().map(|x| x * x).sum::<f64>() * 1e6).round(),
            )
        };
        for order in Ordering::ALL {
            let b = order.apply(&a, "a").unwrap();
            assert_eq!(spectrum(&b), spectrum(&a), "{}", order.name());
            assert_eq!(b, b.transpose());
        }
        let general = Csr::from_triplets(3, 3, &[(0, 2, 1.0), (1, 1, 2.0)]);
        assert_eq!(Ordering::Rcm.apply(&general, "a").unwrap().entries(), 2);
        let wide = Csr::zero(2, 3);
        let error = Ordering::Rcm.apply(&wide, "--matrix w.mtx").unwrap_err();
        assert_eq!(error.exit_code(), 2);
    }
}
