//! Errors of the TOML decoder in the words of the file.

use super::names::nearest;
use super::source::{Index, Source};
use super::value::Misfit;
use crate::Error;

/// What OpenFOAM and textbooks call some keys.
const ALSO_KNOWN: [(&str, &str); 6] = [
    ("endTime", "end"),
    ("deltaT", "dt"),
    ("maxCo", "max_courant"),
    ("writeInterval", "interval"),
    ("nu", "viscosity"),
    ("maxIter", "max_iterations"),
];

/// Keys of board files that stand outside of sections; all others that are asked for are sections.
const BARE: [&str; 2] = ["name", "target"];

/// The decoder's `error` with the place of its key, what is wrong, and the remedy.
pub(crate) fn error(error: &Misfit, source: &Source, index: &Index) -> Error {
    let at = error.at.unwrap_or(0);
    let key = index.key_at(at).unwrap_or("");
    let place = match key {
        "" => source.file(),
        _ => source.place(at, key),
    };
    let message = error.message.trim();
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (what, remedy) = match (message, names.as_slice()) {
        (m, [name, allowed @ ..]) if m.starts_with("unknown field") => {
            (format!("unknown key {name}"), choose(name, allowed))
        }
        (m, [name, allowed @ ..]) if m.starts_with("unknown variant") => {
            (format!("unknown name \"{name}\""), choose(name, allowed))
        }
        (m, [name, ..]) if m.starts_with("missing field") => match key {
            "" if !BARE.contains(name) => (
                format!("the section [{name}] is missing"),
                "add it".to_owned(),
            ),
            _ => (
                format!("the key {name} is missing"),
                format!("add {name} = .."),
            ),
        },
        _ => match (message.split_once(", expected "), message.split_once("; ")) {
            (Some((wrong, needed)), _) => (wrong.to_owned(), format!("give {}", describe(needed))),
            (None, Some((what, remedy))) => (what.to_owned(), remedy.to_owned()),
            (None, None) => (message.to_owned(), "correct this key".to_owned()),
        },
    };
    Error::input(place, what, remedy)
}

fn choose(name: &str, allowed: &[&str]) -> String {
    let list = allowed.join(", ");
    let also = ALSO_KNOWN
        .iter()
        .find(|(other, key)| *other == name && allowed.contains(key));
    match also
        .map(|(_, key)| *key)
        .or_else(|| nearest(name, allowed.iter().copied()))
    {
        Some(key) if allowed.len() == 1 => format!("it is called {key} here"),
        Some(key) => format!("did you mean {key}? It is one of: {list}"),
        None if allowed.len() == 1 => format!("the only key is {list}"),
        None => format!("use one of: {list}"),
    }
}

/// The decoder's names of types, in words.
fn describe(needed: &str) -> String {
    let words = match needed {
        "f64" => "a number",
        "usize" => "a whole number, 0 or more",
        "a string" | "path string" => "a text in quotes",
        "an array of length 3" => "three numbers, such as [1, 0, 0]",
        "a map" => "a section or { .. }",
        "a sequence" => "a list, [..]",
        _ if needed.starts_with("struct ") => "a section or { .. }",
        _ => needed,
    };
    words.to_owned()
}
