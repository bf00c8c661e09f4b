//! Case files: each wrong one is refused with file, line, key and remedy.

use std::path::{Path, PathBuf};

use couloir::flow::case::{Boundary, Case, InitialField, MeshSource, Override, Split, StepSize};
use couloir::node::{DeviceChoice, MemoryKind};
use couloir::split::Precision;

const GOOD: &str = include_str!("../data/case.toml");

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
    assert_eq!(case.node.device, DeviceChoice::Auto);
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
        ("node.memory", "zero-copy"),
        ("node.precision", "mixed"),
        ("boundary.lid.velocity", "[2, 0, 0]"),
        ("mesh.file", "2d.msh"),
    ];
    let case = parse(GOOD, &sets).unwrap();
    assert_eq!(case.time.step, StepSize::Fixed { dt_s: 1e-3 });
    assert_eq!(case.initial.field, InitialField::TaylorGreen2d);
    assert_eq!(case.node.split, Split::Fixed(0.25));
    assert_eq!(case.node.threads, Some(3));
    assert_eq!(case.node.device, DeviceChoice::None);
    assert_eq!(case.node.memory, Some(MemoryKind::ZeroCopy));
    assert_eq!(case.node.precision, Some(Precision::Mixed));
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
        (("node.threads", "0"), "--set node.threads=0: ", "1 to 4096"),
        (
            ("node.precision", "fp46"),
            "--set node.precision=fp46: ",
            "did you mean fp64?",
        ),
        (("time.steps", "0"), "--set time.steps=0: ", "1 or more"),
    ] {
        let message = refusal(GOOD, &[set]);
        assert!(message.starts_with(place), "{message}");
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn an_override_with_one_of_two_alternatives_replaces_the_other() {
    let case = parse(GOOD, &[("mesh.box.cells", "[2, 3, 4]")]).unwrap();
    assert!(matches!(case.mesh, MeshSource::Box(spec) if spec.cells == [2, 3, 4]));
    let case = parse(GOOD, &[("time.dt", "0.5")]).unwrap();
    assert_eq!(case.time.step, StepSize::Fixed { dt_s: 0.5 });
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

#[test]
fn meshes_are_loaded_with_periodic_sides_joined() {
    let sides = r#"
        [fluid]
        viscosity = 1
        [time]
        steps = 1
        dt = 1
        [boundary]
        xmin = { type = "periodic", with = "xmax" }
        xmax = { type = "periodic", with = "xmin" }
        ymin = { type = "slip" }
        ymax = { type = "slip" }
        zmin = { type = "slip" }
        zmax = { type = "slip" }
        [mesh]
    "#;
    let (mesh, _) = parse(&format!("{sides}box = {{ cells = [5, 3, 2] }}"), &[])
        .and_then(|case| case.load_mesh())
        .unwrap();
    assert_eq!(mesh.cells(), 30);
    assert_eq!(mesh.patches.len(), 4);
    // One layer between joined sides: the cells would be their own neighbours.
    let error = parse(&format!("{sides}box = {{ cells = [1, 3, 2] }}"), &[])
        .and_then(|case| case.load_mesh())
        .unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(
        error
            .to_string()
            .starts_with("cases/box.toml:9: boundary.xmax: "),
        "{error}"
    );

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/cavity.toml");
    let (mesh, _) = Case::read(&path, &[])
        .and_then(|case| case.load_mesh())
        .unwrap();
    assert_eq!(mesh.cells(), 5714);
    let error = Case::read(
        &path,
        &[Override::new("mesh.file", "absent.msh", "--set x")],
    )
    .and_then(|case| case.load_mesh())
    .unwrap_err();
    assert!(error.to_string().contains("absent.msh"), "{error}");
}
