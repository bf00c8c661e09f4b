//! Cases of as many rows as are asked for: cubes in a row.

use std::path::Path;

use crate::flow::case::{Case, MeshSource};
use crate::input::Override;
use crate::{Error, Result};

/// `ROWSxCUBES`.
pub(super) fn cubes(operand: &str) -> Option<(f64, usize)> {
    let (rows, layers) = operand.split_once('x')?;
    Some((rows.parse().ok()?, layers.parse().ok()?))
}

/// `layers` cubes of about `rows` cells each in a row, between walls, with a moving lid; `--set
/// mesh.box.shape` names the cells.
pub(super) fn cube(rows: f64, layers: usize, overrides: &[Override]) -> Result<Case> {
    // u32 counts rows.
    if !(8.0..=f64::from(u32::MAX)).contains(&rows) || layers == 0 {
        return Err(Error::input(
            format!("{rows} rows on {layers} rank(s)"),
            "there is no such cube of cells",
            "give 8 rows per rank or more, such as 1000000",
        ));
    }
    let of = |n: usize| {
        let text = format!(
            "mesh.box = {{ cells = [{}, {n}, {n}], max = [{layers}, 1, 1] }}\n\
             fluid.viscosity = 1e-2\ntime = {{ end = 1, max_courant = 0.5 }}\n\
             [boundary]\nymax = {{ type = \"wall\", velocity = [1, 0, 0] }}\n\
             xmin.type = \"wall\"\nxmax.type = \"wall\"\nymin.type = \"wall\"\n\
             zmin.type = \"wall\"\nzmax.type = \"wall\"\n",
            n * layers
        );
        Case::parse(&text, Path::new("box.toml"), overrides)
    };
    let bricks = match &of(2)?.mesh {
        MeshSource::Box(spec) => rows / spec.shape.cells_per_block() as f64,
        MeshSource::File(_) => rows,
    };
    of(bricks.cbrt().round().max(2.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cells_of_any_shape() {
        for (shape, bricks) in [("hexahedra", 10), ("prisms", 8), ("tetrahedra", 6)] {
            let overrides = [Override::text("mesh.box.shape", shape, "--set")];
            let case = cube(1200.0, 3, &overrides).expect("a case");
            let MeshSource::Box(spec) = &case.mesh else {
                panic!("no box");
            };
            // 10.6, 8.4 and 5.8 bricks along a side.
            assert_eq!(spec.cells[1], bricks + usize::from(shape == "hexahedra"));
            assert_eq!(spec.cells[0], 3 * spec.cells[1]);
        }
    }
}
