//! What a step reads and writes.

use super::Field;
use crate::Result;
use crate::flow::boundary::Vectors;
use crate::flow::operators::Operators;
use crate::node::{Buffer, Node};

/// Buffers between and within steps; names as in [`plain`](crate::flow::plain).
pub(super) struct Fields {
    /// Velocity in cells, m/s.
    pub u: Field,
    /// `u*`: predicted without the pressure.
    pub star: Field,
    /// Predicted with the old pressure.
    pub v: Field,
    /// Convection, diffusion and force, m/s2; now and at the previous step.
    pub r: Field,
    pub r_old: Field,
    /// Pressure gradient in cells, m/s2; now and at the previous step.
    pub g: Field,
    /// Nodal velocities: of `u`, and of `v`.
    pub uhat: Field,
    pub uhat_e: Field,
    /// Momentum flux through faces, m4/s2.
    pub flux: Field,
    /// Pressure in cells and at nodes, m2/s2.
    pub p: Buffer<f64>,
    pub p_hat: Buffer<f64>,
    /// Flux through faces, m3/s; its forms on the way to the next one.
    pub phi: Buffer<f64>,
    pub psi: Buffer<f64>,
    pub psi_old: Buffer<f64>,
    /// Right-hand side of the pressure equation.
    pub b: Buffer<f64>,
    /// Zeros in cells.
    pub zero: Buffer<f64>,
    /// Constant parts, from the pressures given at outlets.
    pub g_base: Field,
    pub p_hat_base: Buffer<f64>,
    /// Volume, one over volume, one over face length.
    pub volume: Buffer<f64>,
    pub per_volume: Buffer<f64>,
    pub per_length: Buffer<f64>,
}

pub(super) fn field(node: &Node, n: usize) -> Result<Field> {
    Ok([node.buffer(n)?, node.buffer(n)?, node.buffer(n)?])
}

/// A field whose halo other ranks fill.
fn field_with_halo(node: &Node, n: usize, halo: usize) -> Result<Field> {
    let one = || node.buffer_with_halo(n, halo);
    Ok([one()?, one()?, one()?])
}

pub(super) fn field_from(node: &Node, v: &Vectors) -> Result<Field> {
    let [a, b, c] = v;
    Ok([
        node.buffer_from(a)?,
        node.buffer_from(b)?,
        node.buffer_from(c)?,
    ])
}

impl Fields {
    pub fn new(node: &Node, ops: &Operators, u: &Vectors) -> Result<Self> {
        let (nc, nf, nn) = (ops.cells, ops.faces, ops.nodes);
        let inverse = |v: &[f64]| v.iter().map(|x| 1.0 / x).collect::<Vec<_>>();
        // Only the consistent scheme has fluxes of momentum.
        let fluxes = if nn > 0 { nf } else { 0 };
        let halo = ops.halo.len();
        let mut start = field_with_halo(node, nc, halo)?;
        for (field, u) in start.iter_mut().zip(u) {
            field.write()?[..nc].copy_from_slice(&u[..nc]);
        }
        Ok(Self {
            u: start,
            star: field_with_halo(node, nc, halo)?,
            v: field_with_halo(node, nc, halo)?,
            r: field(node, nc)?,
            r_old: field(node, nc)?,
            g: field_from(node, &ops.gradient_base)?,
            uhat: field(node, nn)?,
            uhat_e: field(node, nn)?,
            flux: field(node, fluxes)?,
            p: node.buffer_with_halo(nc, halo)?,
            p_hat: node.buffer_from(&ops.nodal_pressure_base)?,
            phi: node.buffer(nf)?,
            psi: node.buffer(nf)?,
            psi_old: node.buffer(nf)?,
            b: node.buffer(nc)?,
            zero: node.buffer(nc)?,
            g_base: field_from(node, &ops.gradient_base)?,
            p_hat_base: node.buffer_from(&ops.nodal_pressure_base)?,
            volume: node.buffer_from(&ops.volume)?,
            per_volume: node.buffer_from(&inverse(&ops.volume))?,
            per_length: node.buffer_from(&inverse(&ops.face_length))?,
        })
    }

    /// Copies of velocity and flux.
    pub fn save(&self) -> Result<(Vectors, Vec<f64>)> {
        let [a, b, c] = &self.u;
        let u = [a.read()?.to_vec(), b.read()?.to_vec(), c.read()?.to_vec()];
        Ok((u, self.phi.read()?.to_vec()))
    }

    /// Puts copies back.
    pub fn restore(&mut self, u: &Vectors, phi: &[f64]) -> Result<()> {
        for (field, saved) in self.u.iter_mut().zip(u) {
            field.write()?[..saved.len()].copy_from_slice(saved);
        }
        self.phi.write()?[..phi.len()].copy_from_slice(phi);
        Ok(())
    }

    pub fn copied_bytes(&self) -> u64 {
        let vectors = [
            &self.u,
            &self.star,
            &self.v,
            &self.r,
            &self.r_old,
            &self.g,
            &self.uhat,
            &self.uhat_e,
            &self.flux,
            &self.g_base,
        ];
        let scalars = [
            &self.p,
            &self.p_hat,
            &self.phi,
            &self.psi,
            &self.psi_old,
            &self.b,
            &self.zero,
            &self.p_hat_base,
            &self.volume,
            &self.per_volume,
            &self.per_length,
        ];
        vectors
            .into_iter()
            .flatten()
            .chain(scalars)
            .map(Buffer::copied_bytes)
            .sum()
    }
}
