//! The corner at which both sides take equally long, from all points near the best.

/// Points are near while they cost less than this multiple of the best...
const NEAR: f64 = 1.3;

/// ...and assignments of points to sides are improved this many times at most.
const ROUNDS: usize = 10;

/// A measured point.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The cut.
    pub x: f64,
    /// Its cost.
    pub cost: f64,
    /// Samples.
    pub weight: f64,
}

/// The cut at which a falling and a rising line meet; `None` if the points do not show both.
///
/// The time of a concurrent run is `max(T_host (1 - r), T_device r)`: two lines, each fitted by
/// least squares to the points where it is the higher one. The noise is taken to be a share of
/// the cost. `points` are sorted by `x`; only those of the valley around `best` are used.
pub fn corner(points: &[Point], best: usize) -> Option<f64> {
    let at = points.get(best)?;
    let low = |p: &&Point| p.cost < NEAR * at.cost;
    let before = points.get(..best)?.iter().rev().take_while(low).count();
    let after = points.get(best + 1..)?.iter().take_while(low).count();
    let valley = points.get(best - before..=best + after)?;
    let mut x = at.x;
    for _ in 0..ROUNDS {
        let left = line(valley.iter().filter(|p| p.x <= x))?;
        let right = line(valley.iter().filter(|p| p.x >= x))?;
        if left.1 >= 0.0 || right.1 <= 0.0 {
            return None;
        }
        let meet = (left.0 - right.0) / (right.1 - left.1);
        let moved = (meet - x).abs();
        x = meet.clamp(valley.first()?.x, valley.last()?.x);
        if moved < 0.5 {
            break;
        }
    }
    Some(x)
}

/// `(a, b)` of the line `a + b x`; `None` without two different points.
fn line<'a>(points: impl Iterator<Item = &'a Point> + Clone) -> Option<(f64, f64)> {
    let weight = |p: &Point| p.weight / (p.cost * p.cost);
    let sum = |f: &dyn Fn(&Point) -> f64| points.clone().map(|p| weight(p) * f(p)).sum::<f64>();
    let w = sum(&|_| 1.0);
    let (x, y) = (sum(&|p| p.x) / w, sum(&|p| p.cost) / w);
    let spread = sum(&|p| (p.x - x) * (p.x - x));
    let slope = sum(&|p| (p.x - x) * (p.cost - y)) / spread;
    (slope.is_finite() && spread > 0.0).then_some((y - slope * x, slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(xs: &[f64], cost: impl Fn(f64) -> f64) -> Vec<Point> {
        let point = |&x| Point {
            x,
            cost: cost(x),
            weight: 3.0,
        };
        xs.iter().map(point).collect()
    }

    #[test]
    fn the_corner_of_two_lines_is_found_from_a_neighbouring_point() {
        let xs = [0.0, 24.0, 32.0, 40.0, 50.0, 56.0, 80.0, 100.0];
        let p = points(&xs, |x| (100.0 - x).max(1.5 * x));
        for best in [2, 3] {
            let x = corner(&p, best).expect("two lines");
            assert!((x - 40.0).abs() < 1e-9, "{x}");
        }
    }

    #[test]
    fn a_second_valley_is_left_out_and_one_line_or_a_plateau_has_no_corner() {
        let xs: Vec<f64> = (0..=100).map(f64::from).collect();
        let p = points(&xs, |x| {
            10.0 + (x - 20.0).abs().min(3.0 + 3.0 * (x - 80.0).abs())
        });
        assert!((corner(&p, 20).expect("two lines") - 20.0).abs() < 1.0);
        assert!(corner(&points(&xs, |x| 100.0 + x), 0).is_none());
        assert!(corner(&points(&xs, |_| 1.0), 7).is_none());
        assert!(corner(&[], 0).is_none());
    }
}
