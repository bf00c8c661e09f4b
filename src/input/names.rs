//! Suggestions for mistyped names.

/// The candidate that a mistyped `word` most likely meant: the one that the fewest edits turn
/// into it, if that is at most one edit in three letters.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|(edits, _)| *edits <= most)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into
/// `b`, in any case of letters (the optimal string alignment distance).
fn edits(a: &str, b: &str) -> usize {
    let fold = |s: &str| s.to_lowercase().chars().collect::<Vec<_>>();
    let (a, b) = (fold(a), fold(b));
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, n) in [
            ("", "abc", 3),
            ("mesh", "mesh", 0),
            ("mesh", "mehs", 1),
            ("viscocity", "viscosity", 1),
            ("Tolerance", "tolerence", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edits(a, b), n, "{a} {b}");
            assert_eq!(edits(b, a), n, "{b} {a}");
        }
    }

    #[test]
    fn far_names_are_not_suggested() {
        let names = ["run", "tune", "mesh", "devices"];
        assert_eq!(nearest("rnu", names), Some("run"));
        assert_eq!(nearest("device", names), Some("devices"));
        assert_eq!(nearest("simulate", names), None);
    }
}
