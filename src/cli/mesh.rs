//! `couloir mesh`: what a mesh is made of, and how good it is.

use super::{Args, Command, Console, flags};
use crate::flow::case::Case;
use crate::mesh::{CellKind, Discretisation, Geometry, Mesh, Patch, Quality, check, gmsh};
use crate::report::table::columns;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "mesh",
    operand: Some("FILE.msh|CASE.toml"),
    about: "Check a mesh: cells, quality, boundaries, and the discretisation it suits",
    flags: &[flags::SET],
    call,
};

fn call(args: &Args, console: &mut Console) -> Result<()> {
    let path = args.operand();
    let overrides = args.overrides()?;
    let (mesh, geometry, quality, choice) = if path.extension().is_some_and(|e| e == "toml") {
        let case = Case::read(path, &overrides)?;
        let (mesh, geometry) = case.load_mesh()?;
        let quality = Quality::of(&mesh, &geometry);
        let choice = case.discretisation(&quality);
        (mesh, geometry, quality, choice)
    } else if overrides.is_empty() {
        let mesh = gmsh::read(path)?;
        let geometry = Geometry::of(&mesh);
        check(&mesh, &geometry)?;
        let quality = Quality::of(&mesh, &geometry);
        let choice = quality.recommend();
        (mesh, geometry, quality, choice)
    } else {
        let what = "a mesh file has no keys to set";
        return Err(Error::input(
            "--set",
            what,
            "give the case that uses the mesh",
        ));
    };
    console.line(path.display())?;
    console.line(measures(&quality))?;
    console.line(boundaries(&mesh, &geometry))?;
    console.line(suits(&choice))
}

fn measures(quality: &Quality) -> String {
    let kinds: Vec<String> = CellKind::ALL
        .iter()
        .zip(quality.cells)
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{} {count}", kind.name()))
        .collect();
    let cells: usize = quality.cells.iter().sum();
    let interior = quality.faces - quality.boundary_faces;
    let rows = [
        ("points", quality.points.to_string()),
        ("cells", format!("{cells}: {}", kinds.join(", "))),
        (
            "faces",
            format!(
                "{interior} inside, {} at boundaries",
                quality.boundary_faces
            ),
        ),
        (
            "volume",
            format!(
                "{:.9} m3; of cells {:.3e} to {:.3e} m3",
                quality.volume_total, quality.volume_min, quality.volume_max
            ),
        ),
        (
            "non-orthogonality",
            format!(
                "mean {:.2}, largest {:.2} degrees",
                quality.non_orthogonality_mean_deg, quality.non_orthogonality_max_deg
            ),
        ),
        (
            "skewness",
            format!(
                "mean {:.3}, largest {:.3}",
                quality.skewness_mean, quality.skewness_max
            ),
        ),
        (
            "lambda_max",
            format!(
                "{:.3}, the largest eigenvalue of Gamma Gamma_{{s->c}}",
                quality.lambda_max
            ),
        ),
    ];
    let lines: Vec<_> = rows
        .iter()
        .map(|(name, value)| format!("  {name:<19}{value}"))
        .collect();
    lines.join("\n")
}

fn boundaries(mesh: &Mesh, geometry: &Geometry) -> String {
    if mesh.patches.is_empty() {
        return "\n  no boundaries\n".to_owned();
    }
    let row = |patch: &Patch| {
        let area: f64 = geometry
            .face_area
            .get(patch.faces.clone())
            .unwrap_or_default()
            .iter()
            .sum();
        [
            format!("  {}", patch.name),
            patch.faces.len().to_string(),
            format!("{area:.6}"),
        ]
    };
    let rows: Vec<_> = mesh.patches.iter().map(row).collect();
    format!(
        "\n{}\n",
        columns(&["  boundary", "faces", "area (m2)"], &rows)
    )
}

fn suits((discretisation, why): &(Discretisation, String)) -> String {
    format!("  discretisation: {}, because {why}", discretisation.name())
}
