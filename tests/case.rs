//! Case files: each wrong one is refused with file, line, key and remedy.

use std::path::{Path, PathBuf};

use couloir::flow::case::{
    Boundary, Case, Device, InitialField, MeshSource, Override, Split, StepSize, Threads,
};

const GOOD: &str = r#"
[mesh]
file = "meshes/box.msh"

[fluid]
viscosity = 1e-3

[time]
end = 2
max_courant = 0.5

[boundary.lid]
type = "wall"
velocity = [1, 0, 0]

[boundary.left]
type = "periodic"
with = "right"

[boundary.right]
type = "periodic"
with = "left"

[output]
interval = 0.5
profiles = [
  { name = "u", component = "x", from = [0.5, 0, 0], to = [0.5, 1, 0], reference = "ghia-100" },
]
"#;

fn parse(text: &str, sets: &[(&str, &str)]) -> couloir::Result<Case> {
    let overrides: Vec<Override> = sets
        .iter()
        .map(|(key, value)| Override::new(key, value, &format!("--set {key}={value}")))
        .collect();
    Case::parse(text, Path::new("cases/box.toml"), &overrides)
}

/// The message with which `text` is refused; bad input must lead to exit code 2.
fn refusal(text: &str, sets: &[(&str, &str)]) -> String {
    let error = parse(text, sets).expect_err("this must be refused");
    assert_eq!(error.exit_code(), 2, "{error}");
    error.to_string()
}

#[test]
fn a_good_case_is_read() {
    let case = parse(GOOD, &[]).unwrap();
    assert_eq!(case.name, "box");
    assert_eq!(case.mesh, MeshSource::File("cases/meshes/box.msh".into()));
    assert_eq!(case.time.end_s, 2.0);
    assert_eq!(case.time.step, StepSize::Courant { max: 0.5 });
    let lid = Boundary::Wall {
        velocity: [1.0, 0.0, 0.0],
    };
    assert_eq!(case.boundary["lid"], lid);
    assert_eq!(case.output.directory, PathBuf::from("out/box"));
    assert_eq!(case.output.profiles[0].points, 101);
    assert_eq!(case.node.device, Device::Auto);
    assert_eq!(
        case.place("fluid.viscosity"),
        "cases/box.toml:6: fluid.viscosity"
    );
    assert_eq!(
        case.place("boundary.lid.type"),
        "cases/box.toml:13: boundary.lid.type"
    );
    assert_eq!(
        case.place("poisson.tolerance"),
        "cases/box.toml: poisson.tolerance"
    );
}

#[test]
fn overrides_replace_keys_and_are_checked() {
    let sets = [
        ("time.dt", "1e-3"),
        ("initial.field", "taylor-green-2d"),
        ("node.split", "0.25"),
        ("node.threads", "3"),
        ("node.device", "none"),
        ("boundary.lid.velocity", "[2, 0, 0]"),
        ("mesh.file", "2d.msh"),
    ];
    let case = parse(GOOD, &sets).unwrap();
    assert_eq!(case.time.step, StepSize::Fixed { dt_s: 1e-3 });
    assert_eq!(case.initial.field, InitialField::TaylorGreen2d);
    assert_eq!(case.node.split, Split::Fixed(0.25));
    assert_eq!(case.node.threads, Threads::Count(3));
    assert_eq!(case.node.device, Device::None);
    let lid = Boundary::Wall {
        velocity: [2.0, 0.0, 0.0],
    };
    assert_eq!(case.boundary["lid"], lid);
    // On the command line a path is relative to the working folder.
    assert_eq!(case.mesh, MeshSource::File("2d.msh".into()));

    for (set, place, what) in [
        (
            ("fluid.viscosity", "-1"),
            "--set fluid.viscosity=-1: ",
            "-1 is out of range",
        ),
        (
            ("fluid.viscosity", "thick"),
            "--set fluid.viscosity=thick: ",
            "give a number",
        ),
        (
            ("fluid.viscocity", "1"),
            "--set fluid.viscocity=1: ",
            "it is called viscosity here",
        ),
        (("fluid", "1"), "--set fluid=1: ", "give a section"),
        (
            ("mesh.box.cells", "[1, 2"),
            "--set mesh.box.cells=[1, 2: ",
            "KEY=VALUE",
        ),
        (
            ("fluid viscosity", "1"),
            "--set fluid viscosity=1: ",
            "KEY=VALUE",
        ),
        (
            ("fluid.viscosity", "1\n[x]"),
            "--set fluid.viscosity=1\n[x]: ",
            "line break",
        ),
        (
            ("node.split", "1.5"),
            "--set node.split=1.5: ",
            "the device's share from 0 to 1",
        ),
        (
            ("node.split", "half"),
            "--set node.split=half: ",
            "\"auto\"",
        ),
        (
            ("node.device", "-1"),
            "--set node.device=-1: ",
            "`couloir devices`",
        ),
        (("node.threads", "0"), "--set node.threads=0: ", "1 or more"),
        (("time.steps", "0"), "--set time.steps=0: ", "1 or more"),
    ] {
        let message = refusal(GOOD, &[set]);
        assert!(message.starts_with(place), "{message}");
        assert!(message.contains(what), "{message}");
    }
}

/// `GOOD` with `old` replaced is refused: at the place, with the words.
fn refused(old: &str, new: &str, place: &str, words: &[&str]) {
    assert!(GOOD.contains(old), "{old}");
    let message = refusal(&GOOD.replacen(old, new, 1), &[]);
    assert!(message.starts_with(place), "{message}\nis not at {place}");
    for word in words {
        assert!(message.contains(word), "{message}\nlacks {word}");
    }
}

#[test]
fn unknown_keys_and_names_get_a_suggestion() {
    let at = |line, key| format!("cases/box.toml:{line}: {key}: ");
    let cases = [
        (
            "viscosity =",
            "viscocity =",
            at(6, "fluid.viscocity"),
            "called viscosity here",
        ),
        (
            "end = 2",
            "endTime = 2",
            at(9, "time.endTime"),
            "did you mean end?",
        ),
        (
            "max_courant",
            "maxCo",
            at(10, "time.maxCo"),
            "did you mean max_courant?",
        ),
        (
            "[fluid]",
            "[fluids]",
            at(5, "fluids"),
            "did you mean fluid?",
        ),
        (
            "\"wall\"",
            "\"walls\"",
            at(13, "boundary.lid.type"),
            "did you mean wall?",
        ),
        (
            "\"wall\"",
            "\"plunger\"",
            at(13, "boundary.lid.type"),
            "inlet, outlet, slip",
        ),
        (
            "ghia-100",
            "ghia",
            at(27, "output.profiles[0].reference"),
            "ghia-1000",
        ),
        (
            "name =",
            "label =",
            at(27, "output.profiles[0].label"),
            "component",
        ),
    ];
    for (old, new, place, word) in cases {
        refused(old, new, &place, &[word]);
    }
}

#[test]
fn wrong_types_and_syntax_are_placed() {
    for (old, new, place, word) in [
        (
            "1e-3",
            "\"thin\"",
            "cases/box.toml:6: fluid.viscosity: ",
            "give a number",
        ),
        (
            "[1, 0, 0]",
            "[1, 0]",
            "cases/box.toml:14: boundary.lid.velocity: ",
            "three numbers",
        ),
        (
            "[1, 0, 0]",
            "1",
            "cases/box.toml:14: boundary.lid.velocity: ",
            "three numbers",
        ),
        (
            "\"meshes/box.msh\"",
            "3",
            "cases/box.toml:3: mesh.file: ",
            "text in quotes",
        ),
        (
            "end = 2",
            "end = 2\nsteps = -1",
            "cases/box.toml:10: time.steps: ",
            "whole number",
        ),
        (
            "end = 2",
            "end = 2\nsteps = 1.5",
            "cases/box.toml:10: time.steps: ",
            "whole number",
        ),
        ("end = 2", "end = ", "cases/box.toml:9:", "correct the TOML"),
        ("[fluid]", "[fluid", "cases/box.toml:5:", "correct the TOML"),
        (
            "end = 2",
            "end = 2\nend = 3",
            "cases/box.toml:10:",
            "duplicate key",
        ),
    ] {
        refused(old, new, place, &[word]);
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let at = |line: usize, key: &str| format!("cases/box.toml:{line}: {key}: ");
    for (old, new, place, word) in [
        ("1e-3", "-1e-3", at(6, "fluid.viscosity"), "0 or more"),
        ("1e-3", "nan", at(6, "fluid.viscosity"), "0 or more"),
        ("end = 2", "end = inf", at(9, "time.end"), "more than 0"),
        ("end = 2", "end = 0", at(9, "time.end"), "more than 0"),
        (
            "max_courant = 0.5",
            "max_courant = 0",
            at(10, "time.max_courant"),
            "more than 0",
        ),
        (
            "max_courant = 0.5",
            "dt = -1e-3",
            at(10, "time.dt"),
            "more than 0",
        ),
        (
            "max_courant = 0.5",
            "",
            at(8, "time"),
            "add dt or max_courant",
        ),
        ("end = 2", "dt = 1", at(8, "time"), "keep one"),
        ("end = 2", "", at(8, "time"), "add end (seconds) or steps"),
        (
            "[1, 0, 0]",
            "[inf, 0, 0]",
            at(14, "boundary.lid.velocity"),
            "finite",
        ),
        (
            "interval = 0.5",
            "interval = 0",
            at(25, "output.interval"),
            "more than 0",
        ),
        (
            "name = \"u\"",
            "name = \"../u\"",
            at(27, "output.profiles[0].name"),
            "letters",
        ),
        (
            "to = [0.5, 1,",
            "to = [0.5, 0,",
            at(27, "output.profiles[0].to"),
            "differ",
        ),
        (
            "reference",
            "points = 1, reference",
            at(27, "output.profiles[0].points"),
            "2 to",
        ),
        (
            "[output]",
            "[poisson]\ntolerance = 2\n[output]",
            at(25, "poisson.tolerance"),
            "than 1",
        ),
        (
            "[output]",
            "[poisson]\nmax_iterations = 0\n[output]",
            at(25, "poisson.max_"),
            "1 or",
        ),
        (
            "[output]",
            "[force]\nacceleration = [nan,0,0]\n[output]",
            at(25, "force.acc"),
            "finite",
        ),
        (
            "[output]",
            "[node]\nnameplate_watts = 0\n[output]",
            at(25, "node.name"),
            "more than 0",
        ),
        (
            "[output]",
            "[initial]\nfield = \"uniform\"\n[output]",
            at(25, "initial.field"),
            "add vel",
        ),
        (
            "[output]",
            "[initial]\nvelocity = [1,0,0]\n[output]",
            at(25, "initial.vel"),
            "uniform",
        ),
    ] {
        let place = place.trim_end_matches(": ");
        refused(old, new, place, &[word]);
    }
}

#[test]
fn sections_must_be_there_and_fit_together() {
    let at = |line: usize, key: &str| format!("cases/box.toml:{line}: {key}: ");
    for (old, new, place, word) in [
        (
            "[fluid]\nviscosity = 1e-3\n",
            "",
            "cases/box.toml: ".to_owned(),
            "[fluid] is missing",
        ),
        (
            "viscosity = 1e-3",
            "",
            at(5, "fluid"),
            "the key viscosity is missing",
        ),
        ("file = \"meshes/box.msh\"", "", at(2, "mesh"), "add file"),
        (
            "[fluid]",
            "box = { cells = [1, 1, 1] }\n[fluid]",
            at(2, "mesh"),
            "keep one",
        ),
        (
            "with = \"right\"",
            "with = \"rigth\"",
            at(18, "boundary.left.with"),
            "no [boundary.rigth]",
        ),
        (
            "with = \"right\"",
            "with = \"left\"",
            at(18, "boundary.left.with"),
            "own partner",
        ),
        (
            "with = \"right\"",
            "with = \"lid\"",
            at(18, "boundary.left.with"),
            "\"lid\" is not periodic",
        ),
        ("with = \"right\"", "", at(16, "boundary.left"), "add with"),
        (
            "\"wall\"",
            "\"slip\"",
            at(12, "boundary.lid"),
            "type \"slip\" has no key velocity",
        ),
        (
            "\"wall\"\nvelocity = [1, 0, 0]",
            "\"inlet\"",
            at(12, "boundary.lid"),
            "add velocity",
        ),
        (
            "\"wall\"\nvelocity = [1, 0, 0]",
            "\"exact\"",
            at(12, "boundary.lid"),
            "add solution",
        ),
        (
            "type = \"wall\"\n",
            "",
            at(12, "boundary.lid"),
            "the key type is missing",
        ),
    ] {
        refused(old, new, &place, &[word]);
    }
    let third = "[boundary.far]\ntype = \"periodic\"\nwith = \"left\"\n[output]";
    let place = at(26, "boundary.far.with");
    refused(
        "[output]",
        third,
        &place,
        &["\"left\" is periodic with \"right\""],
    );
    let twin =
        "{ name = \"u\", component = \"y\", from = [0, 0, 0], to = [1, 0, 0] },\n  { name = \"u\"";
    let place = at(28, "output.profiles[1].name");
    refused(
        "{ name = \"u\"",
        twin,
        &place,
        &["a second profile is called \"u\""],
    );
}

#[test]
fn a_box_must_have_cells_and_volume() {
    let case =
        |shape: &str| GOOD.replace("file = \"meshes/box.msh\"", &format!("box = {{ {shape} }}"));
    assert!(parse(&case("cells = [2, 3, 4], stretch = [0, 2, 0]"), &[]).is_ok());
    for (shape, key, word) in [
        ("cells = [2, 0, 4]", "mesh.box.cells", "1 or more"),
        ("cells = [2, -1, 4]", "mesh.box.cells", "whole number"),
        (
            "cells = [9999, 9999, 9999]",
            "mesh.box.cells",
            "more than one mesh",
        ),
        (
            "cells = [2, 2, 2], max = [1, 0, 1]",
            "mesh.box",
            "no volume",
        ),
        (
            "cells = [2, 2, 2], min = [inf, 0, 1]",
            "mesh.box.min",
            "finite",
        ),
        (
            "cells = [2, 2, 2], stretch = [0, -1, 0]",
            "mesh.box.stretch",
            "0 (uniform) to 8",
        ),
        (
            "cells = [2, 2, 2], shape = \"cubes\"",
            "mesh.box.shape",
            "hexahedra, prisms",
        ),
        ("shape = \"prisms\"", "mesh.box", "the key cells is missing"),
    ] {
        let message = refusal(&case(shape), &[]);
        let place = format!("cases/box.toml:3: {key}");
        assert!(message.starts_with(&place), "{message}\nis not at {place}");
        assert!(message.contains(word), "{message}");
    }
    // An override with one of two alternatives replaces the file's other.
    let case = parse(GOOD, &[("mesh.box.cells", "[2, 3, 4]")]).unwrap();
    assert!(matches!(case.mesh, MeshSource::Box(shape) if shape.cells == [2, 3, 4]));
}

#[test]
fn boundaries_of_case_and_mesh_must_match() {
    let case = parse(GOOD, &[]).unwrap();
    assert!(case.match_patches(&["left", "right", "lid"]).is_ok());

    let error = case
        .match_patches(&["left", "right", "lid", "floor"])
        .unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let message = error.to_string();
    assert!(message.contains("\"floor\" has no section"), "{message}");
    assert!(message.contains("add [boundary.floor]"), "{message}");

    let message = case
        .match_patches(&["left", "right"])
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("cases/box.toml:12: boundary.lid: "),
        "{message}"
    );
    assert!(
        message.contains("the mesh has no boundary \"lid\""),
        "{message}"
    );
}

#[test]
fn unreadable_files_are_refused() {
    let folder = std::env::temp_dir().join(format!("couloir-case-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    for (path, word) in [
        (folder.join("absent.toml"), "cannot be read"),
        (folder.clone(), "a folder, not a case"),
        (file("binary.toml", &[0xff, 0xfe, 0x00, 0x80]), "not UTF-8"),
        (
            file("mesh.toml", &vec![b' '; (1 << 20) + 1]),
            "too large for a case",
        ),
        (file("empty.toml", b""), "the section [mesh] is missing"),
    ] {
        let error = Case::read(&path, &[]).expect_err("this must be refused");
        assert_eq!(error.exit_code(), 2);
        let message = error.to_string();
        assert!(message.starts_with(&*path.to_string_lossy()), "{message}");
        assert!(message.contains(word), "{message}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn damaged_cases_never_panic() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20_000 {
        let mut bytes = GOOD.as_bytes().to_vec();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..bytes.len());
            match random.u8(..4) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = random.u8(..),
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, *random.choice(b"[]{}=.,\"'#\n\0-e9".iter()).unwrap()),
            }
            if bytes.is_empty() {
                bytes.push(b'=');
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = parse(&text, &[("time.steps", "3")]) {
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains("box.toml") || error.to_string().contains("--set"));
        }
    }
}

#[test]
fn the_cases_of_the_repository_are_in_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut read = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let case = Case::read(&path, &[]).unwrap();
            if let MeshSource::File(mesh) = case.mesh {
                assert!(mesh.is_file(), "{}", mesh.display());
            }
            read += 1;
        }
    }
    assert!(read >= 4, "{read} cases");
}
