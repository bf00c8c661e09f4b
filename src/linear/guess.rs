//! Where a solve of a series begins: from the present `y` along the steps that the solves before
//! have made, as far as the energy of the error falls (Fischer 1998, projection onto earlier
//! solutions). Right-hand sides of a flow change smoothly from step to step, so that three steps
//! extrapolate the fourth; and where they are rough, as loose tolerances leave them, the projection
//! takes less of them.
//!
//! With `t = f - A y`, and `d_i` a solve's way from its beginning, `e_i = A d_i`: the error
//! `|y* - (y + sum c_i d_i)|_A` is least where `sum_j (d_i . e_j) c_j = d_i . t`. Both `d` and `e` are
//! differences of what a solve has anyway, `y` and `t` at its beginning and its end, so that nothing
//! is multiplied for it: 200 bytes a row and solve in fp64, as of three iterations on a grid.

mod habit;
mod least;

use habit::Habit;
pub(super) use least::STEPS;
use least::least;

use crate::Result;
use crate::kernel::{self, MAX_REDUCTIONS, Real};
use crate::node::Buffer;
use crate::split::{Engine, Operands, Place, Site};

/// By how many times the precision a step's energy is to leave that along the others, as far as sums
/// can tell.
const PARALLEL: f64 = 1e6;

/// The way of a solve, and A times that.
struct Pair<T: Real> {
    d: Buffer<T>,
    e: Buffer<T>,
}

/// The memory of the solves before.
pub(super) struct Guess<T: Real> {
    /// The newest one first. The last is overwritten when a solve begins.
    pairs: [Pair<T>; STEPS],
    sums: Site<T>,
    add: Site<T>,
    learn: Site<T>,
    /// `d_i . e_j`; what the last solve adds is known when the next one begins.
    gram: [[f64; STEPS]; STEPS],
    learned: bool,
    /// A solve has begun from here, and the last pair has its beginning.
    open: bool,
    habit: Habit,
}

impl<T: Real> Guess<T> {
    /// For a system of `n` rows; `name` names its sites.
    pub fn new(engine: &Engine<T>, n: usize, name: &dyn Fn(&str) -> String) -> Result<Self> {
        let node = &engine.node;
        let pair = || {
            let (d, e) = (node.buffer(n)?, node.buffer(n)?);
            Ok(Pair { d, e })
        };
        Ok(Self {
            pairs: [pair()?, pair()?, pair()?],
            sums: engine.site(kernel::guess_sums::kernel(), &name("projection"), n)?,
            add: engine.site(kernel::guess_add::kernel(), &name("guess"), n)?,
            learn: engine.site(kernel::guess_learn::kernel(), &name("memory"), n)?,
            gram: [[0.0; STEPS]; STEPS],
            learned: false,
            open: false,
            habit: Habit::default(),
        })
    }

    /// Whether the next solve is to begin from here: where that pays, or is to be found out.
    pub fn pays(&self) -> bool {
        self.habit.is_on()
    }

    /// Starts what is to be known of the residual `t`.
    pub fn project(&mut self, engine: &Engine<T>, t: &Buffer<T>) -> Result<()> {
        let [a, b, c] = &self.pairs;
        let o = Operands {
            own: &[t, &a.d, &b.d, &c.d],
            ..Operands::default()
        };
        engine.post(&mut self.sums, o)
    }

    /// How much of each step, once projected; and the reductions of two `sites`, asked for at once.
    pub fn projected(
        &mut self,
        engine: &Engine<T>,
        [a, b]: [&mut Site<T>; 2],
    ) -> Result<([f64; STEPS], [[T; MAX_REDUCTIONS]; 2])> {
        let Self { learn, sums, .. } = self;
        let (along, own) = if std::mem::take(&mut self.learned) {
            let [learned, sums, a, b] = engine.reductions([learn, sums, a, b])?;
            self.know(&learned)?;
            (sums, [a, b])
        } else {
            let [sums, a, b] = engine.reductions([sums, a, b])?;
            (sums, [a, b])
        };
        Ok((self.along(&along), own))
    }

    /// How much of each step, once projected.
    pub fn projected_alone(&mut self, engine: &Engine<T>) -> Result<[f64; STEPS]> {
        let Self { learn, sums, .. } = self;
        let along = if std::mem::take(&mut self.learned) {
            let [learned, sums] = engine.reductions([learn, sums])?;
            self.know(&learned)?;
            sums
        } else {
            engine.reductions([sums])?[0]
        };
        Ok(self.along(&along))
    }

    fn along(&self, sums: &[T]) -> [f64; STEPS] {
        let sums = std::array::from_fn(|k| sums[k].f64());
        least(&self.gram, sums, PARALLEL * T::EPSILON)
    }

    /// The products of the newest step, which came after the others.
    fn know(&mut self, learned: &[T]) -> Result<()> {
        let before = self.gram;
        for i in 0..STEPS {
            for j in 0..STEPS {
                self.gram[i][j] = match (i.min(j), i.max(j)) {
                    (0, k) => learned[k].f64(),
                    (i, j) => before[i - 1][j - 1],
                };
            }
        }
        if self.gram.iter().flatten().all(|g| g.is_finite()) {
            return Ok(());
        }
        // What is not a number would not be one times zero either.
        self.gram = [[0.0; STEPS]; STEPS];
        for buffer in self.pairs.iter_mut().flat_map(|p| [&mut p.d, &mut p.e]) {
            buffer.write()?.fill(T::ZERO);
        }
        Ok(())
    }

    /// Starts `y <- y + sum c d` and what that makes of `t`; its reduction is `|root t|^2`.
    pub fn add(
        &mut self,
        engine: &Engine<T>,
        [y, t]: [&mut Buffer<T>; 2],
        root: &Buffer<T>,
        [c0, c1, c]: [f64; STEPS],
    ) -> Result<()> {
        let [a, b, last] = &mut self.pairs;
        let o = Operands {
            inout: &mut [y, t, &mut last.d, &mut last.e],
            own: &[&a.d, &a.e, &b.d, &b.e, root],
            scalars: &[T::of(c), T::of(c0), T::of(c1)],
            ..Operands::default()
        };
        engine.post(&mut self.add, o)?;
        self.open = true;
        for k in 0..STEPS {
            (self.gram[STEPS - 1][k], self.gram[k][STEPS - 1]) = (0.0, 0.0);
        }
        Ok(())
    }

    /// The site of [`add`](Self::add).
    pub fn added(&mut self) -> &mut Site<T> {
        &mut self.add
    }

    /// Ends a solve of so many iterations: keeps its way, if it began here, from its `y` and `t` at
    /// the end.
    pub fn end(
        &mut self,
        engine: &Engine<T>,
        [y, t]: [&Buffer<T>; 2],
        iterations: usize,
    ) -> Result<()> {
        self.habit.count(iterations);
        if !std::mem::take(&mut self.open) {
            return Ok(());
        }
        let [a, b, last] = &mut self.pairs;
        let o = Operands {
            inout: &mut [&mut last.d, &mut last.e],
            own: &[y, t, &a.e, &b.e],
            ..Operands::default()
        };
        engine.post(&mut self.learn, o)?;
        self.learned = true;
        self.pairs.rotate_right(1);
        Ok(())
    }

    /// Its call sites.
    pub fn sites(&self) -> [&Place; 3] {
        [&self.sums, &self.add, &self.learn]
    }

    /// Bytes copied between host and device so far.
    pub fn copied_bytes(&self) -> u64 {
        let own = self.pairs.iter().flat_map(|p| [&p.d, &p.e]);
        own.map(|b| b.copied_bytes()).sum()
    }
}
