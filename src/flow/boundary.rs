//! What each boundary face does to the flow.

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
