//! Box meshes of any size, without a mesher.

use crate::mesh::build::{Boundary, Cells, NO_POINT, build};
use crate::mesh::{CellKind, Mesh};
use crate::{Error, Result};

/// Shape of the cells of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BoxShape {
    /// One hexahedron per block.
    #[default]
    Hexahedra,
    /// Two prisms per block, cut along the diagonal of its x-y face.
    Prisms,
    /// Six tetrahedra per block, all around its main diagonal (Kuhn). Opposite sides carry
    /// the same triangles, so they can be joined periodically.
    Tetrahedra,
}

impl BoxShape {
    /// Cells that a block is cut into.
    pub fn cells_per_block(self) -> usize {
        match self {
            Self::Hexahedra => 1,
            Self::Prisms => 2,
            Self::Tetrahedra => 6,
        }
    }
}

/// A box and how to cut it. The default is the unit cube in 8 x 8 x 8 hexahedra.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxSpec {
    /// Shape of the cells.
    pub shape: BoxShape,
    /// Number of blocks along x, y, z.
    pub cells: [usize; 3],
    /// Corner with the smallest coordinates, in metres.
    pub min: [f64; 3],
    /// Corner with the largest coordinates, in metres.
    pub max: [f64; 3],
    /// Per axis: 0 for uniform blocks, else the gamma of [`BoxSpec::coordinate`].
    pub stretch: [f64; 3],
}

impl Default for BoxSpec {
    fn default() -> Self {
        Self {
            shape: BoxShape::default(),
            cells: [8; 3],
            min: [0.0; 3],
            max: [1.0; 3],
            stretch: [0.0; 3],
        }
    }
}

/// Patches of a box, in order.
pub const BOX_PATCHES: [&str; 6] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];

/// Largest gamma: beyond it, the first block is thinner than round-off allows.
const STRETCH_MAX: f64 = 8.0;

impl BoxSpec {
    /// `x_i = min + (max - min) (1 + tanh(gamma (2 i/n - 1)) / tanh(gamma)) / 2`, or
    /// uniform for gamma = 0: blocks get thinner towards both ends of the axis.
    pub fn coordinate(&self, axis: usize, i: usize) -> f64 {
        let (low, high, n) = (self.min[axis], self.max[axis], self.cells[axis]);
        if i == 0 {
            return low;
        }
        if i == n {
            return high;
        }
        let s = i as f64 / n as f64;
        let gamma = self.stretch[axis];
        let s = if gamma == 0.0 {
            s
        } else {
            0.5 + 0.5 * (gamma * (2.0 * s - 1.0)).tanh() / gamma.tanh()
        };
        low + (high - low) * s
    }

    fn check(&self) -> Result<()> {
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let (low, high) = (self.min[axis], self.max[axis]);
            if self.cells[axis] == 0 {
                return Err(Error::input(
                    "box: cells",
                    format!("no cell along {name}"),
                    "give at least 1",
                ));
            }
            if !(low.is_finite() && high.is_finite() && low < high) {
                return Err(Error::input(
                    "box: min, max",
                    format!("{low} to {high} along {name} is not an interval"),
                    "give finite numbers with min < max",
                ));
            }
            if !(0.0..=STRETCH_MAX).contains(&self.stretch[axis]) {
                return Err(Error::input(
                    "box: stretch",
                    format!("{} along {name} is out of range", self.stretch[axis]),
                    format!("give 0 (uniform) to {STRETCH_MAX}; 2 is usual for a channel"),
                ));
            }
        }
        // Six tetrahedra per block, six sides each at most: all must have 32-bit numbers.
        let blocks = self
            .cells
            .iter()
            .try_fold(1usize, |product, n| product.checked_mul(n.checked_add(1)?));
        if blocks.is_none_or(|blocks| blocks > (u32::MAX / 36) as usize) {
            return Err(Error::input(
                "box: cells",
                format!("{:?} blocks are more than one mesh can hold", self.cells),
                "give a product below 100 million",
            ));
        }
        Ok(())
    }

    fn point(&self, [i, j, k]: [usize; 3]) -> u32 {
        let [nx, ny, _] = self.cells;
        (i + (nx + 1) * (j + (ny + 1) * k)) as u32
    }
}

/// Mesh of a box, with the patches [`BOX_PATCHES`].
///
/// # Errors
/// No cell along an axis, an empty interval, a stretching out of range, too many cells.
pub fn box_mesh(spec: &BoxSpec) -> Result<Mesh> {
    spec.check()?;
    let [nx, ny, nz] = spec.cells;
    let axes: [Vec<f64>; 3] = std::array::from_fn(|axis| {
        (0..=spec.cells[axis])
            .map(|i| spec.coordinate(axis, i))
            .collect()
    });
    let mut cells = Cells {
        points: Vec::with_capacity((nx + 1) * (ny + 1) * (nz + 1)),
        ..Cells::default()
    };
    for &z in &axes[2] {
        for &y in &axes[1] {
            cells.points.extend(axes[0].iter().map(|&x| [x, y, z]));
        }
    }
    let (kind, split) = blocks(spec.shape);
    cells.kinds = vec![kind; nx * ny * nz * split.len()];
    cells.cell_points = Vec::with_capacity(cells.kinds.len() * kind.points());
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let corners = CORNERS.map(|[a, b, c]| spec.point([i + a, j + b, k + c]));
                for piece in split {
                    cells
                        .cell_points
                        .extend(piece.iter().map(|&corner| corners[corner]));
                }
            }
        }
    }
    build(cells, &boundary(spec), "box")
}

/// Corners of a block in the order of a hexahedron's points.
const CORNERS: [[usize; 3]; 8] = [
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 0, 1],
    [1, 1, 1],
    [0, 1, 1],
];

/// Cells of one block, by its corners.
fn blocks(shape: BoxShape) -> (CellKind, &'static [&'static [usize]]) {
    match shape {
        BoxShape::Hexahedra => (CellKind::Hexahedron, &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
        BoxShape::Prisms => (CellKind::Prism, &[&[0, 1, 2, 4, 5, 6], &[0, 2, 3, 4, 6, 7]]),
        // One per order of the axes on the way from corner 0 to corner 6.
        BoxShape::Tetrahedra => (
            CellKind::Tetrahedron,
            &[
                &[0, 1, 2, 6],
                &[0, 2, 3, 6],
                &[0, 3, 7, 6],
                &[0, 7, 4, 6],
                &[0, 4, 5, 6],
                &[0, 5, 1, 6],
            ],
        ),
    }
}

fn boundary(spec: &BoxSpec) -> Boundary {
    let mut boundary = Boundary {
        names: BOX_PATCHES.map(String::from).to_vec(),
        ..Boundary::default()
    };
    for axis in 0..3 {
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        let triangles = match spec.shape {
            BoxShape::Hexahedra => false,
            BoxShape::Prisms => axis == 2,
            BoxShape::Tetrahedra => true,
        };
        for (end, at) in [0, spec.cells[axis]].into_iter().enumerate() {
            for ic in 0..spec.cells[c] {
                for ib in 0..spec.cells[b] {
                    let corner = |db: usize, dc: usize| {
                        let mut ijk = [0; 3];
                        ijk[axis] = at;
                        ijk[b] = ib + db;
                        ijk[c] = ic + dc;
                        spec.point(ijk)
                    };
                    let [p, q, r, s] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    if triangles {
                        boundary
                            .faces
                            .extend([[p, q, r, NO_POINT], [p, r, s, NO_POINT]]);
                    } else {
                        boundary.faces.push([p, q, r, s]);
                    }
                    let group = (2 * axis + end) as u32;
                    boundary.group.resize(boundary.faces.len(), group);
                }
            }
        }
    }
    boundary
}
