//! The operators as sliced-ELLPACK matrices in unified memory.

use super::lines::Places;
use crate::Result;
use crate::flow::operators::{Momentum, Operators, Planes, Scheme};
use crate::kernel::Real;
use crate::node::Node;
use crate::sparse::{ByElement, Csr, Sell};

/// Which plane of `predicted_flux` is the pressure's.
const PRESSURE: usize = 3;

/// All matrices of a step; empty ones (no nodes) cost their slice pointers only.
pub(super) struct Matrices<T: Real> {
    pub divergence: Sell<T>,
    pub pressure_flux: Sell<T>,
    pub pressure_flux_nodes: Sell<T>,
    pub flux_cells: Sell<T>,
    pub flux_nodes: Sell<T>,
    /// Symmetry-preserving, where the two before are empty: `flux_cells`, and beside it
    /// `pressure_flux`, which is one of its planes then.
    pub predicted_flux: Sell<T>,
    pub gradient_cells: Sell<T>,
    pub gradient_nodes: Sell<T>,
    pub nodal_velocity: Sell<T>,
    pub nodal_pressure: Sell<T>,
    pub momentum: MomentumMatrices<T>,
}

pub(super) enum MomentumMatrices<T: Real> {
    /// Of `K = nu D + E_C phi`, whose values are computed as it is applied: its pattern, E_C with a row for
    /// each element of that, and the values of `nu D`.
    Cells(ByElement<T>),
    /// Face fluxes, and `Omega^-1 M`.
    Faces {
        cells: Sell<T>,
        nodes: Sell<T>,
        gather: Sell<T>,
    },
}

fn planes<T: Real, const P: usize>(node: &Node, p: &Planes<P>) -> Result<Sell<T>> {
    let planes = p.val.each_ref().map(|v| &v[..]);
    Ok(Sell::build(node, p.rows, p.cols, &p.row_ptr, &p.col, &planes, true)?.0)
}

impl<T: Real> Matrices<T> {
    /// Of faces that are stored at these `places`.
    pub fn new(node: &Node, ops: &Operators, nu: f64, places: &Places) -> Result<Self> {
        let sell = |a: &Csr| Sell::fixed(node, a);
        let momentum = match &ops.momentum {
            Momentum::Cells {
                diffusion,
                convection,
            } => {
                let mut viscous = diffusion.clone();
                viscous.val.iter_mut().for_each(|d| *d *= nu);
                let place = |f| places.of(f) as u32;
                MomentumMatrices::Cells(Sell::by_element(node, &viscous, convection, &place)?)
            }
            Momentum::Faces { cells, nodes } => {
                let per_volume: Vec<f64> = ops.volume.iter().map(|v| 1.0 / v).collect();
                MomentumMatrices::Faces {
                    cells: planes(node, cells)?,
                    nodes: planes(node, nodes)?,
                    gather: sell(&ops.divergence.clone().scale_rows(&per_volume))?,
                }
            }
        };
        let none = Planes::zero(ops.faces, 0);
        let (flux_cells, predicted_flux, pressure_flux) = match ops.scheme {
            Scheme::SymmetryPreserving => {
                let faces = places.faces();
                let at = |i: usize| faces[i] as usize;
                let all = planes(node, &ops.flux_cells.beside(&ops.pressure_flux, at))?;
                let pressure = all.alone(PRESSURE);
                (planes(node, &none)?, all, pressure)
            }
            Scheme::Consistent => {
                let all = planes(node, &none.beside(&Csr::zero(ops.faces, 0), |i| i))?;
                let pressure = sell(&ops.pressure_flux)?;
                (planes(node, &ops.flux_cells)?, all, pressure)
            }
        };
        Ok(Self {
            divergence: sell(&places.columns(&ops.divergence))?,
            pressure_flux,
            pressure_flux_nodes: sell(&ops.pressure_flux_nodes)?,
            flux_cells,
            predicted_flux,
            flux_nodes: planes(node, &ops.flux_nodes)?,
            gradient_cells: planes(node, &ops.gradient_cells)?,
            gradient_nodes: planes(node, &ops.gradient_nodes)?,
            nodal_velocity: sell(&ops.nodal_velocity)?,
            nodal_pressure: sell(&ops.nodal_pressure)?,
            momentum,
        })
    }
}
