//! The small system of a projection.

/// Steps that are remembered: those of a lid-driven cavity of 40^3 cells take 160, 127, 119, 86, 90
/// iterations to 1e-8 with none to four of them, 16.5, 18.9, 17.2, 14.9, 13.5 to 1e-3.
pub(in crate::linear) const STEPS: usize = 3;

/// Largest coefficient: smooth series ask for 3, -3 and 1, or somewhat more where steps grow.
const MOST: f64 = 8.0;

type Row = [f64; STEPS];

/// `c` of least energy: `sum_j gram_ij c_j = sums_i`, where a step is left out (0) that has no energy,
/// or no more than `parallel` of it beside the steps before; and the last ones where otherwise a
/// coefficient would be far too large, or not a number.
pub(super) fn least(gram: &[Row; STEPS], sums: Row, parallel: f64) -> Row {
    for steps in (1..=STEPS).rev() {
        let c = along(gram, sums, parallel, steps);
        if c.iter().all(|c| c.abs() <= MOST) {
            return c;
        }
    }
    [0.0; STEPS]
}

/// The same of the first so many steps, by Cholesky's factor, whatever the coefficients.
fn along(gram: &[Row; STEPS], sums: Row, parallel: f64, steps: usize) -> Row {
    let (mut l, mut z) = ([[0.0; STEPS]; STEPS], [0.0; STEPS]);
    for i in 0..steps {
        let below = |l: &[Row; STEPS], j: usize| (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
        for j in 0..i {
            if l[j][j] > 0.0 {
                l[i][j] = (gram[i][j] - below(&l, j)) / l[j][j];
            }
        }
        let left = gram[i][i] - below(&l, i);
        if left > parallel * gram[i][i] && gram[i][i] > 0.0 {
            l[i][i] = left.sqrt();
            z[i] = (sums[i] - (0..i).map(|k| l[i][k] * z[k]).sum::<f64>()) / l[i][i];
        }
    }
    let mut c = [0.0; STEPS];
    for i in (0..steps).rev().filter(|&i| l[i][i] > 0.0) {
        let after: f64 = (i + 1..steps).map(|k| l[k][i] * c[k]).sum();
        c[i] = (z[i] - after) / l[i][i];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: f64 = 1e-10;

    /// Steps whose energy is the plain product.
    fn gram(d: [Row; STEPS]) -> [Row; STEPS] {
        d.map(|a| d.map(|b| dot(a, b)))
    }

    fn dot(a: Row, b: Row) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn assert_near(got: Row, wanted: Row) {
        let near = got.iter().zip(wanted).all(|(g, w)| (g - w).abs() < 1e-12);
        assert!(near, "{got:?} for {wanted:?}");
    }

    #[test]
    fn what_lies_along_the_steps_is_found() {
        let d = [[3.0, 1.0, 0.5], [1.0, 2.0, -0.25], [0.25, 0.5, 1.0]];
        let t: Row = std::array::from_fn(|k| 3.0 * d[0][k] - 3.0 * d[1][k] + d[2][k]);
        assert_near(
            least(&gram(d), d.map(|d| dot(d, t)), FINE),
            [3.0, -3.0, 1.0],
        );
    }

    #[test]
    fn what_does_not_lie_there_is_left() {
        // The last step has nothing of its own: the best along the two others.
        let d = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 1.0, 0.0]];
        let t = [2.0, 3.0, 5.0];
        assert_near(
            least(&gram(d), d.map(|d| dot(d, t)), FINE),
            [-1.0, 3.0, 0.0],
        );
        // Nor has the second.
        let d = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        assert_near(least(&gram(d), d.map(|d| dot(d, t)), FINE), [2.0, 0.0, 5.0]);
    }

    #[test]
    fn steps_that_tell_nothing_are_left_out() {
        let none = [0.0; STEPS];
        assert_eq!(least(&[none; STEPS], none, FINE), none);
        assert_eq!(least(&[none; STEPS], [1.0; STEPS], FINE), none);
        assert_eq!(least(&[[f64::NAN; STEPS]; STEPS], [1.0; STEPS], FINE), none);
        let unit = gram([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        assert_eq!(least(&unit, [f64::NAN, 1.0, 1.0], FINE), none);
        // Too far: fewer steps.
        assert_eq!(least(&unit, [2.0, 1.0, 9.0], FINE), [2.0, 1.0, 0.0]);
        assert_eq!(least(&unit, [9.0, 1.0, 1.0], FINE), none);
        // In single precision, what double precision would tell apart.
        let near = gram([[1.0, 0.0, 0.0], [1.0, 0.01, 0.0], [0.0; 3]]);
        assert_near(least(&near, [1.0, 1.0001, 0.0], FINE), [0.0, 1.0, 0.0]);
        assert_eq!(least(&near, [1.0, 1.0001, 0.0], 0.1), [1.0, 0.0, 0.0]);
    }
}
