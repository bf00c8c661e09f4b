//! Patterns over a tree.

use crate::node::Tree;

/// Files that fit `pattern`, in which `*` stands for any part of a name; in the order of the
/// alphabet.
pub(super) fn glob(tree: &Tree, pattern: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for part in pattern.split('/') {
        let below = |folder: &String| -> Vec<String> {
            let join = |name: &str| match folder.as_str() {
                "" => name.to_owned(),
                _ => format!("{folder}/{name}"),
            };
            if !part.contains('*') {
                return vec![join(part)];
            }
            let names = tree.list(folder).into_iter().filter(|n| fits(n, part));
            names.map(|n| join(&n)).collect()
        };
        found = found.iter().flat_map(below).collect();
    }
    found.retain(|file| tree.exists(file));
    found
}

/// Whether `name` is `pattern` with each `*` replaced by something, or by nothing.
fn fits(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return name == pattern;
    };
    let Some(name) = name.strip_prefix(start) else {
        return false;
    };
    let ends = name.char_indices().map(|(i, _)| i).chain([name.len()]);
    ends.into_iter().any(|i| fits(&name[i..], rest))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_anything() {
        for (name, pattern) in [
            ("7-0040", "*-0040"),
            ("hwmon12", "hwmon*"),
            ("libmali.so.1", "lib*.so*"),
            ("a", "*"),
            ("", "*"),
            ("ünit", "*t"),
        ] {
            assert!(fits(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in [("7-0041", "*-0040"), ("hwmon", "hwmon*x"), ("ab", "a")] {
            assert!(!fits(name, pattern), "{name} {pattern}");
        }
    }
}
