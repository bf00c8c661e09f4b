//! Mutated Gmsh files: the reader and the check give a mesh or one message, never a panic.

use couloir::mesh::{Geometry, Quality, check, gmsh};
use fastrand::Rng;

/// Numbers that break careless readers.
const NASTY: [&str; 14] = [
    "0",
    "-1",
    "1",
    "2147483647",
    "-2147483648",
    "4294967295",
    "18446744073709551615",
    "99999999999999999999",
    "nan",
    "-inf",
    "1e308",
    "1e-320",
    "$",
    "\"",
];

fn ascii(rng: &mut Rng, good: &[u8]) -> Vec<u8> {
    let mut text = good.to_vec();
    for _ in 0..rng.usize(1..4) {
        // The word around a random place, or one from somewhere else, or a nasty number.
        let at = rng.usize(..text.len());
        let blank = |b: &u8| b.is_ascii_whitespace();
        let from = text[..at].iter().rposition(blank).map_or(0, |i| i + 1);
        let to = text[at..]
            .iter()
            .position(blank)
            .map_or(text.len(), |i| at + i);
        let to = to.max(from);
        let word = match rng.u8(..4) {
            0 => NASTY[rng.usize(..NASTY.len())].as_bytes().to_vec(),
            1 => Vec::new(),
            2 => vec![rng.u8(..)],
            _ => {
                let other = rng.usize(..text.len());
                let words = text[other..].split(blank).filter(|w| !w.is_empty());
                words.skip(1).map(<[u8]>::to_vec).next().unwrap_or_default()
            }
        };
        text.splice(from..to, word);
        if text.is_empty() {
            break;
        }
    }
    text
}

fn binary(rng: &mut Rng, good: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..rng.usize(1..4) {
        // Headers are small: half of the changes go there.
        let end = if rng.bool() {
            bytes.len()
        } else {
            bytes.len().min(2200)
        };
        let at = rng.usize(..end);
        let width = rng.usize(1..=8).min(bytes.len() - at);
        match rng.u8(..4) {
            0 => bytes[at] ^= 1 << rng.u8(..8),
            1 => bytes[at..at + width].fill(if rng.bool() { 0xff } else { 0 }),
            2 => rng.fill(&mut bytes[at..at + width]),
            _ => drop(bytes.drain(at..at + width)),
        }
    }
    bytes
}

/// Runs the file through everything that reads a mesh.
fn survive(bytes: &[u8]) -> bool {
    let outcome = gmsh::parse(bytes, "a.msh").and_then(|mesh| {
        let geometry = Geometry::of(&mesh);
        check(&mesh, &geometry)?;
        Ok(Quality::of(&mesh, &geometry).recommend())
    });
    match outcome {
        Ok(_) => true,
        Err(error) => {
            let text = error.to_string();
            assert!(text.starts_with("a.msh") && !text.contains('\n'), "{text}");
            false
        }
    }
}

fn fuzz(name: &str, rounds: usize, mutate: fn(&mut Rng, &[u8]) -> Vec<u8>) {
    let good = std::fs::read(format!("tests/data/meshes/{name}.msh")).unwrap();
    assert!(survive(&good));
    let mut rng = Rng::with_seed(1982);
    let accepted = (0..rounds)
        .filter(|_| {
            let mut bad = mutate(&mut rng, &good);
            if rng.u8(..8) == 0 {
                bad.truncate(rng.usize(..=bad.len()));
            }
            survive(&bad)
        })
        .count();
    // Most mutations hurt: a reader that looks at nothing would accept them all.
    assert!(accepted < rounds / 2, "{accepted} of {rounds} accepted");
}

#[test]
fn ascii_22() {
    fuzz("hybrid_6_22", 1500, ascii);
}

#[test]
fn ascii_41() {
    fuzz("hybrid_6_41", 1500, ascii);
}

#[test]
fn binary_22() {
    fuzz("cube_tet_8_22b", 700, binary);
}

#[test]
fn binary_41() {
    fuzz("cube_tet_8_41b", 700, binary);
}

#[test]
fn truncation_at_every_place_of_a_header() {
    for name in [
        "hybrid_6_22",
        "hybrid_6_41",
        "cube_tet_8_22b",
        "cube_tet_8_41b",
    ] {
        let good = std::fs::read(format!("tests/data/meshes/{name}.msh")).unwrap();
        for end in (0..2500).chain(good.len() - 200..good.len() - 1) {
            // Only the last line end may be missing.
            assert!(!survive(&good[..end]), "{name} {end}");
        }
    }
}
