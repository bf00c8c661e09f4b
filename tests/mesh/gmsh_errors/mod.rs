//! Every way in which a Gmsh file can be wrong: one message, with its place and remedy.

mod numbers;

use std::path::Path;

use couloir::Error;
use couloir::mesh::{Geometry, check, gmsh};

/// Two tetrahedra under one named surface: MSH 2.2, ASCII.
const GOOD: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat
$PhysicalNames\n2\n2 1 \"walls\"\n3 2 \"fluid\"\n$EndPhysicalNames
$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes
$Elements\n8
1 2 2 1 1 1 2 3\n2 2 2 1 1 1 2 4\n3 2 2 1 1 1 3 4
4 2 2 1 1 5 2 3\n5 2 2 1 1 5 2 4\n6 2 2 1 1 5 3 4
7 4 2 2 1 1 2 3 4\n8 4 2 2 1 2 3 4 5\n$EndElements\n";

/// The same as MSH 4.1.
const GOOD_41: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat
$PhysicalNames\n2\n2 1 \"walls\"\n3 2 \"fluid\"\n$EndPhysicalNames
$Entities\n0 0 1 1\n1 0 0 0 1 1 1 1 1 0\n1 0 0 0 1 1 1 1 2 1 1\n$EndEntities
$Nodes\n1 5 1 5\n3 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes
$Elements\n2 8 1 8\n2 1 2 6
1 1 2 3\n2 1 2 4\n3 1 3 4\n4 5 2 3\n5 5 2 4\n6 5 3 4
3 1 4 2\n7 1 2 3 4\n8 2 3 4 5\n$EndElements\n";

/// The message for `text`, which must have a place in the file, a remedy and exit code 2.
fn message(text: &[u8]) -> String {
    let error = gmsh::parse(text, "a.msh").unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(matches!(&error, Error::Input { place, remedy, .. }
        if place.starts_with("a.msh") && !remedy.is_empty()));
    let message = error.to_string();
    assert!(!message.contains('\n') && message.len() < 400, "{message}");
    message
}

fn refused(text: &str, words: &[&str]) {
    let message = message(text.as_bytes());
    assert!(
        words.iter().all(|w| message.contains(w)),
        "{message}\n{words:?}"
    );
}

/// `GOOD` or `GOOD_41` with one text replaced, once.
fn changed(good: &str, from: &str, to: &str) -> String {
    assert!(good.contains(from), "{from}");
    good.replacen(from, to, 1)
}

#[test]
fn the_examples_are_good() {
    for text in [GOOD, GOOD_41] {
        let mesh = gmsh::parse(text.as_bytes(), "a.msh").unwrap();
        assert_eq!((mesh.cells(), mesh.interior_faces()), (2, 1));
        assert_eq!(mesh.patch("walls").unwrap().faces, 1..7);
        assert_eq!(mesh.cell_ids, [7, 8]);
        check(&mesh, &Geometry::of(&mesh)).unwrap();
    }
    // Unknown sections and Windows line ends do no harm.
    let more = changed(GOOD, "$Nodes", "$Comments\n1 2 $ 3\n$EndComments\n$Nodes");
    gmsh::parse(more.replace('\n', "\r\n").as_bytes(), "a.msh").unwrap();
    // Numbers with gaps, in any order; nodes that no element uses.
    let gaps = GOOD
        .replace("\n5 1 1 1", "\n70 1 1 1\n9 3 3 3")
        .replace("$Nodes\n5", "$Nodes\n6")
        .replace("1 1 5 ", "1 1 70 ")
        .replace("2 3 4 5\n", "2 3 4 70\n");
    assert_eq!(
        gmsh::parse(gaps.as_bytes(), "a.msh").unwrap().points.len(),
        5
    );
}

#[test]
fn files_that_cannot_be_opened() {
    for path in ["tests/data/meshes/absent.msh", "tests"] {
        let error = gmsh::read(Path::new(path)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with(path) && text.contains("path of a Gmsh mesh"),
            "{text}"
        );
    }
}

#[test]
fn headers() {
    refused("", &["a.msh:1: the file is empty", "Gmsh"]);
    refused(" \n\n", &["the file is empty"]);
    refused(
        "solid cube\n",
        &["a.msh:1:", "not a Gmsh mesh", "$MeshFormat"],
    );
    let garbage: Vec<u8> = (0..4000u32).map(|i| ((i * 7919) >> 3) as u8).collect();
    assert!(message(&garbage).contains("not a Gmsh mesh"));
    refused(
        &changed(GOOD, "2.2 0 8", "4.0 0 8"),
        &["a.msh:2:", "MSH version \"4.0\"", "4.1 or 2.2"],
    );
    refused(
        &changed(GOOD, "2.2 0 8", "2.2 7 8"),
        &["a.msh:2:", "0 (ASCII) or 1 (binary)", "7"],
    );
    refused(
        &changed(GOOD, "2.2 0 8", "2.2 0 4"),
        &["numbers of 4 bytes"],
    );
    refused(
        "$MeshFormat\n2.2 1 8\n\u{7}\u{7}\u{7}\u{7}\n",
        &["a.msh: byte 20", "byte order"],
    );
    refused(
        "$MeshFormat\n2.2 0 8\n",
        &["expected $EndMeshFormat, found the end of the file"],
    );
}

#[test]
fn sections() {
    refused(
        &changed(GOOD, "$Nodes", "Nodes"),
        &["a.msh:9:", "expected a section", "\"Nodes\""],
    );
    refused(
        &changed(GOOD, "$EndNodes", ""),
        &["a.msh:17:", "expected $EndNodes", "\"$Elements\""],
    );
    refused(&format!("{GOOD}$Nodes\n"), &["$Nodes comes twice"]);
    refused(
        &format!("{GOOD}$Comments\nx\n"),
        &["section $Comments does not end"],
    );
    refused(
        &changed(GOOD_41, "$Entities", "$PartitionedEntities"),
        &["partitioned"],
    );
    let (before, nodes_on) = GOOD.split_at(GOOD.find("$Nodes").unwrap());
    let (_, elements) = nodes_on.split_at(nodes_on.find("$Elements").unwrap());
    refused(
        &format!("{before}{elements}"),
        &["a.msh:9:", "$Elements without $Nodes"],
    );
    refused(before, &["no section $Nodes"]);
    let before = GOOD.split_at(GOOD.find("$Elements").unwrap()).0;
    refused(before, &["no section $Elements"]);
}

#[test]
fn names() {
    refused(
        &changed(GOOD, "$PhysicalNames\n2", "$PhysicalNames\nx"),
        &["a.msh:5:", "number of names", "\"x\""],
    );
    refused(
        &changed(GOOD, "\"walls\"", "walls"),
        &["a.msh:6:", "name in quotes", "walls"],
    );
    refused(
        &changed(GOOD, "3 2 \"fluid\"", "2 1 \"fluid\""),
        &["a.msh:7:", "group 1 has two names", "fluid"],
    );
    refused(
        &changed(GOOD, "2 1 \"walls\"", "2 9 \"walls\""),
        &["physical surface 1 has no name", "Physical Surface"],
    );
    refused(
        &changed(GOOD, "\"walls\"", "\"\""),
        &["physical surface 1 has no name"],
    );
    let twins = changed(GOOD, "3 2 \"fluid\"", "2 2 \"walls\"").replace("6 2 2 1 1 ", "6 2 2 2 1 ");
    refused(&twins, &["two physical surfaces are called \"walls\""]);
}

#[test]
fn boundary_faces_have_exactly_one_name() {
    let none = GOOD.replace("2 2 1 1 5", "2 2 0 1 5");
    refused(
        &none,
        &[
            "a.msh: 3 boundary faces have no name",
            "element 8",
            "named physical surface",
        ],
    );
    let fewer = changed(GOOD, "4 2 2 1 1 5 2 3\n", "").replace("$Elements\n8", "$Elements\n7");
    refused(
        &fewer,
        &[
            "1 boundary faces have no name",
            "(0.666667, 0.666667, 0.333333)",
        ],
    );
    let two_names = changed(GOOD, "3 2 \"fluid\"", "2 2 \"lid\"");
    let two = changed(&two_names, "$Elements\n8", "$Elements\n9")
        .replace("7 4 2", "9 2 2 2 1 3 2 1\n7 4 2");
    refused(
        &two,
        &["two names", "\"walls\"", "\"lid\"", "one physical group"],
    );
    let twice =
        changed(GOOD, "$Elements\n8", "$Elements\n9").replace("7 4 2", "9 2 2 1 1 3 2 1\n7 4 2");
    refused(&twice, &["\"walls\"", "listed twice"]);
    let inner =
        changed(GOOD, "$Elements\n8", "$Elements\n9").replace("7 4 2", "9 2 2 1 1 2 3 4\n7 4 2");
    refused(
        &inner,
        &[
            "\"walls\"",
            "inside the mesh, between element 7 and element 8",
        ],
    );
    let loose =
        changed(GOOD, "$Elements\n8", "$Elements\n9").replace("7 4 2", "9 2 2 1 1 1 2 5\n7 4 2");
    refused(&loose, &["\"walls\"", "not a side of any cell"]);
    // MSH 4.1 says it in $Entities.
    let groups = changed(GOOD_41, "1 1 1 1 1 0\n", "1 1 1 2 1 2 0\n");
    refused(
        &groups,
        &["surface 1 is in two physical groups, \"walls\" and 2"],
    );
    let none = changed(GOOD_41, "1 1 1 1 1 0\n", "1 1 1 0 0\n");
    refused(&none, &["6 boundary faces have no name"]);
}

#[test]
fn cells_listed_twice_or_not_at_all() {
    let more = |cell: &str| {
        changed(GOOD, "$Elements\n8", "$Elements\n9").replace("8 4 2", &format!("{cell}\n8 4 2"))
    };
    let twice = more("9 4 2 2 1 2 1 3 4");
    refused(
        &twice,
        &[
            "element 7 and element 9 are the same cell",
            "one physical group",
        ],
    );
    let third = more("9 4 2 2 1 2 3 4 6").replace("$Nodes\n5", "$Nodes\n6\n6 2 2 2");
    refused(
        &third,
        &["3 cells share one face", "element 7, element 9, element 8"],
    );
    let flat = GOOD.replace("$Elements\n8", "$Elements\n6");
    let flat = flat.split_at(flat.find("7 4 2").unwrap()).0.to_string() + "$EndElements\n";
    refused(
        &flat,
        &[
            "a.msh: the mesh has no volume elements (6 surface elements)",
            "three dimensions",
        ],
    );
    let inverted = changed(GOOD, "7 4 2 2 1 1 2 3 4", "7 4 2 2 1 2 1 3 4");
    let mesh = gmsh::parse(inverted.as_bytes(), "a.msh").unwrap();
    let text = check(&mesh, &Geometry::of(&mesh)).unwrap_err().to_string();
    assert!(
        text.contains("a.msh: element 7 (tetrahedron)") && text.contains("volume -1.6"),
        "{text}"
    );
}
