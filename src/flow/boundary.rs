//! What each boundary face does to the flow.

use crate::mesh::geometry::{dot, scale, sub};
use crate::sparse::Csr;

/// A vector field: one array per component.
pub type Vectors = [Vec<f64>; 3];

/// Kind of a boundary face; periodic pairs are interior faces of the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaceKind {
    /// The velocity at the face is given (wall, moving wall, inlet); the pressure has no normal
    /// gradient.
    Dirichlet,
    /// No flux and no shear: a slip wall or a symmetry plane.
    Slip,
    /// The pressure at the face is given, in m2/s2 (kinematic); the velocity has no normal
    /// gradient.
    Outlet(f64),
}

/// Boundary faces, in the order of the mesh.
///
/// Every step gives each a velocity `u_b`: given at Dirichlet faces; the owner's without its
/// normal part at slip faces; the owner's at outlets (see [`BoundaryFaces::velocity`]).
#[derive(Clone, Debug, Default)]
pub struct BoundaryFaces {
    /// Kind of each.
    pub kind: Vec<FaceKind>,
    /// Cell inside.
    pub owner: Vec<u32>,
    /// Unit normal out of the domain.
    pub normal: Vec<[f64; 3]>,
    /// Area, m2.
    pub area: Vec<f64>,
    /// `S/d_n` where viscous flux `nu S/d_n (u_b - u_c)` acts, else 0 (outlets; slip faces of a
    /// layer one cell thick), m.
    pub diffusion: Vec<f64>,
    /// Adds a boundary flux to its owner as `1/V`: cells x boundary faces, 1/m3.
    pub scatter: Csr,
    /// Pressure at the face is `p_owner + (this H_0 p)`, but at outlets; boundary faces x
    /// nodes. Needed for the power of the pressure at in- and outflow alone.
    pub pressure_nodes: Csr,
    /// Another rank has an outlet.
    pub outlet_elsewhere: bool,
}

impl BoundaryFaces {
    /// Number of boundary faces.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether the domain is closed by periodic pairs alone.
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Whether no pressure is given anywhere: it is then defined up to a constant.
    pub fn is_singular(&self) -> bool {
        let outlet = |kind: &FaceKind| matches!(kind, FaceKind::Outlet(_));
        !self.outlet_elsewhere && !self.kind.iter().any(outlet)
    }

    /// Mean of the pressures given at outlets, weighted by area; zero without outlets. A flow
    /// starts from it: from another one, the first step would be a blow at the outlet.
    pub fn mean_pressure(&self) -> f64 {
        let [sum, area] = self.pressure_and_area();
        if area > 0.0 { sum / area } else { 0.0 }
    }

    /// Integral of the pressures given at outlets, and the outlets' area.
    pub fn pressure_and_area(&self) -> [f64; 2] {
        let outlets = self
            .kind
            .iter()
            .zip(&self.area)
            .filter_map(|(kind, area)| match kind {
                FaceKind::Outlet(p) => Some((p * area, *area)),
                _ => None,
            });
        outlets.fold([0.0; 2], |[s, a], (p, b)| [s + p, a + b])
    }

    /// Velocity at face `b`, from the given velocity there, its owner's, and the flux out.
    ///
    /// Flow that comes back through an outlet brings half of the owner's velocity: the energy
    /// that it carries in is then what the owner's convection takes from it, and the outlet
    /// cannot feed a growing disturbance.
    pub fn velocity(&self, b: usize, given: [f64; 3], owner: [f64; 3], flux: f64) -> [f64; 3] {
        match self.kind[b] {
            FaceKind::Dirichlet => given,
            FaceKind::Slip => sub(owner, scale(self.normal[b], dot(owner, self.normal[b]))),
            FaceKind::Outlet(_) => scale(owner, if flux < 0.0 { 0.5 } else { 1.0 }),
        }
    }

    /// `u_b` of every face from the velocities given at Dirichlet faces, those of the cells,
    /// and the fluxes out through the boundary faces.
    pub fn update(&self, given: &Vectors, cells: &Vectors, flux: &[f64], u_b: &mut Vectors) {
        for (b, &flux) in flux.iter().enumerate() {
            let owner = self.owner[b] as usize;
            let given = [given[0][b], given[1][b], given[2][b]];
            let inside = [cells[0][owner], cells[1][owner], cells[2][owner]];
            let value = self.velocity(b, given, inside, flux);
            for k in 0..3 {
                u_b[k][b] = value[k];
            }
        }
    }

    /// Fluxes `S n . u_b` through Dirichlet faces, zero through others.
    ///
    /// Without an outlet the net flux must vanish. What sampling the velocity at face centres
    /// leaves of it is spread over the faces that carry flux, in proportion to it.
    pub fn given_flux(&self, given: &Vectors) -> Vec<f64> {
        let (mut flux, [net, gross]) = self.raw_flux(given);
        self.balance(&mut flux, net, gross);
        flux
    }

    /// Fluxes as sampled, their sum, and the sum of their sizes.
    pub fn raw_flux(&self, given: &Vectors) -> (Vec<f64>, [f64; 2]) {
        let flux: Vec<f64> = (0..self.len())
            .map(|b| match self.kind[b] {
                FaceKind::Dirichlet => {
                    let u = [given[0][b], given[1][b], given[2][b]];
                    self.area[b] * dot(self.normal[b], u)
                }
                _ => 0.0,
            })
            .collect();
        let gross = flux.iter().map(|phi| phi.abs()).sum();
        let net = flux.iter().sum();
        (flux, [net, gross])
    }

    /// Takes the net flux out of `flux` where there is no outlet; `net` and `gross` are over all
    /// ranks.
    pub fn balance(&self, flux: &mut [f64], net: f64, gross: f64) {
        if self.is_singular() && gross > 0.0 {
            for phi in flux {
                *phi -= phi.abs() * (net / gross);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Faces of area 1, 2, ... with normals along x, y, z in turn, all of cell 0.
    fn faces(kind: &[FaceKind]) -> BoundaryFaces {
        let axis = |b: usize| std::array::from_fn(|k| f64::from(u8::from(k == b % 3)));
        BoundaryFaces {
            kind: kind.to_vec(),
            owner: vec![0; kind.len()],
            normal: (0..kind.len()).map(axis).collect(),
            area: (0..kind.len()).map(|b| 1.0 + b as f64).collect(),
            ..BoundaryFaces::default()
        }
    }

    #[test]
    fn each_kind_has_its_velocity() {
        use FaceKind::{Dirichlet, Outlet, Slip};
        let faces = faces(&[Dirichlet, Slip, Outlet(1.0), Outlet(0.0)]);
        assert!(!faces.is_empty() && !faces.is_singular());
        assert_eq!(faces.mean_pressure(), 3.0 / 7.0);
        let given = [vec![7.0; 4], vec![8.0; 4], vec![9.0; 4]];
        let cells = [vec![1.0], vec![2.0], vec![3.0]];
        let mut u_b = given.clone();
        faces.update(&given, &cells, &[0.5, 0.0, 0.5, -0.5], &mut u_b);
        assert_eq!(u_b[0], [7.0, 1.0, 1.0, 0.5]);
        assert_eq!(u_b[1], [8.0, 0.0, 2.0, 1.0]);
        assert_eq!(u_b[2], [9.0, 3.0, 3.0, 1.5]);
    }

    #[test]
    fn given_fluxes_balance_where_nothing_else_can() {
        use FaceKind::{Dirichlet, Outlet, Slip};
        let given = [vec![1.0; 4], vec![2.0; 4], vec![-1.0; 4]];
        let flux = faces(&[Dirichlet, Slip, Dirichlet, Outlet(0.0)]).given_flux(&given);
        assert_eq!(flux, [1.0, 0.0, -3.0, 0.0]);
        let flux = faces(&[Dirichlet, Slip, Dirichlet, Slip]).given_flux(&given);
        assert_eq!(flux, [1.5, 0.0, -1.5, 0.0]);
        assert_eq!(
            faces(&[Dirichlet; 4]).given_flux(&[vec![0.0; 4], vec![0.0; 4], vec![0.0; 4]]),
            [0.0; 4]
        );
    }
}
