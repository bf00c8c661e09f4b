//! What a matrix must be.

use crate::kernel::MAX_PLANES;
use crate::kernel::mat::FLAGS;
use crate::{Error, Result};

/// Entries of a row, at most: its steps are counted beside flags.
const MOST_OF_A_ROW: usize = !FLAGS as usize - 1;

/// Refuses planes of a pattern that is not one, or that the format has no room for.
pub(super) fn check(
    rows: usize,
    cols: usize,
    row_ptr: &[usize],
    col: &[u32],
    planes: &[&[f64]],
) -> Result<()> {
    let entries = row_ptr.windows(2).map(|w| w[1].saturating_sub(w[0]));
    if let Some(entries) = entries.max().filter(|&n| n > MOST_OF_A_ROW) {
        return Err(Error::input(
            "the matrix",
            format!("a row has {entries} entries, of which {MOST_OF_A_ROW} may be"),
            "make several rows of it",
        ));
    }
    let ordered = row_ptr.windows(2).all(|w| w[0] <= w[1]) && row_ptr.len() == rows + 1;
    let sound = ordered
        && row_ptr.first() == Some(&0)
        && row_ptr.last() == Some(&col.len())
        && planes.len() <= MAX_PLANES
        && planes.iter().all(|p| p.len() == col.len())
        && row_ptr.windows(2).all(|w| {
            let row = &col[w[0]..w[1]];
            row.windows(2).all(|c| c[0] < c[1]) && row.last().is_none_or(|&j| (j as usize) < cols)
        });
    if sound {
        return Ok(());
    }
    Err(Error::failure(
        "a matrix has columns or row pointers out of range or order",
        "report this as a defect",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_more_steps_than_can_be_counted_are_refused() {
        let refused = |entries| check(1, 1, &[0, entries], &[], &[]).unwrap_err();
        let error = refused(MOST_OF_A_ROW + 1);
        let too_long = error.to_string();
        assert!(too_long.contains("67108863 entries"), "{too_long}");
        assert!(too_long.contains("several rows"), "{too_long}");
        assert_eq!(error.exit_code(), 2);
        // Else what is wrong here is that there are no such entries.
        assert!(refused(MOST_OF_A_ROW).to_string().contains("out of range"));
        assert!(check(1, 1, &[0, 1], &[0], &[]).is_ok());
    }
}
