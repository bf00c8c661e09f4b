//! Convection and diffusion in the form of each scheme.

use crate::flow::boundary::FaceKind;
use crate::flow::operators::Momentum;
use crate::flow::operators::correction::Vertices;
use crate::flow::operators::faces::Faces;
use crate::sparse::{Csr, Planes};

/// `F_0` of a velocity: faces x cells, with `-diffusion_b` at the owners of boundary faces.
fn viscous_flux(faces: &Faces, diffusion: &[f64]) -> Csr {
    faces.face_matrix(
        |f| [-faces.conductance(f), faces.conductance(f)],
        |f| Some(-diffusion[f - faces.interior()]),
    )
}

/// Values(K) as linear functions of nu and of the fluxes.
pub(super) fn by_cells(faces: &Faces, divergence: &Csr, diffusion: &[f64]) -> Momentum {
    let per_volume: Vec<f64> = faces.volume.iter().map(|v| 1.0 / v).collect();
    let viscous = viscous_flux(faces, diffusion);
    let diffusion = divergence.product(&viscous).scale_rows(&per_volume);
    let mut row_of = vec![0u32; diffusion.entries()];
    for i in 0..diffusion.rows {
        row_of[diffusion.row_ptr[i]..diffusion.row_ptr[i + 1]].fill(i as u32);
    }
    let convection = Csr::from_rows(diffusion.entries(), faces.mesh.faces(), |e, row| {
        let (i, j) = (row_of[e] as usize, diffusion.col[e] as usize);
        for (f, sign) in divergence.row(i) {
            let Some([owner, neighbour]) = faces.pair(f) else {
                continue;
            };
            let other = if owner == i { neighbour } else { owner };
            if j == i || j == other {
                row.push((f as u32, -0.5 * sign * per_volume[i]));
            }
        }
    });
    Momentum::Cells {
        diffusion,
        convection,
    }
}

/// Face fluxes from cells and nodes.
pub(super) fn by_faces(faces: &Faces, vertices: &Vertices, diffusion: &[f64]) -> Momentum {
    let (mesh, interior) = (faces.mesh, faces.interior());
    let cells = Planes::from_rows(mesh.faces(), mesh.cells(), |f, row| {
        let s = faces.conductance(f);
        match faces.pair(f) {
            Some([o, n]) => {
                row.push((o as u32, [0.5, -1.0, -s]));
                row.push((n as u32, [0.5, 1.0, s]));
            }
            None => row.push((mesh.owner[f], [0.0, 0.0, -diffusion[f - interior]])),
        }
    });
    let nodes = Planes::from_rows(mesh.faces(), vertices.nodes, |f, row| {
        let mut part = Vec::new();
        if let Some([o, n]) = faces.pair(f) {
            vertices.push_delta(f, [0.5, 0.5], &mut part);
            row.extend(part.drain(..).map(|(v, a)| (v, [a, 0.0, 0.0])));
            for (cell, sign) in [(o, 1.0), (n, -1.0)] {
                let mean = vertices.centroid.row(cell);
                row.extend(mean.map(|(v, a)| (v as u32, [0.0, sign * a, 0.0])));
            }
        } else if faces.boundary(f) != Some(FaceKind::Dirichlet) {
            return;
        }
        vertices.push_tangential(f, &mut part);
        row.extend(part.into_iter().map(|(v, a)| (v, [0.0, 0.0, a])));
    });
    Momentum::Faces { cells, nodes }
}

/// Gershgorin's bound of `Omega^-1 D` for compact diffusion, per cell.
pub(super) fn viscous_rate(faces: &Faces, diffusion: &[f64]) -> Vec<f64> {
    let mut rate = vec![0.0; faces.mesh.cells()];
    for f in 0..faces.mesh.faces() {
        match faces.pair(f) {
            Some(pair) => pair
                .iter()
                .for_each(|&c| rate[c] += 2.0 * faces.conductance(f)),
            None => rate[faces.mesh.owner[f] as usize] += diffusion[f - faces.interior()],
        }
    }
    for (rate, volume) in rate.iter_mut().zip(&faces.volume) {
        *rate /= volume;
    }
    rate
}
