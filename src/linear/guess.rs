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

use habit::Habit;

use crate::Result;
use crate::kernel::guess_least::{self, Known, LENGTH, Row, STEPS};
use crate::kernel::{self, MAX_REDUCTIONS, Real};
use crate::node::Buffer;
use crate::sparse::Repeated;
use crate::split::{Asked, Engine, Following, Operands, Place, Rule, Site};

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
    gram: [Row; STEPS],
    learned: bool,
    /// How much of each step, where the calls read it; and the device's way to that.
    choice: Buffer<T>,
    rule: Option<Rule>,
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
            choice: node.buffer(LENGTH)?,
            rule: engine.rule(guess_least::NAME)?,
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

    /// Asks for what is to be known, once projected, and for the reductions of two `sites`: those of an
    /// entry and of a residual. Returns whether the device does what follows without the host, too: then
    /// [`add`](Self::add) may come before the answer. `bounds` are those of the norm of the residual over
    /// that of the right-hand side, and of itself, at which there is nothing to do.
    pub fn ask(
        &mut self,
        engine: &Engine<T>,
        [a, b]: [&mut Site<T>; 2],
        bounds: [f64; 2],
    ) -> Result<(Asked, bool)> {
        let known = self.known([0.0; STEPS], [0.0; 2], bounds);
        let values = known.values(self.learned).map(T::of);
        let rule = self.rule.as_ref();
        let following = rule
            .filter(|_| engine.runs_unwatched(&self.add))
            .map(|rule| Following {
                rule,
                state: &mut self.choice,
                values: &values,
            });
        let (learn, sums) = (&mut self.learn, &mut self.sums);
        match self.learned {
            true => engine.ask_and_follow([learn, sums, a, b], following),
            false => engine.ask_and_follow([sums, a, b], following),
        }
    }

    /// The answer: the reductions of the two `sites`, and whether there is something to add, which the
    /// host says where the device has not chosen `ahead`.
    pub fn told(
        &mut self,
        engine: &Engine<T>,
        asked: Asked,
        [a, b]: [&mut Site<T>; 2],
        bounds: [f64; 2],
        ahead: bool,
    ) -> Result<([[T; MAX_REDUCTIONS]; 2], bool)> {
        let Self { learn, sums, .. } = self;
        let (along, own) = if std::mem::take(&mut self.learned) {
            let [learned, sums, a, b] = engine.told(asked, [learn, sums, a, b])?;
            self.know(&learned);
            (sums, [a, b])
        } else {
            let [sums, a, b] = engine.told(asked, [sums, a, b])?;
            (sums, [a, b])
        };
        let squares = [own[0][0].f64(), own[1][0].f64()];
        let adds = self.choose(&along, squares, bounds, ahead)?;
        if ahead && !adds {
            self.add.did_nothing(1);
        }
        Ok((own, adds))
    }

    /// Whether there is something to add, once projected, whatever the residual.
    pub fn projected(&mut self, engine: &Engine<T>) -> Result<bool> {
        let Self { learn, sums, .. } = self;
        let along = if std::mem::take(&mut self.learned) {
            let [learned, sums] = engine.reductions([learn, sums])?;
            self.know(&learned);
            sums
        } else {
            engine.reductions([sums])?[0]
        };
        self.choose(&along, [0.0, f64::INFINITY], [0.0; 2], false)
    }

    /// Whether the calls are to add; the host tells them what, if the device does not know.
    fn choose(
        &mut self,
        along: &[T],
        squares: [f64; 2],
        bounds: [f64; 2],
        ahead: bool,
    ) -> Result<bool> {
        let along = std::array::from_fn(|k| along[k].f64());
        let choice = self.known(along, squares, bounds).choice();
        if !ahead && choice.is_some() {
            let state = guess_least::state(choice).map(T::of);
            self.choice.write()?[..LENGTH].copy_from_slice(&state);
        }
        if self.gram.iter().flatten().any(|g| !g.is_finite()) {
            // What is not a number would not be one times zero either.
            self.gram = [[0.0; STEPS]; STEPS];
            for buffer in self.pairs.iter_mut().flat_map(|p| [&mut p.d, &mut p.e]) {
                buffer.write()?.fill(T::ZERO);
            }
        }
        if choice.is_some() {
            // From now on the last pair has the beginning of this solve.
            self.open = true;
            for k in 0..STEPS {
                (self.gram[STEPS - 1][k], self.gram[k][STEPS - 1]) = (0.0, 0.0);
            }
        }
        Ok(choice.is_some())
    }

    fn known(&self, sums: Row, squares: [f64; 2], bounds: [f64; 2]) -> Known {
        Known {
            gram: self.gram,
            sums,
            squares,
            bounds,
            parallel: PARALLEL * T::EPSILON,
        }
    }

    /// The products of the newest step, which came after the others.
    fn know(&mut self, learned: &[T]) {
        let new = std::array::from_fn(|k| learned[k].f64());
        self.gram = guess_least::with_new(&self.gram, new);
    }

    /// Starts `y <- y + sum c d` and what that makes of `t`, by what was chosen; its reductions are
    /// `|root t|^2` and `|t|^2` then.
    pub fn add(
        &mut self,
        engine: &Engine<T>,
        [y, t]: [&mut Buffer<T>; 2],
        root: &Repeated<T>,
    ) -> Result<()> {
        let [a, b, last] = &mut self.pairs;
        let o = Operands {
            inout: &mut [y, t, &mut last.d, &mut last.e],
            own: &[&a.d, &a.e, &b.d, &b.e],
            repeated: &[root],
            state: Some(&self.choice),
            ..Operands::default()
        };
        engine.post(&mut self.add, o)
    }

    /// The solve begins elsewhere after all.
    pub fn begin_anew(&mut self) {
        self.open = false;
    }

    /// The site of [`add`](Self::add).
    pub fn added(&self) -> &Site<T> {
        &self.add
    }

    /// See [`added`](Self::added).
    pub fn added_mut(&mut self) -> &mut Site<T> {
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
