//! A sum of many partial results. In single precision it is a pair of numbers: rounded at each
//! step, an error of the sum is the same in every row that is computed with it, so that it does not
//! average out as the rows' own do. Conjugate gradients take a tenth more iterations then.

use super::rows::combine;
use super::{Real, Reduce};

/// `value + rest`, the rest what rounding keeps from the value: 0 in double precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total<T> {
    /// The sum, rounded where it is [`settled`](Total::settled).
    pub value: T,
    /// What it lacks.
    pub rest: T,
}

impl<T: Real> Total<T> {
    /// Of nothing.
    pub const ZERO: Self = Self {
        value: T::ZERO,
        rest: T::ZERO,
    };

    /// The nearest one to `x`.
    pub fn of(x: f64) -> Self {
        let value = T::of(x);
        let rest = if T::PAIRED {
            T::of(x - value.f64())
        } else {
            T::ZERO
        };
        Self { value, rest }
    }

    /// Widens.
    pub fn f64(self) -> f64 {
        if T::PAIRED {
            self.value.f64() + self.rest.f64()
        } else {
            self.value.f64()
        }
    }

    /// Takes one more number in; a sum's rounding error is kept (Knuth's two-sum).
    #[inline(always)]
    pub fn with(self, kind: Reduce, x: T) -> Self {
        let value = combine(kind, self.value, x);
        let rest = match kind {
            Reduce::Sum if T::PAIRED => {
                let part = value - self.value;
                self.rest + ((self.value - (value - part)) + (x - part))
            }
            _ => T::ZERO,
        };
        Self { value, rest }
    }

    /// That of both.
    #[inline(always)]
    pub fn and(self, kind: Reduce, other: Self) -> Self {
        let mut both = self.with(kind, other.value);
        if T::PAIRED {
            both.rest = both.rest + other.rest;
        }
        both
    }

    /// `self / b`, both settled; its rest makes up for the rounding of its value.
    pub fn over(self, b: Self) -> Self {
        let value = self.value / b.value;
        if !T::PAIRED {
            let rest = T::ZERO;
            return Self { value, rest };
        }
        let left = (-value).fma(b.value, self.value) + (-value).fma(b.rest, self.rest);
        let rest = left / b.value;
        Self { value, rest }.settled()
    }

    /// The same, its value rounded once from all of it.
    pub fn settled(self) -> Self {
        if !T::PAIRED {
            return self;
        }
        let value = self.value + self.rest;
        let rest = self.rest - (value - self.value);
        Self { value, rest }
    }
}
