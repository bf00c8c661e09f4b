//! Wrong case files: each is refused with file, line, key and remedy; none causes a panic.

use std::path::Path;

use couloir::flow::case::{Case, Override};

const GOOD: &str = include_str!("../data/case.toml");

/// The message with which `text` is refused; bad input must lead to exit code 2.
fn refusal(text: &str) -> String {
    let case = Case::parse(text, Path::new("cases/box.toml"), &[]);
    let error = case.expect_err("this must be refused");
    assert_eq!(error.exit_code(), 2, "{error}");
    error.to_string()
}

/// `GOOD` with a part of it replaced, and how it is refused. A line holds the part, what
/// replaces it (`\n` breaks a line), the place in the file, and a part of the message.
const REFUSED: &str = r#"
viscosity = | viscocity = | 6: fluid.viscocity: | it is called viscosity here
end = 2 | endTime = 2 | 9: time.endTime: | did you mean end?
max_courant | maxCo | 10: time.maxCo: | did you mean max_courant?
[fluid] | [fluids] | 5: fluids: | did you mean fluid?
"wall" | "walls" | 13: boundary.lid.type: | did you mean wall?
"wall" | "plunger" | 13: boundary.lid.type: | use one of: wall, inlet, outlet, slip
ghia-100 | ghia | 27: output.profiles[0].reference: | ghia-1000
name = | label = | 27: output.profiles[0].label: | component

1e-3 | "thin" | 6: fluid.viscosity: | give a number
[1, 0, 0] | [1, 0] | 14: boundary.lid.velocity: | three numbers
[1, 0, 0] | 1 | 14: boundary.lid.velocity: | three numbers
"meshes/box.msh" | 3 | 3: mesh.file: | text in quotes
end = 2 | end = 2\nsteps = -1 | 10: time.steps: | whole number
end = 2 | end = 2\nsteps = 1.5 | 10: time.steps: | whole number
end = 2 | end = | 9: | correct the TOML
[fluid] | [fluid | 5: | correct the TOML
end = 2 | end = 2\nend = 3 | 10: | duplicate key

1e-3 | -1e-3 | 6: fluid.viscosity: | 0 or more
1e-3 | nan | 6: fluid.viscosity: | 0 or more
end = 2 | end = inf | 9: time.end: | more than 0
end = 2 | end = 0 | 9: time.end: | more than 0
max_courant = 0.5 | max_courant = 0 | 10: time.max_courant: | more than 0
max_courant = 0.5 | dt = -1e-3 | 10: time.dt: | more than 0
max_courant = 0.5 | # | 8: time: | add dt or max_courant
end = 2 | dt = 1 | 8: time: | keep one
end = 2 | # | 8: time: | add end (seconds) or steps
[1, 0, 0] | [inf, 0, 0] | 14: boundary.lid.velocity: | finite
interval = 0.5 | interval = 0 | 25: output.interval: | more than 0
[output] | [poisson]\ntolerance = 2\n[output] | 25: poisson.tolerance: | less than 1
[output] | [poisson]\nmax_iterations = 0\n[output] | 25: poisson.max_iterations: | 1 or more
[output] | [force]\nacceleration = [nan,0,0]\n[output] | 25: force.acceleration: | finite
[output] | [node]\nnameplate_watts = 0\n[output] | 25: node.nameplate_watts: | more than 0
[output] | [energy]\nmeter = "ttyUSB0"\n[output] | 25: energy.meter: | give serial:DEVICE@BAUD or tcp:HOST:PORT
[output] | [energy]\nmeter = "serial:/dev/ttyUSB0@1"\n[output] | 25: energy.meter: | give one of 4800
[output] | [energy]\ncolumn = 0\n[output] | 25: energy.column: | give its number, from 1
[output] | [energy]\nunit = "kW"\n[output] | 25: energy.unit: | give one of W, mW
[output] | [energy]\nidle_seconds = -1\n[output] | 25: energy.idle_seconds: | 0 to 3600
[output] | [energy]\nidle_seconds = 1e300\n[output] | 25: energy.idle_seconds: | 1e300 is out of range
[output] | [initial]\nfield = "uniform"\n[output] | 25: initial.field: | add velocity
[output] | [initial]\nvelocity = [1,0,0]\n[output] | 25: initial.velocity: | set field = "uniform"
name = "u" | name = "../u" | 27: output.profiles[0].name: | letters
to = [0.5, 1, | to = [0.5, 0, | 27: output.profiles[0].to: | differ
reference | points = 1, reference | 27: output.profiles[0].points: | give 2 to
{ name = "u" | { name = "u", component = "y", from = [0,0,0], to = [1,0,0] },\n{ name = "u" | 28: output.profiles[1].name: | a second profile is called "u"

[fluid]\nviscosity = 1e-3 | # | the section [fluid] is missing; | the section [fluid] is missing
viscosity = 1e-3 | # | 5: fluid: | the key viscosity is missing
file = "meshes/box.msh" | # | 2: mesh: | add file
[fluid] | box = { cells = [1, 1, 1] }\n[fluid] | 2: mesh: | keep one
with = "right" | with = "rigth" | 18: boundary.left.with: | no [boundary.rigth]
with = "right" | with = "left" | 18: boundary.left.with: | own partner
with = "right" | with = "lid" | 18: boundary.left.with: | "lid" is not periodic
with = "right" | # | 16: boundary.left: | add with
[output] | [boundary.far]\ntype = "periodic"\nwith = "left"\n[output] | 26: boundary.far.with: | "left" is periodic with "right"
"wall" | "slip" | 12: boundary.lid: | type "slip" has no key velocity
"wall"\nvelocity = [1, 0, 0] | "inlet" | 12: boundary.lid: | add velocity
"wall"\nvelocity = [1, 0, 0] | "exact" | 12: boundary.lid: | add solution
type = "wall" | # | 12: boundary.lid: | the key type is missing

file = "meshes/box.msh" | box = { cells = [2, 0, 4] } | 3: mesh.box.cells: | 1 or more
file = "meshes/box.msh" | box = { cells = [2, -1, 4] } | 3: mesh.box.cells[1]: | whole number
file = "meshes/box.msh" | box = { cells = [999, 999, 999] } | 3: mesh.box.cells: | more than one mesh
file = "meshes/box.msh" | box = { cells = [2, 2, 2], max = [1, 0, 1] } | 3: mesh.box: | no volume
file = "meshes/box.msh" | box = { cells = [2, 2, 2], min = [inf, 0, 1] } | 3: mesh.box.min: | finite
file = "meshes/box.msh" | box = { cells = [2, 2, 2], stretch = [0, -1, 0] } | 3: mesh.box.stretch: | 0 (uniform) to 8
file = "meshes/box.msh" | box = { cells = [2, 2, 2], shape = "cubes" } | 3: mesh.box.shape: | hexahedra, prisms
file = "meshes/box.msh" | box = { shape = "prisms" } | 3: mesh.box: | the key cells is missing
"#;

#[test]
fn wrong_cases_are_refused_with_place_and_remedy() {
    let mut refused = 0;
    for line in REFUSED.lines().filter(|line| !line.is_empty()) {
        let [old, new, place, word] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("not four columns: {line}");
        };
        let old = old.replace("\\n", "\n");
        assert!(GOOD.contains(&old), "{old}");
        let message = refusal(&GOOD.replacen(&old, &new.replace("\\n", "\n"), 1));
        let separator = if place.starts_with(char::is_numeric) {
            ":"
        } else {
            ": "
        };
        let place = format!("cases/box.toml{separator}{place}");
        assert!(message.starts_with(&place), "{line}\n{message}");
        assert!(message.contains(word), "{line}\n{message}");
        refused += 1;
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn damaged_cases_never_panic() {
    let overrides = [Override::new("time.steps", "3", "--steps 3")];
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
        if let Err(error) = Case::parse(&text, Path::new("cases/box.toml"), &overrides) {
            assert_eq!(error.exit_code(), 2);
            assert!(
                error.to_string().contains("box.toml") || error.to_string().contains("--steps")
            );
        }
    }
}

/// A wrong key is answered with the list of those allowed, so the lists are asked for.
#[test]
fn the_readme_documents_every_key() {
    let readme = include_str!("../../README.md");
    let mut keys = 0;
    for (section, prefix) in [
        ("[mesh]\nzzzz = 1", ""),
        ("[mesh]\nbox = { zzzz = 1 }", "box."),
        ("[fluid]\nzzzz = 1", ""),
        ("[time]\nzzzz = 1", ""),
        ("[scheme]\nzzzz = 1", ""),
        ("[initial]\nzzzz = 1", ""),
        ("[boundary.a]\nzzzz = 1", ""),
        ("[force]\nzzzz = 1", ""),
        ("[poisson]\nzzzz = 1", ""),
        ("[output]\nzzzz = 1", ""),
        ("[output]\nprofiles = [{ zzzz = 1 }]", "profiles."),
        ("[node]\nzzzz = 1", ""),
    ] {
        let message = refusal(section);
        let (_, list) = message
            .split_once("; use one of: ")
            .or_else(|| message.split_once("; the only key is "))
            .expect("a list of keys");
        for key in list.split(", ") {
            assert!(
                readme.contains(&format!("`{prefix}{key}`")),
                "{section}: {key}"
            );
            keys += 1;
        }
    }
    assert!(keys > 35, "{keys}");
}
