//! Boundary velocities and what they add to fluxes, nodes and momentum. Their number is small:
//! they are kept on the host, and buffers change only where a boundary is not constant.

use std::rc::Rc;

use super::Field;
use super::fields::{Fields, field, field_from, round, rounded};
use super::lines::Places;
use crate::Result;
use crate::cluster::Comm;
use crate::flow::boundary::{BoundaryFaces, FaceKind, Vectors};
use crate::flow::operators::{Operators, Scheme};
use crate::flow::plain::Settings;
use crate::kernel::Real;
use crate::node::Buffer;
use crate::sparse::{Csr, Repeated};
use crate::split::Engine;

pub(super) struct Boundary<T: Real> {
    faces: BoundaryFaces,
    /// Where each is stored.
    at: Vec<usize>,
    by_faces: bool,
    nodal: Csr,
    given: Vectors,
    u_b: Vectors,
    /// Some face's share of the momentum changes from step to step.
    live: bool,
    fresh: bool,
    /// Cells at the boundary, where `momentum` differs from the force.
    rim: Vec<u32>,
    outlet_base: Vec<f64>,
    /// `H_b u_b`: per node.
    pub nodes: Field<T>,
    /// Fluxes through Dirichlet faces: per face.
    pub flux: Repeated<T>,
    /// Per cell, m/s2, with the force (symmetry-preserving); per face, m4/s2 (consistent).
    pub momentum: [Repeated<T>; 3],
    /// The force per cell (consistent scheme).
    pub force: Field<T>,
    /// `S/d_n p_b` at outlets: per face, m3/s2; empty where no outlet has a pressure.
    pub pressure_flux: Option<Buffer<T>>,
    /// Of all ranks' outlets.
    mean_pressure: f64,
    comm: Rc<Comm>,
}

/// Whether all values are the same bits: bytes are compared many at once, numbers one by one, which
/// takes longer than the operators of a device before them.
fn same(a: &Vectors, b: &Vectors) -> bool {
    let bytes = bytemuck::cast_slice::<f64, u8>;
    a.iter().zip(b).all(|(a, b)| bytes(a) == bytes(b))
}

impl<T: Real> Boundary<T> {
    pub fn new(
        engine: &Engine<T>,
        ops: &Operators,
        settings: Settings,
        given: &Vectors,
        places: &Places,
    ) -> Result<Self> {
        let (node, comm) = (&engine.node, engine.comm());
        let faces = ops.boundary.clone();
        let live = (0..faces.len()).any(|b| match faces.kind[b] {
            FaceKind::Dirichlet => false,
            FaceKind::Slip => faces.diffusion[b] != 0.0,
            FaceKind::Outlet(_) => true,
        });
        let mut rim = faces.owner.clone();
        rim.sort_unstable();
        rim.dedup();
        let by_faces = ops.scheme == Scheme::Consistent;
        let force = std::array::from_fn(|k| vec![settings.force[k]; ops.cells]);
        let force = field_from(node, &force)?;
        let has_outlet = ops.pressure_flux_base.iter().any(|&x| x != 0.0);
        let at: Vec<usize> = (0..faces.len())
            .map(|b| places.of(ops.interior_faces + b))
            .collect();
        let mut rim_faces = at.clone();
        rim_faces.sort_unstable();
        let momentum = |k: usize| match by_faces {
            true => Repeated::with_own(node, &vec![0.0; ops.faces], rim_faces.iter().copied()),
            false => {
                let force = vec![settings.force[k]; ops.cells];
                Repeated::with_own(node, &force, rim.iter().map(|&c| c as usize))
            }
        };
        let momentum = [momentum(0)?, momentum(1)?, momentum(2)?];
        let mut pressure = faces.pressure_and_area();
        comm.combine(&mut pressure, &mut [])?;
        let [sum, area] = pressure;
        let mean_pressure = if area > 0.0 { sum / area } else { 0.0 };
        let mut out = Self {
            at,
            by_faces,
            nodal: ops.nodal_velocity_boundary.clone(),
            given: std::array::from_fn(|_| vec![f64::NAN; given[0].len()]),
            u_b: given.each_ref().map(|g| g[..faces.len()].to_vec()),
            live,
            fresh: true,
            rim,
            outlet_base: ops.pressure_flux_base.clone(),
            nodes: field(node, ops.nodes)?,
            flux: Repeated::with_own(node, &vec![0.0; ops.faces], rim_faces.iter().copied())?,
            momentum,
            force,
            pressure_flux: None,
            mean_pressure,
            comm: Rc::clone(comm),
            faces,
        };
        if has_outlet {
            out.pressure_flux = Some(rounded(node, &out.outlet_base)?);
        }
        out.give(Some(given))?;
        Ok(out)
    }

    /// See [`BoundaryFaces::mean_pressure`].
    pub fn mean_pressure(&self) -> f64 {
        self.mean_pressure
    }

    /// Takes the velocities given at Dirichlet faces for the fluxes and nodes that follow; none where
    /// they are what they were.
    pub fn give(&mut self, given: Option<&Vectors>) -> Result<()> {
        let other = given.is_some_and(|given| !same(&self.given, given));
        // All ranks go on together: the balance of the fluxes is theirs together.
        let changed = self.comm.largest(f64::from(u8::from(other)))?;
        if changed == 0.0 {
            return Ok(());
        }
        if let Some(given) = given {
            self.given.clone_from(given);
        }
        let given = &self.given;
        self.fresh = true;
        for k in 0..3 {
            let values = self.nodal.apply(&given[k]);
            round(&values, self.nodes[k].write()?);
        }
        let (mut flux, mut sums) = self.faces.raw_flux(given);
        self.comm.combine(&mut sums, &mut [])?;
        self.faces.balance(&mut flux, sums[0], sums[1]);
        let values = flux.into_iter().map(T::of);
        self.flux.set(self.at.iter().copied().zip(values))
    }

    /// The flux out through each face.
    fn outward(&self, f: &Fields<T>) -> Result<Vec<T>> {
        let phi = f.phi.read()?;
        Ok(self.at.iter().map(|&place| phi[place]).collect())
    }

    /// Sets the velocities of all boundary faces and their share of the next step's momentum.
    pub fn update(&mut self, f: &Fields<T>, settings: Settings) -> Result<()> {
        if !self.live && !self.fresh {
            return Ok(());
        }
        self.fresh = false;
        let phi = self.outward(f)?;
        let [a, b, c] = &f.u;
        let u = [a.read()?, b.read()?, c.read()?];
        let faces = &self.faces;
        for (i, &phi) in phi.iter().enumerate() {
            let o = faces.owner[i] as usize;
            let given = std::array::from_fn(|k| self.given[k][i]);
            let inside = std::array::from_fn(|k| u[k][o].f64());
            let value = faces.velocity(i, given, inside, phi.f64());
            for k in 0..3 {
                self.u_b[k][i] = value[k];
            }
        }
        for k in 0..3 {
            let share =
                |i: usize| (settings.nu * faces.diffusion[i] - phi[i].f64()) * self.u_b[k][i];
            let out = &mut self.momentum[k];
            if self.by_faces {
                out.set((0..faces.len()).map(|i| (self.at[i], T::of(share(i)))))?;
            } else {
                out.set(self.rim.iter().map(|&c| {
                    let row = faces.scatter.row(c as usize);
                    let inflow: f64 = row.map(|(i, v)| v * share(i)).sum();
                    (c as usize, T::of(settings.force[k] + inflow))
                }))?;
            }
        }
        Ok(())
    }

    /// Power of the pressure at in- and outflow of all ranks, from cell pressures alone.
    pub fn pressure_power(&self, f: &Fields<T>, p: &Buffer<T>, engine: &Engine<T>) -> Result<f64> {
        engine.comm().sum(self.own_pressure_power(f, p)?)
    }

    fn own_pressure_power(&self, f: &Fields<T>, p: &Buffer<T>) -> Result<f64> {
        if self
            .faces
            .kind
            .iter()
            .all(|k| !matches!(k, FaceKind::Outlet(_)))
            && self.given.iter().flatten().all(|&u| u == 0.0)
        {
            return Ok(0.0);
        }
        let phi = self.outward(f)?;
        if phi.iter().all(|&x| x == T::ZERO) {
            return Ok(0.0);
        }
        let p = p.read()?;
        let p_hat = f.p_hat.read()?;
        let beyond = |i| {
            let nodes = self.faces.pressure_nodes.row(i);
            nodes.map(|(j, v)| v * p_hat[j].f64()).sum::<f64>()
        };
        Ok((0..self.faces.len())
            .map(|i| {
                let p_b = match self.faces.kind[i] {
                    FaceKind::Outlet(p) => p,
                    _ => p[self.faces.owner[i] as usize].f64() + beyond(i),
                };
                phi[i].f64() * p_b
            })
            .sum())
    }

    pub fn copied_bytes(&self) -> u64 {
        let [a, b, c] = &self.momentum;
        let repeated = [a, b, c, &self.flux].map(Repeated::copied_bytes);
        let vectors = [&self.nodes, &self.force];
        let vectors: u64 = vectors
            .into_iter()
            .flatten()
            .map(Buffer::copied_bytes)
            .sum();
        vectors
            + repeated.iter().sum::<u64>()
            + self.pressure_flux.as_ref().map_or(0, Buffer::copied_bytes)
    }
}
