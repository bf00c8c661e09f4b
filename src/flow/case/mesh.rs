//! `[mesh]` of a case.

use std::path::PathBuf;

use serde::Deserialize;

use crate::mesh::{BoxShape, BoxSpec};

/// `[mesh]`: exactly one of `file` and `box`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "MeshKeys")]
pub enum MeshSource {
    /// `file`: a Gmsh mesh (MSH 2.2 or 4.1), relative to the case file.
    File(PathBuf),
    /// `box`: a box made by couloir.
    Box(BoxSpec),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeshKeys {
    file: Option<PathBuf>,
    r#box: Option<BoxKeys>,
}

/// `mesh.box`: a box of `cells[0] x cells[1] x cells[2]` bricks. Its six sides are the
/// boundaries `xmin`, `xmax`, `ymin`, `ymax`, `zmin`, `zmax`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoxKeys {
    /// What each brick is made of.
    #[serde(default)]
    shape: ShapeName,
    /// Bricks along x, y and z.
    cells: [usize; 3],
    /// Lower corner, in metres (default: 0 0 0).
    #[serde(default)]
    min: [f64; 3],
    /// Upper corner, in metres (default: 1 1 1).
    #[serde(default = "ones")]
    max: [f64; 3],
    /// Per direction, the gamma of [`BoxSpec::coordinate`]: 0 is uniform, more makes bricks
    /// thinner towards both ends.
    #[serde(default)]
    stretch: [f64; 3],
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ShapeName {
    #[default]
    Hexahedra,
    Prisms,
    Tetrahedra,
}

impl TryFrom<MeshKeys> for MeshSource {
    type Error = &'static str;

    fn try_from(keys: MeshKeys) -> Result<Self, Self::Error> {
        match (keys.file, keys.r#box) {
            (Some(file), None) => Ok(Self::File(file)),
            (None, Some(keys)) => Ok(Self::Box(BoxSpec {
                shape: match keys.shape {
                    ShapeName::Hexahedra => BoxShape::Hexahedra,
                    ShapeName::Prisms => BoxShape::Prisms,
                    ShapeName::Tetrahedra => BoxShape::Tetrahedra,
                },
                cells: keys.cells,
                min: keys.min,
                max: keys.max,
                stretch: keys.stretch,
            })),
            (Some(_), Some(_)) => Err("file and box are both given; keep one of them"),
            (None, None) => Err("no mesh is given; add file = \"NAME.msh\" or box = { .. }"),
        }
    }
}

fn ones() -> [f64; 3] {
    [1.0; 3]
}
