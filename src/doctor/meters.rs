//! Energy meters: found, readable, and what to do where they are not.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use super::{Finding, Scene, ok, warning};
use crate::energy::{self, Context, Nameplate};
use crate::node::Tree;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let denied = Arc::new(Mutex::new(Vec::new()));
    let choice = match energy::find(&context(scene, &denied)) {
        Ok((_, choice)) => choice,
        Err(e) => return vec![warning(e.to_string(), "check the meter")],
    };
    let mut found = Vec::new();
    let mut files = std::mem::take(&mut *denied.lock().unwrap_or_else(|e| e.into_inner()));
    files.sort_unstable();
    files.dedup();
    if !files.is_empty() {
        let what = format!("this user may not read {}", shown(&files));
        found.push(warning(what, permission(&files)));
    }
    found.push(match choice.measured {
        true => ok(format!("energy is measured by {}", choice.text)),
        false if choice.rails.is_empty() => warning(
            "no energy meter, and no estimate either",
            "measure with a meter outside the board, or give the node's watts: \
             node.nameplate_watts, or power in a board file",
        ),
        false => warning(
            format!(
                "no energy meter: joules are estimated, from {}",
                choice.text.trim_end_matches(energy::ESTIMATE)
            ),
            "measure with a meter outside the board",
        ),
    });
    found
}

/// Meters of the scene, and the files among them that the user may not read.
fn context(scene: &Scene, denied: &Arc<Mutex<Vec<String>>>) -> Context {
    let denied = Arc::clone(denied);
    let inner = scene.tree.clone();
    let tree = Tree::with_reader(scene.tree.root(), move |path| {
        let read = inner.read(path);
        if let Err(e) = &read
            && e.kind() == ErrorKind::PermissionDenied
        {
            let mut denied = denied.lock().unwrap_or_else(|e| e.into_inner());
            denied.push(path.display().to_string());
        }
        read
    });
    Context {
        tree,
        nameplate: Nameplate::of(scene.board.as_ref(), None),
        external: None,
    }
}

fn shown(files: &[String]) -> String {
    match files {
        [one, two, three, rest @ ..] if !rest.is_empty() => {
            format!("{one}, {two}, {three} and {} more", rest.len())
        }
        _ => files.join(", "),
    }
}

/// How to let a user read: at once, and for good.
fn permission(files: &[String]) -> String {
    let has = |part: &str| files.iter().any(|f| f.contains(part));
    let mut rules = Vec::new();
    for class in ["powercap", "hwmon"] {
        if has(&format!("/{class}/")) {
            rules.push(format!(
                "SUBSYSTEM==\"{class}\", ACTION==\"add\", RUN+=\"/bin/chmod -R a+r /sys%p\""
            ));
        }
    }
    let now = match files {
        [one] => format!("sudo chmod a+r {one}"),
        _ if has("intel-rapl") => {
            "sudo chmod a+r /sys/class/powercap/intel-rapl*/energy_uj".to_owned()
        }
        _ => format!("sudo chmod a+r {}", files.join(" ")),
    };
    match (rules.is_empty(), has("/dev/")) {
        (false, _) => format!(
            "{now}; for good, in /etc/udev/rules.d/90-couloir.rules: {}",
            rules.join(" and ")
        ),
        (true, true) => "join the file's group: sudo usermod -aG dialout,video $USER".to_owned(),
        (true, false) => now,
    }
}
