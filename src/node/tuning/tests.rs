//! Launch parameters: which apply, and which are refused.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Runs `test` of this program in another process, whose devices have these launch parameters:
/// they are fixed for a process. `mark` is set there.
pub(crate) fn launched(launch: &str, test: &str, mark: &str) {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let name = format!("couloir-launch-{}-{number}.toml", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, format!("[[device]]\nmatch = \"\"\n{launch}\n")).unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact"])
        .env(VARIABLE, &file)
        .env(mark, "1")
        .output()
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && text.contains("1 passed");
    assert!(passed, "{launch}: {text}");
}

pub(crate) fn device(kind: &'static str, name: &str) -> DeviceInfo {
    DeviceInfo {
        index: 0,
        id: 0,
        platform: "Platform".into(),
        name: name.into(),
        version: String::new(),
        driver: String::new(),
        kind,
        software: kind == "cpu",
        fp64: true,
        exact_division: true,
        unified: false,
        svm: false,
        units: 1,
        max_group: 256,
        local_memory: true,
        keeps: false,
        memory_bytes: 0,
        align_bytes: 128,
    }
}

fn of(text: &str, info: &DeviceInfo) -> Tuning {
    best(entries(text, "t").unwrap(), info)
        .unwrap()
        .launch(info)
}

#[test]
fn the_longest_text_that_fits_wins() {
    let text = "[[device]]\nmatch = \"\"\nvector = 1\n[[device]]\nmatch = \"gpu platform\"\nvector = 4\n\
                group = 32\n[[device]]\nmatch = \"SOFTWARE\"\nvector = 8\nrows = \"block\"\n";
    let launch = |vector, item, group| Tuning {
        vector,
        item,
        group,
        matrix_group: group,
        registers: None,
        long_registers: None,
        ahead: false,
        adding: None,
        waits: false,
        together: None,
        together_registers: None,
        together_ahead_registers: None,
        together_mb: None,
        together_large_mb: None,
        together_large_registers: None,
        beside: false,
        flush: true,
    };
    assert_eq!(of(text, &device("gpu", "X")), launch(4, 4, 32));
    assert_eq!(of(text, &device("accelerator", "X")), launch(1, 1, 256));
    assert_eq!(of(text, &device("cpu", "X")), launch(8, BLOCK, 1));
    assert_eq!(launch(4, 4, 32).group_of(true, true), 64);
    let text = "[[device]]\nmatch = \"\"\nvector = 1\nmatrix_group = 64\nregisters = 32\n\
                long_registers = 48\nahead = true\nadding = 256\nbeside = true\nflush = false\ntogether = 4\n\
                together_registers = 40\ntogether_mb = 99\n";
    let t = of(text, &device("gpu", "X"));
    assert_eq!(
        (t.group_of(false, false), t.group_of(false, true)),
        (256, 64)
    );
    assert_eq!((t.registers, t.adding), (Some(32), Some(256)));
    assert_eq!(t.long_registers, Some(48));
    assert!(t.ahead && t.beside && !t.flush);
    let of_legs = [Some(40), Some(99)];
    assert_eq!(t.together, Some(4));
    assert_eq!([t.together_registers, t.together_mb], of_legs);
    assert_eq!(t.together_ahead_registers, Some(40));
    let own = text.replace("together_mb", "together_ahead_registers = 56\ntogether_mb");
    let t = of(&own, &device("gpu", "X"));
    let registers = [t.together_registers, t.together_ahead_registers];
    assert_eq!(registers, [Some(40), Some(56)]);
    assert_eq!(
        [t.together_large_mb, t.together_large_registers],
        [None, Some(56)]
    );
    let large = text.replace("together_mb", "together_large_mb = 80\ntogether_mb");
    let t = of(&large, &device("gpu", "X"));
    let of_large = [t.together_large_mb, t.together_large_registers];
    assert_eq!(of_large, [Some(80), Some(40)]);
    let own = large.replace("together_mb", "together_large_registers = 32\ntogether_mb");
    let t = of(&own, &device("gpu", "X"));
    assert_eq!(t.together_large_registers, Some(32));
    let none = of(
        &text.replace("together = 4", "together = 0"),
        &device("gpu", "X"),
    );
    assert_eq!(none.together, None);
    // More than the device has.
    let t = of(&text.replace("256", "512"), &device("gpu", "X"));
    assert_eq!(t.adding, None);
}

#[test]
fn small_groups_and_missing_local_memory_are_heeded() {
    let small = DeviceInfo {
        max_group: 100,
        ..device("gpu", "X")
    };
    assert_eq!(of(BUILT_IN, &small).vector, 4);
    let none = DeviceInfo {
        local_memory: false,
        ..device("gpu", "X")
    };
    assert_eq!(of(BUILT_IN, &none).item, BLOCK);
    let pocl = Tuning::of(&device("cpu", "basic-x86")).unwrap();
    assert_eq!((pocl.vector, pocl.item, pocl.group), (8, BLOCK, 1));
    let masks = Tuning::of(&device("cpu", "basic-skylake-avx512-Intel")).unwrap();
    assert_eq!((masks.vector, masks.item, masks.group), (16, BLOCK, 1));
    let mesa = DeviceInfo {
        platform: "rusticl".into(),
        ..device("cpu", "llvmpipe (LLVM 15.0.6, 512 bits)")
    };
    let mesa = Tuning::of(&mesa).unwrap();
    assert_eq!((mesa.vector, mesa.item, mesa.group), (1, 1, 256));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_name() {
    for (text, what) in [
        ("[[device]]\nmatch = \"a\"\nvector = 3", "vector = 3"),
        ("[[device]]\nmatch = \"a\"\nvector = 1\ngroup = 48", "group"),
        (
            "[[device]]\nmatch = \"a\"\nvector = 1\nadding = 12",
            "adding",
        ),
        ("[[device]]\nmatch = \"a\"\nvector = 1\nrows = 2", "rows"),
        ("[[device]]\nmatch = \"a\"\nwidth = 1", "width"),
        ("device = 1", "device"),
    ] {
        let e = entries(text, "mine.toml").map(|_| ()).unwrap_err();
        assert_eq!(e.exit_code(), 2);
        let text = e.to_string();
        assert!(text.contains(what) && text.contains("mine.toml"), "{text}");
    }
}
