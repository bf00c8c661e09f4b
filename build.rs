//! Lists `board/*.toml` for the binary, so that adding a board is adding one file.

use std::fmt::Write;
use std::path::Path;

fn main() {
    // A clear message is all that a build script can do about a broken checkout.
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let folder = Path::new(&root).join("board");
    let entries = std::fs::read_dir(&folder).expect("the folder board/ is there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
        // Clusters of boards are described beside them.
        .filter(|name| !name.starts_with("cluster"))
        .collect();
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        // Found anew by each compilation, for a checkout may be moved with what was built in it.
        let file = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/board/{name}.toml\")");
        writeln!(list, "    ({name:?}, include_str!({file})),").expect("a string takes it");
    }
    list.push_str("]\n");
    std::fs::write(Path::new(&out).join("boards.rs"), list).expect("OUT_DIR can be written");
    link_the_unwinder(Path::new(&out));
    println!("cargo::rerun-if-changed=board");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The static half of gcc's unwinder, in the place of libgcc_s, so that the binary needs glibc alone.
fn link_the_unwinder(out: &Path) {
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}"));
    if target("OS").as_deref() != Ok("linux") || target("ENV").as_deref() != Ok("gnu") {
        return;
    }
    // A library that a linker asked for by its name finds here first.
    let script = "GROUP ( -lgcc_eh -lgcc )\n";
    std::fs::write(out.join("libgcc_s.so"), script).expect("OUT_DIR can be written");
    println!("cargo::rustc-link-search=native={}", out.display());
}
