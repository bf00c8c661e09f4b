//! Mixed precision on uniform boxes, where an error of rounding is the same in every row.

use couloir::bench::closed_box;
use couloir::split::Precision;

use crate::mixed::{cpu, residual, rhs, solve};

/// Iterations to 1e-8 on n^3 cells are within `most` of those of double precision.
fn takes_at_most(most: f64, n: usize) {
    let a = closed_box(n);
    let b = rhs(a.rows);
    let (plain, _) = solve(&cpu(Precision::Fp64), &a, true, &b, 1e-8);
    let (mixed, x) = solve(&cpu(Precision::Mixed), &a, true, &b, 1e-8);
    assert!(mixed.converged && residual(&a, &b, &x) <= 1.01e-8);
    let (p, m) = (plain.iterations, mixed.iterations);
    eprintln!("{n}^3: {m} iterations for {p}");
    assert!(m as f64 <= most * p as f64, "{n}: {m} for {p}");
}

#[test]
fn a_singular_system_stays_singular_in_single_precision() {
    // Rounded as it comes, the zero eigenvalue is 2.4e-8, and this takes 12 % more iterations.
    for n in [24, 32] {
        takes_at_most(1.05, n);
    }
}

#[test]
fn scalars_of_a_large_system_lose_nothing_in_single_precision() {
    // Rounded to one number each they are wrong alike in every row: 336 iterations for 301.
    takes_at_most(1.04, 56);
}
