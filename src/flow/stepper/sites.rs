//! The call sites of a step.

use super::K;
use crate::flow::operators::{Operators, Scheme};
use crate::kernel::{self, Real};
use crate::split::{Engine, Place, Site};
use crate::{Error, Result};

/// Makes the struct, its constructor and the list of its members from one table.
macro_rules! sites {
    ($($name:ident: $op:ident, $label:literal, $rows:expr, $schemes:expr;)*) => {
        /// One member per place where a step calls a kernel.
        pub(super) struct Sites<T: Real> {
            $(pub $name: Site<T>,)*
        }

        impl<T: Real> Sites<T> {
            /// For steps with these operators.
            pub fn new(engine: &Engine<T>, ops: &Operators) -> Result<Self> {
                let rows = Rows::of(ops);
                let table: Vec<(K<T>, &str, usize)> =
                    vec![$((kernel::$op::kernel(), $label, $rows(&rows))),*];
                let made = table.into_iter().map(|(k, label, rows)| engine.site(k, label, rows));
                let made: Vec<Site<T>> = made.collect::<Result<_>>()?;
                // One way out for all of them: eighteen would be most of this function.
                let Ok([$($name),*]) = <[Site<T>; _]>::try_from(made) else {
                    return Err(Error::failure("a call site is missing", "report this as a defect"));
                };
                let mut sites = Self { $($name),* };
                sites.momentum_flux.count_only(ops.counted_faces);
                Ok(sites)
            }

            /// The sites that `scheme` calls.
            pub fn used(&self, scheme: Scheme) -> Vec<&Place> {
                let mut all: Vec<&Place> = Vec::new();
                $(if $schemes(scheme) {
                    all.push(&self.$name);
                })*
                all
            }
        }
    };
}

/// Row spaces.
struct Rows {
    cells: usize,
    faces: usize,
    nodes: usize,
}

impl Rows {
    fn of(ops: &Operators) -> Self {
        Self {
            cells: ops.cells,
            faces: ops.faces,
            nodes: ops.nodes,
        }
    }
}

const CELLS: fn(&Rows) -> usize = |r| r.cells;
const FACES: fn(&Rows) -> usize = |r| r.faces;
const NODES: fn(&Rows) -> usize = |r| r.nodes;
const BOTH: fn(Scheme) -> bool = |_| true;
const SYMMETRIC: fn(Scheme) -> bool = |s| matches!(s, Scheme::SymmetryPreserving);
const CONSISTENT: fn(Scheme) -> bool = |s| matches!(s, Scheme::Consistent);

sites! {
    convect: convect, "momentum and prediction", CELLS, SYMMETRIC;
    nodal: gspmv, "nodal velocity", NODES, CONSISTENT;
    power: energy, "power of the pressure", CELLS, CONSISTENT;
    momentum_flux: momentum_flux, "momentum flux", FACES, CONSISTENT;
    gather: gspmv, "momentum balance", CELLS, CONSISTENT;
    predict: predict, "prediction", CELLS, CONSISTENT;
    old_flux: face_flux, "flux of the old velocity", FACES, CONSISTENT;
    flux: face_flux, "flux of the prediction", FACES, CONSISTENT;
    blend: blend, "old flux faded in", FACES, CONSISTENT;
    predicted_flux: predicted_flux, "flux of the prediction", FACES, SYMMETRIC;
    lean: spmv_add, "non-orthogonal pressure flux", FACES, CONSISTENT;
    divergence: spmv_times, "divergence", CELLS, BOTH;
    close: spmv_add, "flux correction", FACES, BOTH;
    nodal_pressure: spmv_add, "nodal pressure", NODES, CONSISTENT;
    correct: gradient_correct, "velocity correction", CELLS, BOTH;
    outlet: axpy, "outlet pressure", FACES, CONSISTENT;
    speed: kinetic, "kinetic energy", CELLS, BOTH;
    monitor: monitor, "courant and continuity", CELLS, BOTH;
}
