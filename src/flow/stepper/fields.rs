//! What a step reads and writes.

use super::Field;
use crate::Result;
use crate::flow::boundary::Vectors;
use crate::flow::operators::Operators;
use crate::kernel::Real;
use crate::node::{Buffer, Node};
use crate::sparse::Repeated;

/// Copies of velocity and flux.
pub(super) type Saved<T> = ([Vec<T>; 3], Vec<T>);

/// Buffers between and within steps; names as in [`plain`](crate::flow::plain).
pub(super) struct Fields<T: Real> {
    /// Velocity in cells, m/s.
    pub u: Field<T>,
    /// `u*`: predicted without the pressure.
    pub star: Field<T>,
    /// Predicted with the old pressure.
    pub v: Field<T>,
    /// Convection, diffusion and force, m/s2; now and at the previous step.
    pub r: Field<T>,
    pub r_old: Field<T>,
    /// Pressure gradient in cells, m/s2; now and at the previous step.
    pub g: Field<T>,
    /// Nodal velocities: of `u`, and of `v`.
    pub uhat: Field<T>,
    pub uhat_e: Field<T>,
    /// Momentum flux through faces, m4/s2.
    pub flux: Field<T>,
    /// Pressure at nodes, m2/s2.
    pub p_hat: Buffer<T>,
    /// Flux through faces, m3/s; its forms on the way to the next one.
    pub phi: Buffer<T>,
    pub psi: Buffer<T>,
    pub psi_old: Buffer<T>,
    /// Constant parts, from the pressures given at outlets.
    pub g_base: [Repeated<T>; 3],
    pub p_hat_base: Buffer<T>,
    /// Volume, one over volume, one over face length.
    pub volume: Repeated<T>,
    pub per_volume: Repeated<T>,
    pub per_length: Buffer<T>,
}

pub(super) fn field<T: Real>(node: &Node, n: usize) -> Result<Field<T>> {
    Ok([node.buffer(n)?, node.buffer(n)?, node.buffer(n)?])
}

/// A field whose halo other ranks fill.
fn field_with_halo<T: Real>(node: &Node, n: usize, halo: usize) -> Result<Field<T>> {
    let one = || node.buffer_with_halo(n, halo);
    Ok([one()?, one()?, one()?])
}

pub(super) fn field_from<T: Real>(node: &Node, v: &Vectors) -> Result<Field<T>> {
    let [a, b, c] = v;
    Ok([rounded(node, a)?, rounded(node, b)?, rounded(node, c)?])
}

/// A buffer that starts as `values`, rounded.
pub(super) fn rounded<T: Real>(node: &Node, values: &[f64]) -> Result<Buffer<T>> {
    let mut b = node.buffer(values.len())?;
    round(values, b.write()?);
    Ok(b)
}

/// `to[i] <- from[i]`, rounded.
pub(super) fn round<T: Real>(from: &[f64], to: &mut [T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = T::of(*from);
    }
}

impl<T: Real> Fields<T> {
    pub fn new(node: &Node, ops: &Operators, u: &Vectors) -> Result<Self> {
        let (nc, nf, nn) = (ops.cells, ops.faces, ops.nodes);
        let inverse = |v: &[f64]| v.iter().map(|x| 1.0 / x).collect::<Vec<_>>();
        // Only the consistent scheme has fluxes of momentum.
        let fluxes = if nn > 0 { nf } else { 0 };
        let halo = ops.halo.len();
        let repeated = |k: usize| Repeated::new(node, &ops.gradient_base[k]);
        let mut start = field_with_halo(node, nc, halo)?;
        for (field, u) in start.iter_mut().zip(u) {
            round(&u[..nc], field.write()?);
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
            p_hat: rounded(node, &ops.nodal_pressure_base)?,
            phi: node.buffer(nf)?,
            psi: node.buffer(nf)?,
            psi_old: node.buffer(nf)?,
            g_base: [repeated(0)?, repeated(1)?, repeated(2)?],
            p_hat_base: rounded(node, &ops.nodal_pressure_base)?,
            volume: Repeated::new(node, &ops.volume)?,
            per_volume: Repeated::new(node, &inverse(&ops.volume))?,
            per_length: rounded(node, &inverse(&ops.face_length))?,
        })
    }

    /// Copies of velocity and flux.
    pub fn save(&self) -> Result<Saved<T>> {
        let [a, b, c] = &self.u;
        let u = [a.read()?.to_vec(), b.read()?.to_vec(), c.read()?.to_vec()];
        Ok((u, self.phi.read()?.to_vec()))
    }

    /// Puts copies back.
    pub fn restore(&mut self, (u, phi): &Saved<T>) -> Result<()> {
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
        ];
        let scalars = [
            &self.p_hat,
            &self.phi,
            &self.psi,
            &self.psi_old,
            &self.p_hat_base,
            &self.per_length,
        ];
        let [a, b, c] = &self.g_base;
        let constant = [a, b, c, &self.volume, &self.per_volume].into_iter();
        vectors
            .into_iter()
            .flatten()
            .chain(scalars)
            .map(Buffer::copied_bytes)
            .chain(constant.map(Repeated::copied_bytes))
            .sum()
    }
}
