//! With what a solve by conjugate gradients begins: its first state, from sums that are known at its start, on
//! a device that then need not wait for the host. The host finds the same as it enters the system and solves
//! it, and holds the two against each other (`src/linear/pcg`). The state says stop, with a step length of -1,
//! where there is nothing to do, or another start is to be made.

/// The device's side.
pub const SOURCE: &str = include_str!("../../cl/pcg_first.cl");
/// Its name.
pub const NAME: &str = "pcg_first";

/// Numbers of a launch after the totals.
pub const VALUES: usize = 8;

/// What is known before.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Of `|b - A x|` over `|b|`.
    pub tolerance: f64,
    /// Of `|b - A x|`.
    pub floor: f64,
    /// Largest `sum^2` over `|b|^2` at which the mean of `b` is left where it is, if it is not to be left
    /// there anyway.
    pub mean: Option<f64>,
    /// Least bound in whose unit squares are numbers.
    pub least: f64,
    /// Part of its sum that round-off is.
    pub round_off: f64,
    /// Part of the first `|b - A x|^2` down to which the recurrence is believed.
    pub farthest: f64,
    /// The state's number.
    pub origin: f64,
    /// The solve begins along the steps of those before.
    pub along: bool,
}

impl Known {
    /// The numbers of a launch after the totals, which are `|b|^2`, the sum for the mean, `|b - A x|^2`, the
    /// sum for its round-off and `r . r`; where the solve begins along other steps, `|b - A x|^2` and `r . r`
    /// there follow.
    pub fn values(&self) -> [f64; VALUES] {
        [
            self.tolerance,
            self.floor,
            self.mean.unwrap_or(-1.0),
            self.least,
            self.round_off,
            self.farthest,
            self.origin,
            f64::from(u8::from(self.along)),
        ]
    }
}
