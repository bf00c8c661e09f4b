//! The iterations of a solve between two looks at its true residual.

use super::Pcg;
use crate::Result;
use crate::kernel::Real;
use crate::kernel::pcg_scalars::STOP;
use crate::split::{Engine, Operands};

/// Iterations between two looks at a device that runs ahead; fewer behind a factor, whose products
/// go on until the host has seen the end.
const LOOK: [usize; 2] = [8, 2];

impl<T: Real> Pcg<T> {
    /// At most `most` iterations, until the recurrence falls below its bound. Where the device
    /// does all the work, nobody waits for it: iterations after the last do nothing.
    pub(super) fn iterate(&mut self, engine: &Engine<T>, begun: bool, most: usize) -> Result<()> {
        self.watch.restart();
        let look = LOOK[usize::from(self.factor.is_some())];
        for n in 0..most {
            self.product(engine)?;
            let before = match &self.factor {
                _ if !begun || n > 0 => &self.step,
                Some(factor) => factor.start(),
                None => &self.begin,
            };
            let sums = [(before, 0), (&self.product, 0), (&self.product, 1)];
            let ahead = engine.reduce(&self.scalars, &sums, &mut self.state)?;
            let y = match &mut self.factor {
                Some(factor) => factor.z_mut(),
                None => &mut self.system.y,
            };
            engine.post(
                &mut self.step,
                Operands {
                    inout: &mut [y, &mut self.r, &mut self.p],
                    own: &[&self.s],
                    state: Some(&self.state),
                    ..Operands::default()
                },
            )?;
            let stopped = |state: &[T]| state[STOP] > T::ZERO;
            let over = match &engine.node.device {
                Some(d) if ahead => {
                    let seen = match n % look {
                        0 => self.watch.look(d, &self.state)?,
                        _ => None,
                    };
                    seen.is_some_and(stopped)
                }
                _ => stopped(self.state.read()?),
            };
            if over {
                break;
            }
        }
        Ok(())
    }

    /// `s = A p`, or `G A G^T p`.
    fn product(&mut self, engine: &Engine<T>) -> Result<()> {
        let beside = &self.system.beside;
        // Of the diagonal, the row's own share.
        let (matrix, x, own, halo) = match &mut self.factor {
            Some(factor) => {
                let (matrix, x, own) = factor.inner(engine, beside, &self.p)?;
                (matrix, x, own, None)
            }
            None => {
                let halo = engine.exchange(&self.halo, &mut self.p)?;
                (beside, &self.p, self.system.share, halo)
            }
        };
        engine.post(
            &mut self.product,
            Operands {
                out: &mut [&mut self.s],
                own: &[&self.p],
                gather: &[x],
                mats: &[matrix],
                scalars: &[T::of(own)],
                state: Some(&self.state),
                halo,
                ..Operands::default()
            },
        )
    }
}
