//! Huge pages, which gathers over large vectors gain from.

use super::{Finding, Scene, ok, warning};

const FILE: &str = "sys/kernel/mm/transparent_hugepage/enabled";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Ok(text) = scene.tree.text(FILE) else {
        return vec![ok("the kernel has no transparent huge pages")];
    };
    let setting = text.split_whitespace().find_map(|word| {
        let word = word.strip_prefix('[')?;
        word.strip_suffix(']')
    });
    vec![match setting {
        Some(setting @ ("always" | "madvise")) => {
            ok(format!("transparent huge pages: {setting}"))
        }
        _ => {
            let what = format!("transparent huge pages are off ({text})");
            let remedy = format!("echo madvise | sudo tee /{FILE}");
            warning(what, remedy)
        }
    }]
}
