//! Wrong elements, nodes and counts, in text and in bytes.

use super::{GOOD, GOOD_41, changed, message, refused};

#[test]
fn elements() {
    for (kind, words) in [
        ("11", "type 11 (10-node tetrahedron)"),
        ("9", "type 9 (6-node triangle)"),
        ("17", "type 17 (20-node hexahedron)"),
        ("77", "unknown type 77"),
        ("-4", "unknown type -4"),
    ] {
        let text = changed(GOOD, "7 4 2 2 1", &format!("7 {kind} 2 2 1"));
        refused(&text, &["a.msh:25:", words, "first-order"]);
        let text = changed(GOOD_41, "3 1 4 2", &format!("3 1 {kind} 2"));
        refused(&text, &["a.msh:37:", words, "first-order"]);
    }
    refused(
        &changed(GOOD, "1 2 3 4\n", "1 2 3 99\n"),
        &["a.msh:25:", "element 7 uses node 99"],
    );
    refused(
        &changed(GOOD, "1 2 3 4\n", "1 2 3 0\n"),
        &["a.msh:25:", "element 7 uses node 0"],
    );
    refused(
        &changed(GOOD, "1 2 3 4\n", "1 2 3 -4\n"),
        &["a.msh:25:", "a node number -4 is negative"],
    );
    refused(
        &changed(GOOD, "1 2 3 4\n", "1 2 3 3\n"),
        &["a.msh:25:", "element 7 has node 3 twice"],
    );
    refused(
        &changed(GOOD, "1 2 3 4\n", "1 2 x 4\n"),
        &["a.msh:25:", "a node number", "\"x\""],
    );
    refused(
        &changed(GOOD, "$Elements\n8", "$Elements\n9"),
        &["a.msh:27:", "element number", "$EndElements"],
    );
    refused(
        &changed(GOOD, "$Elements\n8", "$Elements\n7"),
        &["a.msh:26:", "expected $EndElements, found \"8\""],
    );
    refused(
        &changed(GOOD_41, "2 8 1 8", "2 9 1 8"),
        &["9 elements announced, 8 found"],
    );
    refused(
        &changed(GOOD_41, "7 1 2 3 4", "7 1 2 3 6"),
        &["a.msh:38:", "element 7 uses node 6"],
    );
}

#[test]
fn nodes() {
    refused(
        &changed(GOOD, "4 0 0 1", "4 0 nan 1"),
        &["a.msh:14:", "coordinate NaN is not finite"],
    );
    refused(
        &changed(GOOD, "4 0 0 1", "4 0 1e999 1"),
        &["a.msh:14:", "coordinate inf is not finite"],
    );
    refused(
        &changed(GOOD, "4 0 0 1", "4 0 zero 1"),
        &["a.msh:14:", "expected a coordinate", "\"zero\""],
    );
    refused(
        &changed(GOOD, "4 0 0 1", "3 0 0 1"),
        &["node 3 is defined twice"],
    );
    refused(
        &changed(GOOD_41, "3 1 0 5", "3 1 2 5"),
        &["0 or 1 (parametric nodes), found 2"],
    );
    refused(
        &changed(GOOD_41, "1 5 1 5", "1 6 1 5"),
        &["6 nodes announced, 5 found"],
    );
    refused(
        &changed(GOOD_41, "\n4\n5\n0 0 0", "\n4\n4\n0 0 0"),
        &["node 4 is defined twice"],
    );
}

#[test]
fn counts_that_the_file_cannot_hold_allocate_nothing() {
    for huge in ["999999999999", "18446744073709551615"] {
        refused(
            &changed(GOOD, "$Nodes\n5", &format!("$Nodes\n{huge}")),
            &["a.msh:10:", "nodes do not fit into the"],
        );
        refused(
            &changed(GOOD, "$Elements\n8", &format!("$Elements\n{huge}")),
            &["a.msh:18:", "elements do not fit"],
        );
        refused(
            &changed(GOOD_41, "2 1 2 6", &format!("2 1 2 {huge}")),
            &["a.msh:30:", "elements do not fit"],
        );
        refused(
            &changed(GOOD_41, "1 1 1 1 1 0\n", &format!("1 1 1 {huge} 1 0\n")),
            &["physical groups do not fit"],
        );
        refused(
            &changed(GOOD_41, "0 0 1 1", &format!("0 0 1 {huge}")),
            &["entities do not fit"],
        );
    }
    refused(
        &changed(GOOD, "$Nodes\n5", "$Nodes\n-5"),
        &["a.msh:10:", "expected a count, found \"-5\""],
    );
    refused(
        &changed(GOOD, "7 4 2 2 1", "7 4 2000000000 2 1"),
        &["a.msh:25:", "tags do not fit"],
    );
}

#[test]
fn binary_files_say_the_byte() {
    let good = std::fs::read("tests/data/meshes/cube_tet_8_22b.msh").unwrap();
    let nodes = good
        .windows(12)
        .position(|w| w == b"$Nodes\n1018\n")
        .unwrap()
        + 12;
    let mut bad = good.clone();
    bad[nodes + 4 + 8..][..8].copy_from_slice(&f64::NAN.to_le_bytes());
    let text = message(&bad);
    assert!(
        text.contains(&format!("byte {}: coordinate NaN", nodes + 12)),
        "{text}"
    );
    let text = message(&good[..nodes + 100]);
    assert!(
        text.contains("1018 nodes do not fit into the 101 bytes"),
        "{text}"
    );
    let elements = good.windows(10).position(|w| w == b"$Elements\n").unwrap();
    let text = message(&good[..elements + 3000]);
    assert!(text.contains("do not fit into"), "{text}");
    let header = elements
        + good[elements + 10..]
            .iter()
            .position(|&b| b == b'\n')
            .unwrap()
        + 11;
    let mut bad = good.clone();
    bad[header..][..4].copy_from_slice(&11i32.to_le_bytes());
    let text = message(&bad);
    assert!(
        text.contains(&format!("byte {header}: elements of type 11 (10-node")),
        "{text}"
    );
    for count in [0i32, -1, 1 << 30, 6000] {
        let mut bad = good.clone();
        bad[header + 4..][..4].copy_from_slice(&count.to_le_bytes());
        assert!(
            message(&bad).contains(&format!("byte {}", header + 4)),
            "{count}"
        );
    }
    let good = std::fs::read("tests/data/meshes/cube_tet_8_41b.msh").unwrap();
    let text = message(&good[..good.len() - 60]);
    assert!(
        text.contains("do not fit") || text.contains("end of the file"),
        "{text}"
    );
    let text = message(&good[..good.len() - 14]);
    assert!(
        text.contains("expected $EndElements, found the end"),
        "{text}"
    );
}
