//! Matrices whose values are computed as they are applied.

use super::*;
use crate::kernel::SLICE;
use crate::kernel::convect;
use crate::kernel::mat::{FLAGS, FULL, PACKED};
use crate::split::check::random_case;

/// Slices of one step by themselves, of packed rows and of others: there is code for each.
#[test]
fn random_rows_of_elements_are_of_all_kinds() {
    let alone = Config {
        device: DeviceChoice::None,
        ..Config::default()
    };
    let node = Node::open(&alone).unwrap();
    let mut seen = [0; 3];
    for seed in 0..4 {
        let case = random_case::<f64>(&node, convect::kernel(), 4 * BLOCK, seed).unwrap();
        let rows = case.mats[1].view(false, true).unwrap();
        let elements = (0..rows.slices.len() - 1).map(|slice| slice * SLICE);
        for (e, &[_, _, steps, flags]) in elements.zip(rows.slices) {
            let one = steps == 0x100 && flags & FULL != 0;
            // There the CPU has a path of its own.
            assert_eq!(rows.single(e).is_some(), one && flags & !FLAGS == 0);
            if let Some((value, column)) = rows.single(e) {
                for l in 0..SLICE {
                    let entries: Vec<_> = rows.row(e + l).collect();
                    assert!(matches!(entries[..], [(at, j)] if j == column + l
                        && rows.planes[0][at] == value));
                }
            }
            let kinds = [one, flags & PACKED != 0, steps & 0xffff == 0 && steps > 0];
            for (seen, is) in seen.iter_mut().zip(kinds) {
                *seen += usize::from(is);
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
}

/// The self-check refuses a device that takes the wrong value of a slice of one step, that forgets the
/// values that are given, or that counts elements from elsewhere.
#[test]
fn a_device_that_computes_elements_wrongly_is_refused() {
    let Some(device) = device() else {
        return;
    };
    for (right, wrong) in [
        ("own + t", "t"),
        (
            "OWN_VALUE(v, values, e, first)",
            "OWN_VALUE(v, values, e, first - 1)",
        ),
        ("c_slices", "a_slices"),
    ] {
        let kernel = mistaken(convect::kernel(), right, wrong);
        // Only work-items of one row have a way of their own for slices of one step.
        if right == "c_slices" && Tuning::of(&device).unwrap().vector > 1 {
            eprintln!("SKIPPED: {right}: no device of one row per work-item");
            continue;
        }
        let refused = open(DeviceChoice::Index(device.index), &[kernel]);
        let text = refused.map(|_| ()).unwrap_err().to_string();
        assert!(text.contains("convect miscomputes"), "{right}: {text}");
    }
}
