//! Cell fields along a line, and their files.

use std::path::Path;

use super::write::write_file;
pub use crate::mesh::probe::{Line, Probe, Sample};
use crate::mesh::{Geometry, Mesh};
use crate::{Error, Result};

/// What to sample: one value per cell, and what is known on the boundary.
pub struct CellField<'a, const N: usize> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its geometry.
    pub geometry: &'a Geometry,
    /// One value per cell.
    pub values: &'a [[f64; N]],
    /// Value at the centre of boundary face `f`, where one is given (`f` as in the mesh,
    /// from `interior_faces()` on).
    pub boundary: &'a dyn Fn(usize) -> Option<[f64; N]>,
}

/// Values of `field` along `line`, as [`Probe::sample`] has them.
///
/// # Errors
/// [`Error::Failure`] if there is not one value per cell.
pub fn along<const N: usize>(field: &CellField<N>, line: &Line) -> Result<Vec<Sample<N>>> {
    let (got, want) = (field.values.len(), field.mesh.cells());
    if got != want {
        let what = format!("a profile got values for {got} of {want} cells");
        return Err(Error::failure(what, "give one value per cell"));
    }
    let probes = Probe::new(field.mesh, field.geometry, &[*line]);
    let samples = probes
        .iter()
        .flat_map(|probe| probe.sample(&|c| field.values[c], field.boundary));
    Ok(samples.collect())
}

/// Writes `s_m, x_m, y_m, z_m` and the values, named by `names`; samples outside the mesh
/// have empty values.
///
/// # Errors
/// [`Error::Io`].
pub fn write_csv<const N: usize>(
    path: &Path,
    names: &[&str; N],
    samples: &[Sample<N>],
) -> Result<()> {
    write_file(path, |out| {
        writeln!(out, "s_m,x_m,y_m,z_m,{}", names.join(","))?;
        for sample in samples {
            let [x, y, z] = sample.at;
            write!(out, "{:.9},{x:.9},{y:.9},{z:.9}", sample.s_m)?;
            for i in 0..N {
                match sample.value {
                    Some(value) => write!(out, ",{:.9e}", value[i])?,
                    None => write!(out, ",")?,
                }
            }
            writeln!(out)?;
        }
        Ok(())
    })
}
