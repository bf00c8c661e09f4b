//! A kernel against its reference on random operands: the self-check of a device, and the tests
//! of every kernel.

mod matrix;
mod repeated;

use super::engine::{Engine, Operands};
use super::site::Site;
use crate::kernel::pcg_scalars::{LATER, PATTERN, TAKERS};
use crate::kernel::{Kernel, MAX_REDUCTIONS, Real, Rows};
use crate::node::{BLOCK, Buffer, Node};
use crate::sparse::{Repeated, Sell};
use crate::{Error, Result};

/// Random operands of one kernel.
pub struct Case<T: Real> {
    kernel: Kernel<T>,
    out: Vec<Buffer<T>>,
    inout: Vec<Buffer<T>>,
    own: Vec<Buffer<T>>,
    repeated: Vec<Repeated<T>>,
    gather: Vec<Buffer<T>>,
    mats: Vec<Sell<T>>,
    scalars: Vec<T>,
    state: Option<Buffer<T>>,
}

/// What a kernel computed: every vector written (with its padding), then the reductions.
#[derive(Clone, Debug, PartialEq)]
pub struct Results<T> {
    /// Vectors.
    pub vectors: Vec<Vec<T>>,
    /// Reductions.
    pub reductions: [T; MAX_REDUCTIONS],
}

/// Random operands for `kernel` with `rows` rows, the same for the same seed.
///
/// # Errors
/// Out of memory.
pub fn random_case<T: Real>(
    node: &Node,
    kernel: Kernel<T>,
    rows: usize,
    seed: u64,
) -> Result<Case<T>> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let s = kernel.shape;
    // Matrices are not square, so that a mix-up of rows and columns shows; and those of odd seeds
    // have columns too far apart for 16 bits.
    let far = if seed % 2 == 1 { 1 << 17 } else { 0 };
    let cols = rows + rows / 3 + 7 + far;
    let vectors = |count: usize, len: usize, rng: &mut fastrand::Rng| -> Result<Vec<Buffer<T>>> {
        (0..count)
            .map(|_| node.buffer_from(&(0..len).map(|_| number(rng)).collect::<Vec<T>>()))
            .collect()
    };
    let [out, inout, own] = [s.out, s.inout, s.own].map(|count| vectors(count, rows, &mut rng));
    let gather = vectors(s.gather, cols, &mut rng)?;
    let (mats, of_elements) = match s.by_element {
        true => {
            let made = matrix::by_element(node, rows, cols, &mut rng)?;
            (made.mats.into(), Some(made.values))
        }
        false => {
            let random = |&planes| matrix::random(node, rows, cols, planes, &mut rng);
            (s.mats.iter().map(random).collect::<Result<_>>()?, None)
        }
    };
    let by_rows = s.repeated - usize::from(of_elements.is_some());
    let repeated = (0..by_rows).map(|_| repeated::random(node, rows, &mut rng));
    let repeated = repeated.chain(of_elements.map(Ok)).collect::<Result<_>>()?;
    Ok(Case {
        out: out?,
        inout: inout?,
        own: own?,
        repeated,
        gather,
        mats,
        scalars: (0..s.scalars).map(|_| number(&mut rng)).collect(),
        state: (s.state > 0)
            .then(|| state(node, s.state, &mut rng))
            .transpose()?,
        kernel,
    })
}

fn number<T: Real>(rng: &mut fastrand::Rng) -> T {
    T::of(2.0 * rng.f64() - 1.0)
}

/// Below zero: no solve has stopped. Some rows take the other step length; some steps leave
/// something to the next.
fn state<T: Real>(node: &Node, n: usize, rng: &mut fastrand::Rng) -> Result<Buffer<T>> {
    let mut all: Vec<T> = (0..n).map(|_| T::of(-rng.f64())).collect();
    if let Some(takers) = all.get_mut(TAKERS) {
        *takers = T::of(PATTERN as f64 / -2.0) * *takers;
        all[LATER] = T::of(if rng.bool() { 1.0 } else { 0.0 });
    }
    node.buffer_from(&all)
}

impl<T: Real> Case<T> {
    /// What the reference makes of the operands, which stay as they are.
    ///
    /// # Errors
    /// A transfer or mapping failed.
    pub fn reference(&self) -> Result<Results<T>> {
        let n = self.site_rows();
        let mut out = vec![vec![T::ZERO; n]; self.out.len()];
        let mut inout = Vec::new();
        for b in &self.inout {
            inout.push(b.share(0, 0)?.host.to_vec());
        }
        let mut partial = vec![vec![T::ZERO; n / BLOCK]; self.kernel.shape.reduce.len()];
        let mut r = Rows {
            first: 0,
            n,
            out: Default::default(),
            inout: Default::default(),
            partial: Default::default(),
            own: Default::default(),
            repeated: Default::default(),
            gather: Default::default(),
            mats: Default::default(),
            scalars: &self.scalars,
            state: &[],
            stream: false,
        };
        if let Some(b) = &self.state {
            r.state = b.share(0, 0)?.host;
        }
        fill(&mut r.out, out.iter_mut().map(Vec::as_mut_slice));
        fill(&mut r.inout, inout.iter_mut().map(Vec::as_mut_slice));
        fill(&mut r.partial, partial.iter_mut().map(Vec::as_mut_slice));
        for (slot, b) in r.own.iter_mut().zip(&self.own) {
            *slot = b.share(0, 0)?.host;
        }
        for (slot, b) in r.repeated.iter_mut().zip(&self.repeated) {
            *slot = b.view(false, true)?;
        }
        for (slot, b) in r.gather.iter_mut().zip(&self.gather) {
            *slot = b.share(0, 0)?.host;
        }
        for (slot, m) in r.mats.iter_mut().zip(&self.mats) {
            *slot = m.view(false, true)?;
        }
        (self.kernel.reference)(&mut r);
        let mut reductions = [T::ZERO; MAX_REDUCTIONS];
        for ((total, partial), kind) in reductions
            .iter_mut()
            .zip(&partial)
            .zip(self.kernel.shape.reduce)
        {
            *total = partial
                .iter()
                .fold(T::ZERO, |a, &b| crate::kernel::rows::combine(*kind, a, b));
        }
        out.append(&mut inout);
        Ok(Results {
            vectors: out,
            reductions,
        })
    }

    /// What `engine` makes of them with `ratio` of the rows on the device.
    ///
    /// # Errors
    /// The device failed.
    pub fn run(&mut self, engine: &Engine<T>, ratio: f64) -> Result<Results<T>> {
        let mut site: Site<T> = engine.site(self.kernel, "check", self.len())?;
        engine.set_ratio(&mut site, ratio);
        self.run_at(engine, &mut site)
    }

    /// What is made of them at `site`.
    fn run_at(&mut self, engine: &Engine<T>, site: &mut Site<T>) -> Result<Results<T>> {
        let before = self
            .inout
            .iter()
            .map(|b| Ok(b.share(0, 0)?.host.to_vec()))
            .collect::<Result<Vec<_>>>()?;
        let reductions = engine.run(
            site,
            Operands {
                out: &mut self.out.iter_mut().collect::<Vec<_>>(),
                inout: &mut self.inout.iter_mut().collect::<Vec<_>>(),
                own: &self.own.iter().collect::<Vec<_>>(),
                repeated: &self.repeated.iter().collect::<Vec<_>>(),
                gather: &self.gather.iter().collect::<Vec<_>>(),
                mats: &self.mats.iter().collect::<Vec<_>>(),
                scalars: &self.scalars,
                state: self.state.as_ref(),
                halo: None,
                first: None,
            },
        )?;
        let mut vectors = Vec::new();
        for b in self.out.iter().chain(&self.inout) {
            vectors.push(b.share(0, 0)?.host.to_vec());
        }
        for (b, old) in self.inout.iter_mut().zip(&before) {
            b.write()?.copy_from_slice(old);
        }
        Ok(Results {
            vectors,
            reductions,
        })
    }

    fn len(&self) -> usize {
        let vectors = self
            .out
            .iter()
            .chain(&self.inout)
            .chain(&self.own)
            .map(Buffer::len);
        vectors
            .chain(self.repeated.iter().map(Repeated::len))
            .chain(self.mats.iter().map(Sell::rows))
            .next()
            .unwrap_or(0)
    }

    fn site_rows(&self) -> usize {
        crate::node::padded(self.len().max(1))
    }
}

fn fill<'a, X>(slots: &mut [&'a mut [X]], values: impl Iterator<Item = &'a mut [X]>) {
    for (slot, v) in slots.iter_mut().zip(values) {
        *slot = v;
    }
}

impl<T: Real> Results<T> {
    /// Largest difference relative to the largest magnitude of the same vector or, for
    /// reductions, to `scale`.
    pub fn distance(&self, other: &Self, scale: f64) -> f64 {
        let mut worst = 0.0f64;
        for (a, b) in self.vectors.iter().zip(&other.vectors) {
            let size = b
                .iter()
                .fold(0.0f64, |m, x| m.max(x.f64().abs()))
                .max(f64::MIN_POSITIVE);
            for (x, y) in a.iter().zip(b) {
                let d = (x.f64() - y.f64()).abs() / size;
                worst = if d.is_nan() {
                    f64::INFINITY
                } else {
                    worst.max(d)
                };
            }
        }
        for (x, y) in self.reductions.iter().zip(&other.reductions) {
            let d = (x.f64() - y.f64()).abs() / scale;
            worst = if d.is_nan() {
                f64::INFINITY
            } else {
                worst.max(d)
            };
        }
        worst
    }
}

impl<T: Real> Engine<T> {
    /// Runs each of `kernels` on the device alone and compares with the reference.
    pub(super) fn self_check(&self, kernels: &[Kernel<T>]) -> Result<()> {
        let Some(device) = &self.node.device else {
            return Ok(());
        };
        let tolerance = if size_of::<T>() == 8 { 1e-12 } else { 1e-4 };
        // With columns that are near, then with far ones.
        let twice = kernels.iter().flat_map(|k| [k, k]);
        for (seed, &kernel) in twice.enumerate() {
            let name = kernel.name;
            let mut case = random_case(&self.node, kernel, 2 * BLOCK + 77, seed as u64)?;
            let expected = case.reference()?;
            let mut site = self.site(kernel, "check", case.len())?;
            self.set_ratio(&mut site, 1.0);
            let scale = (3 * BLOCK) as f64;
            let mut distance = case.run_at(self, &mut site)?.distance(&expected, scale);
            for other in [site.long.take(), site.ahead.take()].into_iter().flatten() {
                site.handle = Some(other);
                let got = case.run_at(self, &mut site)?;
                distance = distance.max(got.distance(&expected, scale));
            }
            if distance > tolerance {
                return Err(Error::Device {
                    device: device.info.name.clone(),
                    what: format!("kernel {name} miscomputes (relative error {distance:.1e})"),
                    remedy: "update the driver, or run with --device none".into(),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
