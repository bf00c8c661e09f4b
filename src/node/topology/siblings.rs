//! Hardware threads that share a core, and cores that share a cache.

use super::{CPU, listed};
use crate::node::Tree;

/// The hardware threads of `core`'s core, itself among them.
fn threads(tree: &Tree, core: usize) -> Vec<usize> {
    let file = format!("{CPU}/cpu{core}/topology/thread_siblings_list");
    let all = listed(&tree.text(&file).unwrap_or_default());
    if all.contains(&core) { all } else { vec![core] }
}

/// `cores` so that those of a package are in a row, in it those of a last cache, and in these the
/// hardware threads of a core: whoever takes a part from such a row shares as little as can be with
/// others.
pub fn together(tree: &Tree, cores: &[usize]) -> Vec<usize> {
    let number = |core: usize, file: &str| {
        let file = format!("{CPU}/cpu{core}/{file}");
        tree.integer(&file).unwrap_or(0)
    };
    let mut row = cores.to_vec();
    row.sort_by_cached_key(|&c| {
        (
            number(c, "topology/physical_package_id"),
            number(c, "cache/index3/id"),
            threads(tree, c).into_iter().min(),
            c,
        )
    });
    row
}

/// `cores`, the first hardware thread of each of their cores before all second ones: fewer threads
/// than these have a core each.
pub fn apart(tree: &Tree, cores: &[usize]) -> Vec<usize> {
    let mut row = cores.to_vec();
    row.sort_by_cached_key(|&c| {
        let before = |t: &&usize| **t < c && cores.contains(*t);
        threads(tree, c).iter().filter(before).count()
    });
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each core's `(package, cache, siblings)`; other files are missing.
    fn machine(of: fn(usize) -> (usize, usize, String)) -> Tree {
        Tree::with_reader("/", move |path| {
            let path = path.to_string_lossy();
            let (_, rest) = path.split_once("/cpu/cpu").unwrap_or_default();
            let (core, file) = rest.split_once('/').unwrap_or_default();
            let (package, cache, siblings) = of(core.parse().unwrap_or(0));
            match file {
                "topology/physical_package_id" => Ok(package.to_string()),
                "cache/index3/id" => Ok(cache.to_string()),
                "topology/thread_siblings_list" => Ok(siblings),
                _ => Err(std::io::ErrorKind::NotFound.into()),
            }
        })
    }

    #[test]
    fn hardware_threads_of_a_core_stay_with_one_rank() {
        // Eight threads of four cores, numbered as on most machines.
        let usual = machine(|c| (0, c % 4 / 2, format!("{},{}\n", c % 4, c % 4 + 4)));
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(together(&usual, &all), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(apart(&usual, &[0, 1, 4, 5]), [0, 1, 4, 5]);
        // As in many virtual machines.
        let pairs = machine(|c| (0, 0, format!("{}-{}", c / 2 * 2, c / 2 * 2 + 1)));
        assert_eq!(together(&pairs, &all), all);
        assert_eq!(apart(&pairs, &all), [0, 2, 4, 6, 1, 3, 5, 7]);
        // A second thread alone is as good as a first.
        assert_eq!(apart(&pairs, &[1, 2, 3]), [1, 2, 3]);
    }

    #[test]
    fn packages_and_caches_stay_together_and_what_is_unknown_changes_nothing() {
        // Packages take turns, as some firmware numbers them.
        let turns = machine(|c| (c % 2, 0, c.to_string()));
        assert_eq!(together(&turns, &[0, 1, 2, 3]), [0, 2, 1, 3]);
        let caches = machine(|c| (0, c % 2, c.to_string()));
        assert_eq!(together(&caches, &[0, 1, 2, 3]), [0, 2, 1, 3]);
        let unknown = Tree::with_reader("/", |_| Err(std::io::ErrorKind::NotFound.into()));
        assert_eq!(together(&unknown, &[3, 5, 4]), [3, 4, 5]);
        assert_eq!(apart(&unknown, &[3, 5, 4]), [3, 5, 4]);
        let wrong = machine(|_| (0, 0, "many".into()));
        assert_eq!(apart(&wrong, &[1, 0]), [1, 0]);
    }
}
