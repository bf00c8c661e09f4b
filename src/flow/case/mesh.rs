//! `[mesh]` of a case.

use std::path::PathBuf;

use serde::Deserialize;

/// `[mesh]`: exactly one of `file` and `box`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "MeshKeys")]
pub enum MeshSource {
    /// `file`: a Gmsh mesh (MSH 2.2 or 4.1), relative to the case file.
    File(PathBuf),
    /// `box`: a box made by couloir.
    Box(BoxMesh),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeshKeys {
    file: Option<PathBuf>,
    r#box: Option<BoxMesh>,
}

impl TryFrom<MeshKeys> for MeshSource {
    type Error = &'static str;

    fn try_from(keys: MeshKeys) -> Result<Self, Self::Error> {
        match (keys.file, keys.r#box) {
            (Some(file), None) => Ok(Self::File(file)),
            (None, Some(shape)) => Ok(Self::Box(shape)),
            (Some(_), Some(_)) => Err("file and box are both given; keep one of them"),
            (None, None) => Err("no mesh is given; add file = \"NAME.msh\" or box = { .. }"),
        }
    }
}

/// `mesh.box`: a box of `cells[0] x cells[1] x cells[2]` bricks. Its six sides are the
/// boundaries `xmin`, `xmax`, `ymin`, `ymax`, `zmin`, `zmax`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxMesh {
    /// `shape`: what each brick is made of.
    #[serde(default)]
    pub shape: Shape,
    /// `cells`: bricks along x, y and z.
    pub cells: [usize; 3],
    /// `min`: lower corner, in metres (default: 0 0 0).
    #[serde(default)]
    pub min: [f64; 3],
    /// `max`: upper corner, in metres (default: 1 1 1).
    #[serde(default = "ones")]
    pub max: [f64; 3],
    /// `stretch`: per direction, how strongly bricks thin out towards both ends. 0 is
    /// uniform; with g > 0 points lie at (1 + tanh(g (2 s - 1)) / tanh g) / 2, s uniform in
    /// [0, 1].
    #[serde(default)]
    pub stretch: [f64; 3],
}

/// Shape of a generated box's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// One hexahedron per brick.
    #[default]
    Hexahedra,
    /// Two prisms per brick.
    Prisms,
    /// Six tetrahedra per brick.
    Tetrahedra,
}

fn ones() -> [f64; 3] {
    [1.0; 3]
}
