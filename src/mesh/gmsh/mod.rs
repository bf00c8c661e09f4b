//! Reader for Gmsh's MSH format, versions 2.2 and 4.1, ASCII and binary.
//!
//! Format: Gmsh reference manual, chapter "Gmsh file formats".

mod cursor;
mod raw;
mod shape;
mod v22;
mod v41;

use std::path::Path;

use crate::mesh::Mesh;
use crate::{Error, Result};
use cursor::{Coding, Cursor, EXPORT_AGAIN, show};
use raw::Raw;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    V22,
    V41,
}

/// Mesh in the Gmsh file `path`; physical surfaces become its patches.
///
/// # Errors
/// A file that cannot be read, is no MSH 2.2 or 4.1, is truncated or corrupt, holds elements
/// of higher order or no volume element, or leaves boundary faces without exactly one name.
/// Shapes and volumes are not judged: see [`check`](crate::mesh::check::check).
pub fn read(path: &Path) -> Result<Mesh> {
    let bytes = std::fs::read(path)
        .map_err(|source| Error::io(path, source, "give the path of a Gmsh mesh (.msh)"))?;
    parse(&bytes, &path.display().to_string())
}

/// The same from memory; `name` stands for the file in messages.
///
/// # Errors
/// See [`read`].
pub fn parse(bytes: &[u8], name: &str) -> Result<Mesh> {
    let mut cursor = Cursor::new(bytes, name);
    let version = format(&mut cursor)?;
    let mut raw = Raw::default();
    let mut seen: Vec<&[u8]> = Vec::new();
    loop {
        let word = cursor.word();
        if word.is_empty() {
            break;
        }
        let Some(section) = word.strip_prefix(b"$") else {
            return Err(cursor.fail(
                format!("expected a section ($Name), found \"{}\"", show(word)),
                EXPORT_AGAIN,
            ));
        };
        let Some(read) = reader(section, version) else {
            if section == b"PartitionedEntities" {
                return Err(cursor.fail(
                    "the mesh is partitioned",
                    "export it without partitions: couloir makes its own",
                ));
            }
            cursor.skip_section(section)?;
            continue;
        };
        if seen.contains(&section) {
            return Err(cursor.fail(
                format!("section ${} comes twice", show(section)),
                "keep one mesh per file",
            ));
        }
        if section == b"Elements" && !seen.contains(&b"Nodes".as_slice()) {
            return Err(cursor.fail(
                "$Elements without $Nodes before it",
                "export the mesh again, with its nodes first",
            ));
        }
        seen.push(section);
        cursor.line();
        read(&mut cursor, &mut raw)?;
        cursor.expect_end(section)?;
    }
    for needed in ["Nodes", "Elements"] {
        if !seen.contains(&needed.as_bytes()) {
            return Err(cursor.fail(format!("the file has no section ${needed}"), EXPORT_AGAIN));
        }
    }
    raw.mesh(name)
}

type Reader = fn(&mut Cursor, &mut Raw) -> Result<()>;

/// What reads a section; none for those that a mesh of cells does not need.
fn reader(section: &[u8], version: Version) -> Option<Reader> {
    Some(match (section, version) {
        (b"PhysicalNames", _) => names,
        (b"Nodes", Version::V22) => v22::nodes,
        (b"Elements", Version::V22) => v22::elements,
        (b"Entities", Version::V41) => v41::entities,
        (b"Nodes", Version::V41) => v41::nodes,
        (b"Elements", Version::V41) => v41::elements,
        _ => return None,
    })
}

/// `$MeshFormat`: version, and how numbers are written from here on.
fn format(cursor: &mut Cursor) -> Result<Version> {
    let first = cursor.word();
    if first != b"$MeshFormat" {
        let what = if first.is_empty() {
            "the file is empty"
        } else {
            "this is not a Gmsh mesh: it does not begin with $MeshFormat"
        };
        return Err(cursor.fail(what, "give a mesh exported from Gmsh (MSH 4.1 or 2.2)"));
    }
    let version = match cursor.word() {
        b"2.2" => Version::V22,
        b"4.1" => Version::V41,
        other => {
            return Err(cursor.fail(
                format!("MSH version \"{}\" cannot be read", show(other)),
                "export version 4.1 or 2.2 (Mesh.MshFileVersion)",
            ));
        }
    };
    let binary = match cursor.text::<i32>("0 (ASCII) or 1 (binary)")? {
        0 => false,
        1 => true,
        other => {
            return Err(cursor.fail(
                format!("expected 0 (ASCII) or 1 (binary), found {other}"),
                EXPORT_AGAIN,
            ));
        }
    };
    let size = cursor.text::<i32>("the size of a number")?;
    if size != 8 {
        return Err(cursor.fail(
            format!("numbers of {size} bytes cannot be read"),
            "export with 8-byte numbers",
        ));
    }
    if binary {
        cursor.line();
        cursor.coding = Coding::LittleEndian;
        cursor.coding = match cursor.int("the number 1")?.to_le_bytes() {
            [1, 0, 0, 0] => Coding::LittleEndian,
            [0, 0, 0, 1] => Coding::BigEndian,
            _ => {
                return Err(cursor.fail("the byte order is not told by a 1", EXPORT_AGAIN));
            }
        };
    }
    cursor.expect_end(b"MeshFormat")?;
    Ok(version)
}

/// `$PhysicalNames`: lines of dimension, number and quoted name, in binary files too.
fn names(cursor: &mut Cursor, raw: &mut Raw) -> Result<()> {
    let count = cursor.text("a number of names")?;
    for _ in 0..cursor.fits(count, "names", 3, 6)? {
        let dim = cursor.text("a dimension")?;
        let group = cursor.text("the number of a physical group")?;
        let line = cursor.line();
        let name = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\""));
        let Some(name) = name.and_then(|name| std::str::from_utf8(name).ok()) else {
            return Err(cursor.fail(
                format!("expected a name in quotes, found \"{}\"", show(line)),
                EXPORT_AGAIN,
            ));
        };
        if raw.names.insert((dim, group), name.to_string()).is_some() {
            return Err(cursor.fail(
                format!("physical group {group} has two names, the second is \"{name}\""),
                "keep one name per physical group",
            ));
        }
    }
    Ok(())
}
