//! What output needs of a mesh.

use super::Mesh;

impl Mesh {
    /// The first `cells` cells with their points and without faces, in no more memory than they
    /// need. Points must be numbered by first use.
    pub fn into_front(self, cells: usize) -> Self {
        let corners = self.cell_ptr[cells];
        let points = self.cell_points[..corners].iter().max();
        let points = points.map_or(0, |&p| p as usize + 1);
        Self {
            points: front(self.points, points),
            kinds: front(self.kinds, cells),
            cell_ptr: front(self.cell_ptr, cells + 1),
            cell_points: front(self.cell_points, corners),
            source: self.source,
            ..Self::default()
        }
    }
}

fn front<T>(mut values: Vec<T>, count: usize) -> Vec<T> {
    values.truncate(count);
    values.shrink_to_fit();
    values
}
