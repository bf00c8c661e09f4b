//! How much of each step of the solves before a solve begins with: the small system of a projection
//! (see [`guess`](crate::linear::guess)), on the host, or on a device that has the sums it needs.

/// Steps that are remembered: those of a lid-driven cavity of 40^3 cells take 160, 127, 119, 86, 90
/// iterations to 1e-8 with none to four of them, 16.5, 18.9, 17.2, 14.9, 13.5 to 1e-3.
pub const STEPS: usize = 3;

/// Where the state has what [`guess_add`](super::guess_add) is to do, behind the coefficients.
pub const ADDS: usize = STEPS;
/// Length of the state.
pub const LENGTH: usize = STEPS + 1;

/// The device's side.
pub const SOURCE: &str = include_str!("../../cl/guess_least.cl");
/// Its name.
pub const NAME: &str = "guess_least";

/// Largest coefficient: smooth series ask for 3, -3 and 1, or somewhat more where steps grow.
const MOST: f64 = 8.0;

/// A number for each step.
pub type Row = [f64; STEPS];

/// What coefficients follow from.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// `d_i . e_j`.
    pub gram: [Row; STEPS],
    /// `d_i . t`.
    pub sums: Row,
    /// `|b|^2`, and `|b - A x|^2`.
    pub squares: [f64; 2],
    /// Tolerance of that over this, and the norm that is round-off.
    pub bounds: [f64; 2],
    /// A step that has no more than this of its energy beside those before is none.
    pub parallel: f64,
}

impl Known {
    /// The numbers of a launch after the totals: those of the steps before the newest one, whose
    /// products are among the totals where it is `new`.
    pub fn values(&self, new: bool) -> [f64; 10] {
        let [[a, b, c], [_, d, e], [_, _, f]] = self.gram;
        let [tolerance, floor] = self.bounds;
        let new = f64::from(u8::from(new));
        [a, b, c, d, e, f, new, tolerance, floor, self.parallel]
    }

    /// The coefficients; none where these steps are no numbers, or nothing is to be done.
    pub fn choice(&self) -> Option<Row> {
        let least = (self.bounds[0] * self.squares[0].sqrt()).max(self.bounds[1]);
        let finite = self.gram.iter().flatten().all(|g| g.is_finite());
        (finite && self.squares[1] > least * least)
            .then(|| least_energy(&self.gram, self.sums, self.parallel))
    }
}

/// The state of a choice.
pub fn state(choice: Option<Row>) -> [f64; LENGTH] {
    let adds = f64::from(u8::from(choice.is_some()));
    let [a, b, c] = choice.unwrap_or_default();
    [a, b, c, adds]
}

/// The products of all steps when there is a new one, the first from now on.
pub fn with_new(before: &[Row; STEPS], new: Row) -> [Row; STEPS] {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (i.min(j), i.max(j)) {
            (0, k) => new[k],
            (i, j) => before[i - 1][j - 1],
        })
    })
}

/// `c` of least energy: `sum_j gram_ij c_j = sums_i`, where a step is left out (0) that has no energy,
/// or no more than `parallel` of it beside the steps before; and the last ones where otherwise a
/// coefficient would be far too large, or not a number.
fn least_energy(gram: &[Row; STEPS], sums: Row, parallel: f64) -> Row {
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
        let below =
            |l: &[Row; STEPS], j: usize| (0..j).fold(0.0, |sum, k| l[i][k].mul_add(l[j][k], sum));
        for j in 0..i {
            if l[j][j] > 0.0 {
                l[i][j] = (gram[i][j] - below(&l, j)) / l[j][j];
            }
        }
        let left = gram[i][i] - below(&l, i);
        if left > parallel * gram[i][i] && gram[i][i] > 0.0 {
            l[i][i] = left.sqrt();
            let before = (0..i).fold(0.0, |sum, k| l[i][k].mul_add(z[k], sum));
            z[i] = (sums[i] - before) / l[i][i];
        }
    }
    let mut c = [0.0; STEPS];
    for i in (0..steps).rev().filter(|&i| l[i][i] > 0.0) {
        let after = (i + 1..steps).fold(0.0, |sum, k| l[k][i].mul_add(c[k], sum));
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
            least_energy(&gram(d), d.map(|d| dot(d, t)), FINE),
            [3.0, -3.0, 1.0],
        );
    }

    #[test]
    fn what_does_not_lie_there_is_left() {
        // The last step has nothing of its own: the best along the two others.
        let d = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 1.0, 0.0]];
        let t = [2.0, 3.0, 5.0];
        assert_near(
            least_energy(&gram(d), d.map(|d| dot(d, t)), FINE),
            [-1.0, 3.0, 0.0],
        );
        // Nor has the second.
        let d = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        assert_near(
            least_energy(&gram(d), d.map(|d| dot(d, t)), FINE),
            [2.0, 0.0, 5.0],
        );
    }

    #[test]
    fn steps_that_tell_nothing_are_left_out() {
        let none = [0.0; STEPS];
        assert_eq!(least_energy(&[none; STEPS], none, FINE), none);
        assert_eq!(least_energy(&[none; STEPS], [1.0; STEPS], FINE), none);
        assert_eq!(
            least_energy(&[[f64::NAN; STEPS]; STEPS], [1.0; STEPS], FINE),
            none
        );
        let unit = gram([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        assert_eq!(least_energy(&unit, [f64::NAN, 1.0, 1.0], FINE), none);
        // Too far: fewer steps.
        assert_eq!(least_energy(&unit, [2.0, 1.0, 9.0], FINE), [2.0, 1.0, 0.0]);
        assert_eq!(least_energy(&unit, [9.0, 1.0, 1.0], FINE), none);
        // In single precision, what double precision would tell apart.
        let near = gram([[1.0, 0.0, 0.0], [1.0, 0.01, 0.0], [0.0; 3]]);
        assert_near(
            least_energy(&near, [1.0, 1.0001, 0.0], FINE),
            [0.0, 1.0, 0.0],
        );
        assert_eq!(
            least_energy(&near, [1.0, 1.0001, 0.0], 0.1),
            [1.0, 0.0, 0.0]
        );
    }
}
