//! Board files: all of them, how a board is recognised, and what is refused.

use std::path::Path;

use crate::made::{Made, has};
use couloir::board::{Board, FILES, Profile};
use couloir::node::Tree;

/// A profile with every key.
const WHOLE: &str = r#"name = "Board"
target = "aarch64-unknown-linux-gnu"
peak_gb_s = 34
[match]
compatible = ["maker,board"]
dmi = ["Board"]
cpu = ["Fast CPU"]
arch = "aarch64"
[[cluster]]
core = "Big"
isa = "armv8-a"
part = 0xd0b
cores = 4
clock_mhz = 2400
[gpu]
name = "GPU"
device = "Mali"
devices = 1
opencl = "3.0"
fp64 = false
[power]
idle_w = 4
load_w = 11
nameplate_w = 20
[energy]
source = "sensors"
command = "read-them"
[[energy.rail]]
name = "all"
files = ["sys/all"]
chip = "ina2"
[tuned]
split = 0.6
"#;

fn names_in_the_folder() -> Vec<String> {
    let entries = std::fs::read_dir("board").expect("the folder of boards");
    let mut names: Vec<String> = entries
        .filter_map(|e| e.unwrap().file_name().into_string().ok())
        .filter_map(|n| Some(n.strip_suffix(".toml")?.to_owned()))
        .filter(|n| !n.starts_with("cluster"))
        .collect();
    names.sort();
    names
}

#[test]
fn every_file_is_a_board_in_the_binary() {
    let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, names_in_the_folder());
    let (mut entries, mut archs) = (Vec::new(), Vec::new());
    for (name, text) in FILES {
        let on_disk = std::fs::read_to_string(format!("board/{name}.toml")).unwrap();
        assert_eq!(*text, on_disk, "{name} is not the file's present text");
        let board = Board::open(name, &Tree::at("/nonexistent"));
        let board = board.unwrap_or_else(|e| panic!("{e}")).expect("a board");
        assert_eq!(board.id, *name);
        let p = board.profile;
        entries.extend(p.matches.compatible);
        archs.extend(p.matches.arch);
        let arch = p.target.split('-').next().unwrap();
        for c in &p.clusters {
            let isa = match arch {
                "armv7" => "armv7",
                "aarch64" => "armv8",
                other => &other.replace('_', "-"),
            };
            assert!(c.isa.starts_with(isa), "{name}: {} on {arch}", c.isa);
        }
    }
    let count = entries.len();
    entries.sort();
    entries.dedup();
    assert_eq!(
        entries.len(),
        count,
        "two boards claim one compatible entry"
    );
    archs.sort();
    assert_eq!(archs, ["aarch64", "arm", "x86_64"]);
}

#[test]
fn what_boards_md_knows_is_there() {
    let open = |name: &str| Board::open(name, &Tree::at("/")).unwrap().unwrap();
    let thesis = open("exynos5250");
    assert_eq!(thesis.watts(), Some(5.0));
    assert_eq!(open("minotauro").watts(), Some(300.0));
    assert_eq!(thesis.profile.peak_gb_s, Some(12.8));
    assert_eq!(thesis.profile.tuned.split, Some(0.6));
    let rock = open("rk3588");
    assert_eq!(
        rock.watts(),
        Some(11.0),
        "the load counts, not the nameplate"
    );
    assert!(!rock.profile.gpu.as_ref().unwrap().fp64);
    assert_eq!(rock.profile.cores(), Some(8));
    assert_eq!(rock.profile.core(0xd0b), Some("Cortex-A76"));
    assert_eq!(rock.profile.core(0xd03), None);
    let odroid = open("odroid-xu3").profile;
    assert_eq!(odroid.energy.rails.len(), 4);
    assert_eq!(odroid.gpu.unwrap().devices, 2);
    assert!(open("generic-aarch64").watts().is_none());
}

#[test]
fn boards_are_recognised() {
    let found = |made: &Made| {
        let board = Board::open("auto", &Tree::at(&made.0)).unwrap();
        board.map(|b| (b.id, b.reason))
    };
    let is = |made: &Made, id: &str, reason: &str| {
        let (found, why) = found(made).expect("a board");
        assert_eq!((found.as_str(), why.as_str()), (id, reason));
    };
    let compatible = "proc/device-tree/compatible";
    let made = Made::new();
    made.write(compatible, "radxa,rock-5b\0rockchip,rk3588\0");
    is(&made, "rk3588", "compatible: rockchip,rk3588");
    // The exact board before the chip, whose entry another board has, too.
    made.write(compatible, "hardkernel,odroid-xu3\0samsung,exynos5250\0");
    is(&made, "odroid-xu3", "compatible: hardkernel,odroid-xu3");

    let made = Made::new();
    made.write("sys/class/dmi/id/product_name", "HPC Server\n")
        .write("sys/class/dmi/id/board_name", "ALTRA Dev Kit\n");
    is(&made, "ampere-altra", "DMI board_name: ALTRA Dev Kit");

    let core = |n: usize| format!("processor\t: {n}\nmodel name\t: AMD EPYC 7B13\n\n");
    let made = Made::new();
    made.write("proc/cpuinfo", &(core(0) + &core(1)));
    is(&made, "epyc-2core", "CPU: 2 cores of AMD EPYC 7B13");
    made.write("proc/cpuinfo", &(core(0) + &core(1) + &core(2)));
    let arch = std::env::consts::ARCH;
    if ["x86_64", "aarch64"].contains(&arch) {
        let id = format!("generic-{arch}");
        is(&made, &id, &format!("architecture: {arch}"));
        is(&Made::new(), &id, &format!("architecture: {arch}"));
    }
}

#[test]
fn a_file_is_a_board_too() {
    let made = Made::new();
    made.write("mine.toml", WHOLE);
    let path = made.path("mine.toml");
    let board = Board::open(path.to_str().unwrap(), &Tree::at("/"));
    let board = board.unwrap().unwrap();
    assert_eq!((board.id.as_str(), board.watts()), ("mine", Some(11.0)));
    assert!(board.reason.starts_with("read from "));
}

#[test]
fn unknown_boards_are_refused() {
    let refused = |asked: &str| {
        let error = Board::open(asked, &Tree::at("/")).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
        error.to_string()
    };
    has(
        &refused("rk3599"),
        &["--board rk3599", "did you mean rk3399?", "odroid-xu4"],
    );
    has(
        &refused("toaster"),
        &["no such board", "a file that ends in .toml", "rk3588"],
    );
    has(
        &refused("./absent.toml"),
        &["./absent.toml", "cannot be read"],
    );
    has(&refused("/tmp/"), &["a folder, not a board file"]);
}

/// Each change of a good file, and what is said of it: `line: key`, and the remedy.
#[test]
fn wrong_files_are_refused_with_line_and_key() {
    let path = Path::new("board/mine.toml");
    assert!(Profile::parse(WHOLE, path).is_ok());
    let mut wrong = Vec::new();
    for (old, new, place, remedy) in [
        ("name = \"Board\"", "name = \"\"", "1: name", "give a name"),
        ("name = \"Board\"\n", "", "mine.toml", "add name"),
        (
            "name = \"Board\"",
            "name = 5",
            "1: name",
            "a text in quotes",
        ),
        (
            "aarch64-unknown-linux-gnu",
            "arm",
            "2: target",
            "rustc --print",
        ),
        (
            "peak_gb_s = 34",
            "peak_gb_s = 0",
            "3: peak_gb_s",
            "more than 0",
        ),
        (
            "peak_gb_s = 34",
            "peak_gbs = 34",
            "3: peak_gbs",
            "did you mean peak_gb_s?",
        ),
        (
            "peak_gb_s = 34",
            "peak_gb_s = \"34\"",
            "3: peak_gb_s",
            "a number",
        ),
        (
            "[\"maker,board\"]",
            "\"maker\"",
            "5: match.compatible",
            "a list",
        ),
        (
            "dmi = [\"Board\"]",
            "dmi = [\"\"]",
            "6: match.dmi",
            "give a name",
        ),
        (
            "cores = 4",
            "cores = 0",
            "13: cluster[0].cores",
            "1 or more",
        ),
        (
            "cores = 4\n",
            "",
            "7: match.cpu",
            "[[cluster]] sections with cores",
        ),
        (
            "part = 0xd0b",
            "part = 0x410fd0b0",
            "12: cluster[0].part",
            "/proc/cpuinfo",
        ),
        (
            "part = 0xd0b",
            "part = \"0xd0b\"",
            "12: cluster[0].part",
            "u32",
        ),
        (
            "clock_mhz = 2400",
            "clock_mhz = -1",
            "14: cluster[0].clock_mhz",
            "more than 0",
        ),
        ("isa = \"armv8-a\"\n", "", "9: cluster", "add isa"),
        ("devices = 1", "devices = 0", "18: gpu.devices", "1 or more"),
        ("fp64 = false", "fp64 = \"no\"", "20: gpu.fp64", "a boolean"),
        (
            "idle_w = 4",
            "idle_w = 12",
            "22: power.idle_w",
            "correct one of the two",
        ),
        (
            "load_w = 11",
            "load_w = nan",
            "23: power.load_w",
            "more than 0",
        ),
        (
            "[\"sys/all\"]",
            "[\"/sys/all\"]",
            "30: energy.rail[0].files",
            "from the root",
        ),
        (
            "files = [\"sys/all\"]\nchip = \"ina2\"\n",
            "",
            "energy.rail",
            "give files or chip",
        ),
        (
            "split = 0.6",
            "split = 60",
            "33: tuned.split",
            "give 0 (all on the CPU) to 1",
        ),
        ("[gpu]", "[gpu", "15", "correct the TOML"),
        (
            "target = \"",
            "# \"",
            "board/mine.toml",
            "the key target is missing; add target = ..",
        ),
    ] {
        assert!(WHOLE.contains(old), "{old}");
        let error = Profile::parse(&WHOLE.replacen(old, new, 1), path).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let text = error.to_string();
        for part in ["board/mine.toml", place, remedy] {
            if !text.contains(part) {
                wrong.push(format!("{part:?} is not in: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
