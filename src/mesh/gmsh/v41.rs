//! `$Entities`, `$Nodes` and `$Elements` of MSH 4.1.

use crate::Result;
use crate::mesh::gmsh::cursor::{Cursor, EXPORT_AGAIN};
use crate::mesh::gmsh::raw::Raw;
use crate::mesh::gmsh::shape::Shape;

pub(crate) fn entities(cursor: &mut Cursor, raw: &mut Raw) -> Result<()> {
    let mut counts = [0; 4];
    for (dim, count) in counts.iter_mut().enumerate() {
        let value = cursor.size("a number of entities")?;
        let numbers = if dim == 0 { 3 } else { 6 };
        *count = cursor.fits(value, "entities", 2 + numbers, 12 + 8 * numbers)?;
    }
    for (dim, count) in counts.into_iter().enumerate() {
        for _ in 0..count {
            let tag = cursor.int("an entity number")?;
            for _ in 0..if dim == 0 { 3 } else { 6 } {
                cursor.real("a coordinate")?;
            }
            let groups = list(cursor, "physical groups")?;
            if dim > 0 {
                list(cursor, "bounding entities")?;
            }
            if dim == 2 {
                raw.surface_groups.insert(tag, groups);
            }
        }
    }
    Ok(())
}

/// A counted list of numbers; signs tell orientation and are dropped.
fn list(cursor: &mut Cursor, what: &str) -> Result<Vec<i32>> {
    let count = cursor.size(what)?;
    let count = cursor.fits(count, what, 1, 4)?;
    (0..count)
        .map(|_| Ok(cursor.int(what)?.saturating_abs()))
        .collect()
}

/// Numbers of blocks and of things in all; the smallest and largest number are skipped.
fn section(cursor: &mut Cursor, what: &str, bytes: usize) -> Result<(usize, usize)> {
    let blocks = cursor.size("a number of blocks")?;
    let blocks = cursor.fits(blocks, "blocks", 4, 20)?;
    let total = cursor.size(what)?;
    let total = cursor.fits(total, what, bytes / 8, bytes)?;
    cursor.size("the smallest number")?;
    cursor.size("the largest number")?;
    Ok((blocks, total))
}

fn check_total(cursor: &Cursor, what: &str, total: usize, found: usize) -> Result<()> {
    if total == found {
        return Ok(());
    }
    Err(cursor.fail(
        format!("{total} {what} announced, {found} found"),
        EXPORT_AGAIN,
    ))
}

pub(crate) fn nodes(cursor: &mut Cursor, raw: &mut Raw) -> Result<()> {
    let (blocks, total) = section(cursor, "nodes", 32)?;
    let mut found = 0;
    for _ in 0..blocks {
        let dim = cursor.int("a dimension")?;
        cursor.int("an entity number")?;
        let parameters = match (cursor.int("0 or 1 (parametric)")?, dim) {
            (0, _) => 0,
            (1, 0..=3) => dim,
            (value, _) => {
                return Err(cursor.fail(
                    format!("expected 0 or 1 (parametric nodes), found {value} in dimension {dim}"),
                    EXPORT_AGAIN,
                ));
            }
        };
        let count = cursor.size("a number of nodes")?;
        let count = cursor.fits(count, "nodes", 4, 32)?;
        for _ in 0..count {
            let tag = cursor.size("a node number")?;
            raw.add_tag(tag);
        }
        for _ in 0..count {
            raw.add_point(cursor)?;
            for _ in 0..parameters {
                cursor.real("a parameter")?;
            }
        }
        found += count;
    }
    check_total(cursor, "nodes", total, found)?;
    raw.finish_nodes(cursor)
}

pub(crate) fn elements(cursor: &mut Cursor, raw: &mut Raw) -> Result<()> {
    let (blocks, total) = section(cursor, "elements", 16)?;
    let mut found = 0;
    for _ in 0..blocks {
        cursor.int("a dimension")?;
        let entity = cursor.int("an entity number")?;
        let element_type = cursor.int("an element type")?;
        let shape = Raw::shape(cursor, element_type)?;
        let group = match shape {
            Shape::Surface { .. } => surface_group(cursor, raw, entity)?,
            _ => 0,
        };
        let count = cursor.size("a number of elements")?;
        let each = 1 + shape.nodes();
        let count = cursor.fits(count, "elements", each, 8 * each)?;
        for _ in 0..count {
            let id = cursor.size("an element number")?;
            raw.add_element(cursor, shape, id, group, |c| c.size("a node number"))?;
        }
        found += count;
    }
    check_total(cursor, "elements", total, found)
}

/// The one physical group of a surface; 0 if it has none.
fn surface_group(cursor: &Cursor, raw: &Raw, entity: i32) -> Result<i32> {
    match raw.surface_groups.get(&entity).map(Vec::as_slice) {
        None | Some([]) => Ok(0),
        Some([group]) => Ok(*group),
        Some([a, b, ..]) => {
            let name = |group: &i32| match raw.names.get(&(2, *group)) {
                Some(name) => format!("\"{name}\""),
                None => format!("{group}"),
            };
            Err(cursor.fail(
                format!(
                    "surface {entity} is in two physical groups, {} and {}",
                    name(a),
                    name(b)
                ),
                "put each surface in one physical group only",
            ))
        }
    }
}
