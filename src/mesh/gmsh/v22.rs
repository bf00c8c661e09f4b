//! `$Nodes` and `$Elements` of MSH 2.2.

use crate::Result;
use crate::mesh::gmsh::cursor::{Coding, Cursor, EXPORT_AGAIN};
use crate::mesh::gmsh::raw::Raw;

/// A 4-byte number that must not be negative.
fn tag(cursor: &mut Cursor, what: &str) -> Result<u64> {
    let value = cursor.int(what)?;
    u64::try_from(value)
        .map_err(|_| cursor.fail(format!("{what} {value} is negative"), EXPORT_AGAIN))
}

/// The count is text in binary files too.
fn count(cursor: &mut Cursor, what: &str, words: usize, bytes: usize) -> Result<usize> {
    let count = cursor.text("a count")?;
    let count = cursor.fits(count, what, words, bytes)?;
    cursor.line();
    Ok(count)
}

pub(crate) fn nodes(cursor: &mut Cursor, raw: &mut Raw) -> Result<()> {
    for _ in 0..count(cursor, "nodes", 4, 28)? {
        let tag = tag(cursor, "a node number")?;
        raw.add_tag(tag);
        raw.add_point(cursor)?;
    }
    raw.finish_nodes(cursor)
}

pub(crate) fn elements(cursor: &mut Cursor, raw: &mut Raw) -> Result<()> {
    let count = count(cursor, "elements", 4, 8)?;
    let mut done = 0;
    while done < count {
        // Binary files share one header among elements of a type.
        let mut follow = 1;
        let mut id = 0;
        if cursor.coding == Coding::Ascii {
            id = tag(cursor, "an element number")?;
        }
        let element_type = cursor.int("an element type")?;
        let shape = Raw::shape(cursor, element_type)?;
        if cursor.coding != Coding::Ascii {
            let value = tag(cursor, "a number of elements")?;
            follow = cursor.fits(value, "elements", 1, 4 * (1 + shape.nodes()))?;
            if follow == 0 || follow > count - done {
                return Err(cursor.fail(
                    format!(
                        "a block of {follow} elements where {} are left",
                        count - done
                    ),
                    EXPORT_AGAIN,
                ));
            }
        }
        let tags = tag(cursor, "a number of tags")?;
        let tags = cursor.fits(tags, "tags", 1, 4)?;
        for _ in 0..follow {
            if cursor.coding != Coding::Ascii {
                id = tag(cursor, "an element number")?;
            }
            let mut group = 0;
            for i in 0..tags {
                let value = cursor.int("a tag")?;
                if i == 0 {
                    // Gmsh writes a reversed surface's group with a minus sign.
                    group = value.saturating_abs();
                }
            }
            raw.add_element(cursor, shape, id, group, |c| tag(c, "a node number"))?;
        }
        done += follow;
    }
    Ok(())
}
