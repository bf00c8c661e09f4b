//! VTU and PVD files, read back by other programs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use couloir::mesh::{BoxShape, BoxSpec, CellKind, Geometry, Mesh, box_mesh, gmsh};
use couloir::report::vtu::{Collection, Field, Values, write_vtu};
use serde_json::json;

/// A folder that goes away with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("couloir-report-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn boxes(shape: BoxShape) -> Mesh {
    let spec = BoxSpec {
        shape,
        cells: [5, 4, 3],
        stretch: [1.5, 0.0, 0.7],
        ..BoxSpec::default()
    };
    box_mesh(&spec).unwrap()
}

fn hybrid() -> Mesh {
    gmsh::read(Path::new("tests/data/meshes/hybrid_6_41.msh")).unwrap()
}

fn meshes() -> Vec<Mesh> {
    let shapes = [BoxShape::Hexahedra, BoxShape::Prisms, BoxShape::Tetrahedra];
    let mut meshes: Vec<Mesh> = shapes.into_iter().map(boxes).collect();
    meshes.push(hybrid());
    meshes
}

fn vtk_type(kind: CellKind) -> u8 {
    match kind {
        CellKind::Tetrahedron => 10,
        CellKind::Hexahedron => 12,
        CellKind::Prism => 13,
        CellKind::Pyramid => 14,
    }
}

#[test]
fn vtu_and_pvd_are_read_by_vtk_and_meshio() {
    let folder = Folder::new();
    let mut series = Collection::new(folder.0.join("series.pvd"));
    let mut expected = Vec::new();
    for (i, mesh) in meshes().iter().enumerate() {
        let geometry = Geometry::of(mesh);
        let velocity: Vec<[f64; 3]> = geometry.centre.iter().map(|c| c.map(|x| x.sin())).collect();
        let pressure: Vec<f64> = velocity.iter().map(|u| u[0] * 1e-300).collect();
        let parts: Vec<Vec<f64>> = (0..3)
            .map(|k| velocity.iter().map(|u| u[k]).collect())
            .collect();
        let components = Values::Components([&parts[0], &parts[1], &parts[2]]);
        let fields = [
            ("velocity", Values::Vector(&velocity)),
            ("pressure", Values::Scalar(&pressure)),
            ("a < \"b\" & c", components),
        ]
        .map(|(name, values)| Field { name, values });
        let time = 0.1 * (i + 1) as f64;
        let file = format!("step {i}.vtu");
        write_vtu(&folder.0.join(&file), mesh, &fields).unwrap();
        series.add(time, &file).unwrap();
        let kinds = mesh.kinds.iter().map(|&k| vtk_type(k));
        expected.push(json!({
            "time": time,
            "points": mesh.points.as_flattened(),
            "types": kinds.collect::<Vec<_>>(),
            "cells": mesh.cell_points,
            "volumes": geometry.volume,
            "arrays": {
                "velocity": velocity.as_flattened(),
                "pressure": pressure,
                "a < \"b\" & c": velocity.as_flattened(),
            },
        }));
    }
    let expected = serde_json::to_vec(&expected).unwrap();
    fs::write(folder.0.join("expected.json"), expected).unwrap();

    let python = std::env::var("COULOIR_PYTHON").unwrap_or_else(|_| "python3".into());
    let run = Command::new(&python)
        .arg("tests/vtu_check.py")
        .arg(&folder.0)
        .output();
    let readers = run.as_ref().is_ok_and(|r| r.status.code() != Some(3));
    if !readers {
        // Past the test harness, which would swallow it.
        let note = "SKIPPED: no VTU reader; `pip install vtk meshio`, or name a Python that \
                    has them in COULOIR_PYTHON\n";
        std::io::stderr().write_all(note.as_bytes()).unwrap();
        return;
    }
    let run = run.unwrap();
    let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    assert!(said.contains("4 files read by"), "{said}");
}

/// The appended block at the offset of the array called `name`.
fn block<'a>(file: &'a [u8], name: &str) -> &'a [u8] {
    let start = file.windows(2).position(|w| w == b"\n_").unwrap() + 2;
    let header = std::str::from_utf8(&file[..start]).unwrap();
    let element = header
        .lines()
        .find(|l| l.contains(&format!("Name=\"{name}\"")))
        .unwrap();
    let offset = element
        .split("offset=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let at = start + offset.parse::<usize>().unwrap();
    let bytes = u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    &file[at + 8..at + 8 + bytes]
}

#[test]
fn vtu_blocks_hold_the_bytes() {
    let folder = Folder::new();
    let path = folder.0.join("new/folder/a.vtu");
    let mesh = hybrid();
    let pressure: Vec<f64> = (0..mesh.cells()).map(|c| 1.0 / (1.0 + c as f64)).collect();
    let values = Values::Scalar(&pressure);
    write_vtu(&path, &mesh, &[Field { name: "p", values }]).unwrap();
    let file = fs::read(&path).unwrap();
    let floats = |bytes: &[u8]| -> Vec<f64> {
        let number = |b: &[u8]| f64::from_le_bytes(b.try_into().unwrap());
        bytes.chunks(8).map(number).collect()
    };
    let integers = |bytes: &[u8]| -> Vec<i64> {
        let number = |b: &[u8]| i64::from_le_bytes(b.try_into().unwrap());
        bytes.chunks(8).map(number).collect()
    };
    assert_eq!(floats(block(&file, "p")), pressure);
    assert_eq!(floats(block(&file, "points")), mesh.points.as_flattened());
    let cells: Vec<i64> = mesh.cell_points.iter().map(|&p| p.into()).collect();
    assert_eq!(integers(block(&file, "connectivity")), cells);
    let ends: Vec<i64> = mesh.cell_ptr[1..].iter().map(|&e| e as i64).collect();
    assert_eq!(integers(block(&file, "offsets")), ends);
    let types: Vec<u8> = mesh.kinds.iter().map(|&k| vtk_type(k)).collect();
    assert_eq!(block(&file, "types"), types);
    assert_eq!(
        fs::read_dir(path.parent().unwrap()).unwrap().count(),
        1,
        "no temporary left"
    );
}

#[test]
fn vtu_refuses_a_field_of_another_size() {
    let folder = Folder::new();
    let mesh = boxes(BoxShape::Hexahedra);
    let short = vec![0.0; 59];
    let vectors = vec![[0.0; 3]; 61];
    let whole = vec![0.0; 60];
    for values in [
        Values::Scalar(&short),
        Values::Vector(&vectors),
        Values::Components([&whole, &short, &whole]),
    ] {
        let path = folder.0.join("a.vtu");
        let error = write_vtu(&path, &mesh, &[Field { name: "p", values }]).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("field \"p\" has values for"), "{error}");
        assert!(
            error.contains("of 60 cells; give one value per cell"),
            "{error}"
        );
        assert!(!path.exists());
    }
}

#[test]
fn a_series_that_cannot_be_written_is_an_error_with_a_remedy() {
    let folder = Folder::new();
    let mesh = boxes(BoxShape::Tetrahedra);
    // A file where the folder should be: unwritable for every user, root included.
    fs::write(folder.0.join("out"), "").unwrap();
    let mut series = Collection::new(folder.0.join("out/series.pvd"));
    let error = series.add(0.0, "a.vtu").unwrap_err();
    assert_eq!(error.exit_code(), 1);
    let error = error.to_string();
    assert!(
        error.contains("in the way") && error.contains("--out"),
        "{error}"
    );
    if Path::new("/dev/full").exists() {
        let error = write_vtu(Path::new("/dev/full"), &mesh, &[])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/dev/full") && error.contains("free some space"),
            "{error}"
        );
    }
}
